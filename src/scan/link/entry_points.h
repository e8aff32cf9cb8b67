#pragma once

#include <vector>

#include "scan/link/readings.h"

namespace fathom {

// Where the code can be entered: scripts, commands, HTTP routes, tests, benchmarks, C++ mains.
// Console scripts are declared in project files and come from scan/manifests/dependencies.h.
std::vector<EntryPoint> link_entry_points(const Readings& readings);

}  // namespace fathom
