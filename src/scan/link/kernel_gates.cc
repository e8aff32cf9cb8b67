#include "scan/link/kernel_gates.h"

namespace fathom {

KernelGates find_kernel_gates(const CodeGraph& graph, const std::vector<KernelFacts>& kernels) {
  KernelGates out;
  for (uint32_t k = 0; k < kernels.size(); ++k) {
    const KernelFacts& kernel = kernels[k];
    // The last Python function of the path: those above it are found by their calls, with lines.
    for (size_t hop = kernel.path.size(); hop-- > 0;) {
      if (kernel.path[hop].kind != PathHopKind::kPython) continue;
      if (const auto function = graph.function_at(kernel.path[hop].at))
        out[*function].push_back({k, hop + 1, {}});
      break;
    }
    for (const KernelLauncher& launcher : kernel.launchers) {
      if (const auto function = graph.function_at(launcher.at))
        out[*function].push_back({k, SIZE_MAX, launcher.at});
    }
  }
  return out;
}

}  // namespace fathom
