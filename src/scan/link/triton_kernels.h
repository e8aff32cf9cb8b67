#pragma once

#include <vector>

#include "scan/link/python_names.h"

namespace fathom {

// Kernels written in Python: Triton, CuTe DSL, cuTile. `triton.jit` marks device functions as well:
// a kernel is one that is launched, or that nothing at all uses.
std::vector<KernelFacts> triton_kernels(const Readings& readings, const PythonNames& names);

}  // namespace fathom
