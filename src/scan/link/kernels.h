#pragma once

#include <vector>

#include "scan/link/python_names.h"

namespace fathom {

// Every GPU kernel of the repository, in order of file and line, with the places that launch it.
std::vector<KernelFacts> link_kernels(const Readings& readings, const PythonNames& names);

}  // namespace fathom
