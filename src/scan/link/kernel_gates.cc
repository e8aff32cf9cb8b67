#include "scan/link/kernel_gates.h"

#include <optional>

namespace fathom {
namespace {

// The innermost function around a line.
template <typename Functions>
std::optional<uint32_t> function_at(const Functions& functions, uint32_t line) {
  std::optional<uint32_t> best;
  for (uint32_t i = 0; i < functions.size(); ++i) {
    if (functions[i].line_first > line || functions[i].line_last < line) continue;
    if (!best || functions[i].line_first >= functions[*best].line_first) best = i;
  }
  return best;
}

}  // namespace

KernelGates find_kernel_gates(const Readings& readings, const std::vector<KernelFacts>& kernels) {
  KernelGates out;
  for (uint32_t k = 0; k < kernels.size(); ++k) {
    const KernelFacts& kernel = kernels[k];
    // The last Python function of the path: those above it are found by their calls, with lines.
    for (size_t hop = kernel.path.size(); hop-- > 0;) {
      if (!kernel.path[hop].what.starts_with("Python ")) continue;
      const CodePlace& at = kernel.path[hop].at;
      const FileReading& reading = readings.readings[at.file];
      if (const auto f = function_at(reading.python.functions, at.line))
        out.python[{at.file, *f}].push_back({k, hop + 1, {}});
      break;
    }
    for (const KernelLauncher& launcher : kernel.launchers) {
      const FileReading& reading = readings.readings[launcher.at.file];
      if (readings.files[launcher.at.file].language == Language::kPython) {
        if (const auto f = function_at(reading.python.functions, launcher.at.line))
          out.python[{launcher.at.file, *f}].push_back({k, SIZE_MAX, launcher.at});
      } else if (const auto f = function_at(reading.cpp.functions, launcher.at.line)) {
        out.cpp[{launcher.at.file, *f}].push_back({k, SIZE_MAX, launcher.at});
      }
    }
  }
  return out;
}

}  // namespace fathom
