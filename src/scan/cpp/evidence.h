#pragma once

#include <string>
#include <vector>

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/device_patterns.h"
#include "scan/cpp/reach.h"
#include "scan/cpp/tree/body_trees.h"
#include "scan/facts/code_facts.h"

namespace fathom::cpp {

// The units of one file: its functions, aliases and class bodies. `index` of a unit is the
// function's, alias's or class body's.
struct FileUnits {
  std::vector<CodeUnit> units;
  // For each unit what it does if device code uses it: a function without __device__ may be
  // constexpr, or marked by a macro.
  std::vector<std::vector<PatternHit>> hits;
  // For each unit that is a host function what it does on the host; empty for others.
  std::vector<std::vector<PatternHit>> host_hits;
};
FileUnits find_units(BodyTrees& trees, const Definitions& definitions, uint32_t file);

// What a kernel's code does, from all that it reaches: the first line of each thing and detail,
// the kernel's own before those of what it calls; of several the surest, then one without a
// condition. `hits` are by unit of the graph, file numbers those of the graph.
std::vector<CodeEvidence> collect_evidence(const CallGraph& graph, const Reach& reach,
                                           const std::vector<std::vector<PatternHit>>& hits);

}  // namespace fathom::cpp
