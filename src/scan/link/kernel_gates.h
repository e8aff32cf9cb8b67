#pragma once

#include <map>
#include <vector>

#include "scan/link/code_graph.h"

namespace fathom {

// From which functions a kernel is known to be reached: the last Python function of its path, and
// those that launch it.
struct KernelGate {
  uint32_t kernel = 0;
  size_t path_from = SIZE_MAX;  // what follows in the kernel's path; SIZE_MAX: nothing
  CodePlace launch;             // of a launcher; line 0: see the path
};

using KernelGates = std::map<FunctionNode, std::vector<KernelGate>>;

KernelGates find_kernel_gates(const CodeGraph& graph, const std::vector<KernelFacts>& kernels);

}  // namespace fathom
