#pragma once

#include "scan/index/kernel_graph.h"
#include "scan/link/python_types.h"

namespace fathom {

// Kernels written in Python, by the rows of data/kernels. `triton.jit` marks device functions as
// well: a kernel is one that is launched, or that stores something and no other one calls.
void add_python_kernels(const Readings& readings, const PythonNames& names,
                        const PythonTypes& types, const FunctionPlaces& places, KernelGraph& graph);

}  // namespace fathom
