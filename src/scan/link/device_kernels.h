#pragma once

#include <vector>

#include "scan/index/symbol_index.h"
#include "scan/link/readings.h"

namespace fathom {

// Classes that cutlass::device_kernel<Class> runs: no __global__ stands in the repository, the
// class and its operator() are the kernel.
std::vector<std::pair<SymbolId, KernelFacts>> device_kernel_classes(const Readings& readings,
                                                                    const SymbolIndex& index);

}  // namespace fathom
