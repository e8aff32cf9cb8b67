#include "scan/link/kernel_gates.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace fathom {
namespace {

// The innermost function around each line of a file: of those that begin last, the last one.
// Generated files have thousands of functions and ask for each.
class FunctionsByLine {
 public:
  template <typename Functions>
  explicit FunctionsByLine(const Functions& functions) {
    std::vector<std::pair<uint32_t, uint32_t>> starts;  // a function's first line and number
    std::set<uint32_t> lines;                           // where the answer may change
    for (uint32_t i = 0; i < functions.size(); ++i) {
      if (functions[i].line_last < functions[i].line_first) continue;
      starts.emplace_back(functions[i].line_first, i);
      lines.insert({functions[i].line_first, functions[i].line_last + 1});
    }
    std::sort(starts.begin(), starts.end());
    std::vector<uint32_t> open;  // that began and may have ended, the innermost last
    size_t next = 0;
    for (const uint32_t line : lines) {
      while (next < starts.size() && starts[next].first <= line)
        open.push_back(starts[next++].second);
      while (!open.empty() && functions[open.back()].line_last < line) open.pop_back();
      from_.emplace_back(line, open.empty() ? std::nullopt : std::optional(open.back()));
    }
  }

  std::optional<uint32_t> at(uint32_t line) const {
    const auto after =
        std::upper_bound(from_.begin(), from_.end(), line,
                         [](uint32_t wanted, const auto& part) { return wanted < part.first; });
    return after == from_.begin() ? std::nullopt : std::prev(after)->second;
  }

 private:
  std::vector<std::pair<uint32_t, std::optional<uint32_t>>> from_;
};

// Made for the files that are asked about.
class FunctionFinder {
 public:
  explicit FunctionFinder(const Readings& readings) : readings_(readings) {}
  std::optional<uint32_t> python(const CodePlace& at) {
    const auto& functions = readings_.readings[at.file].python.functions;
    return python_.try_emplace(at.file, functions).first->second.at(at.line);
  }
  std::optional<uint32_t> cpp(const CodePlace& at) {
    const auto& functions = readings_.readings[at.file].cpp.functions;
    return cpp_.try_emplace(at.file, functions).first->second.at(at.line);
  }

 private:
  const Readings& readings_;
  std::map<uint32_t, FunctionsByLine> python_, cpp_;  // by file
};

}  // namespace

KernelGates find_kernel_gates(const Readings& readings, const std::vector<KernelFacts>& kernels) {
  KernelGates out;
  FunctionFinder functions(readings);
  for (uint32_t k = 0; k < kernels.size(); ++k) {
    const KernelFacts& kernel = kernels[k];
    // The last Python function of the path: those above it are found by their calls, with lines.
    for (size_t hop = kernel.path.size(); hop-- > 0;) {
      if (kernel.path[hop].kind != PathHopKind::kPython) continue;
      const CodePlace& at = kernel.path[hop].at;
      if (const auto f = functions.python(at))
        out.python[{at.file, *f}].push_back({k, hop + 1, {}});
      break;
    }
    for (const KernelLauncher& launcher : kernel.launchers) {
      if (readings.files[launcher.at.file].language == Language::kPython) {
        if (const auto f = functions.python(launcher.at))
          out.python[{launcher.at.file, *f}].push_back({k, SIZE_MAX, launcher.at});
      } else if (const auto f = functions.cpp(launcher.at)) {
        out.cpp[{launcher.at.file, *f}].push_back({k, SIZE_MAX, launcher.at});
      }
    }
  }
  return out;
}

}  // namespace fathom
