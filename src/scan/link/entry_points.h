#pragma once

#include <string_view>
#include <vector>

#include "scan/link/readings.h"

namespace fathom {

// Where the code can be entered: scripts, commands, HTTP routes, tests, benchmarks, C++ mains.
// Console scripts are declared in project files and come from scan/manifests/dependencies.h.
std::vector<EntryPoint> link_entry_points(const Readings& readings);

// Where a program begins, also as Windows spells it.
inline bool is_main(std::string_view function) {
  return function == "main" || function == "wmain" || function == "_tmain";
}

}  // namespace fathom
