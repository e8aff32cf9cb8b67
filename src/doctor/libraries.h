#pragma once

#include <string>
#include <vector>

#include "doctor/machine.h"

namespace fathom {

// Where a library of the driver may lie, the most usual first; a bare name is for the dynamic
// loader, which knows its own folders.
std::vector<std::string> driver_library_candidates(const Machine& machine, std::string_view name);

// Where CUPTI may lie: the loader's folders, CUDA toolkits (CUDA_HOME, /usr/local/cuda*), Python's
// site-packages (nvidia/*/lib). Newer versions of a folder first.
std::vector<std::string> cupti_candidates(const Machine& machine);

// The program on PATH, then in the folders; empty: nowhere.
std::string find_program(const Machine& machine, std::string_view name,
                         const std::vector<std::string>& folders);

}  // namespace fathom
