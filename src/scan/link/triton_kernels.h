#pragma once

#include <vector>

#include "scan/link/python_types.h"

namespace fathom {

// Kernels written in Python, by the rows of data/kernels. `triton.jit` marks device functions as
// well: a kernel is one that is launched, or that stores something and no other one calls.
std::vector<KernelFacts> triton_kernels(const Readings& readings, const PythonNames& names,
                                        const PythonTypes& types);

}  // namespace fathom
