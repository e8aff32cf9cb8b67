#pragma once

#include <vector>

#include "scan/cpp/code_unit.h"
#include "scan/cpp/cpp_file.h"
#include "scan/cpp/device_patterns.h"
#include "scan/cpp/tree/body_trees.h"

namespace fathom::cpp {

// The units of one file: its functions, aliases and class bodies.
struct FileUnits {
  std::vector<CodeUnit> units;
  // For each unit what it does if device code uses it: a function without __device__ may be
  // constexpr, or marked by a macro.
  std::vector<std::vector<PatternHit>> hits;
  // For each unit that is a host function what it does on the host; empty for others.
  std::vector<std::vector<PatternHit>> host_hits;
};
FileUnits find_units(BodyTrees& trees, const Definitions& definitions);

}  // namespace fathom::cpp
