#pragma once

#include <vector>

#include "scan/index/function_places.h"
#include "scan/index/symbol_index.h"
#include "scan/link/python_types.h"

namespace fathom {

// Every GPU kernel of the repository, in order of file and line, with the places that launch it.
std::vector<KernelFacts> link_kernels(const Readings& readings, const SymbolIndex& index,
                                      const FunctionPlaces& places, const PythonNames& names,
                                      const PythonTypes& types);

}  // namespace fathom
