#pragma once

#include <vector>

#include "scan/link/caller_paths.h"

namespace fathom {

// Functions of the host that a GPU program waits for: prefix compares, collectives, library
// products.
std::vector<HostFacts> link_host_functions(const Readings& readings, const CallerPaths& paths);

}  // namespace fathom
