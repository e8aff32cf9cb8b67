#pragma once

#include "scan/index/kernel_graph.h"
#include "scan/link/python_types.h"

namespace fathom {

// Every GPU kernel of the repository, in order of file and line, with the places that launch it.
Kernels link_kernels(const Readings& readings, const SymbolIndex& index,
                     const FunctionPlaces& places, const PythonNames& names,
                     const PythonTypes& types);

}  // namespace fathom
