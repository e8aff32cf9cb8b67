#include "scan/cpp/kernel_constants.h"

namespace fathom::cpp {
namespace {

constexpr size_t kLongestConstant = 24;  // tokens from constexpr to the name
constexpr size_t kMostKernels = 16;      // of one constant

// The = of a declaration that begins with constexpr; 0: it has none.
size_t initialiser_of(const Code& code, size_t constexpr_at) {
  for (size_t i = constexpr_at + 1, tokens = 0; i < code.source.size() && tokens < kLongestConstant;
       i = code.past(i), ++tokens) {
    if (code.is(i, "=")) return i;
    if (code.is_any(i, {";", "{", "}", "("})) return 0;
  }
  return 0;
}

}  // namespace

KernelConstants find_kernel_constants(const Code& code, const KnownNames& known) {
  KernelConstants constants;
  for (size_t i = 0; i < code.source.size(); ++i) {
    if (!code.is(i, "constexpr")) continue;
    const size_t equals = initialiser_of(code, i);
    if (equals == 0 || !code.source.is_name(equals - 1)) continue;
    const Range value = value_from(code, equals + 1);
    std::vector<std::string> kernels;
    for (size_t at = value.first; at < value.last && kernels.size() < kMostKernels; ++at) {
      if (!code.source.is_name(at)) continue;
      const std::string_view name = code.source.at(at);
      if (known.kernels.contains(name)) {
        kernels.push_back(path_name(code, path_before(code, at + 1)));
      } else if (const auto other = constants.find(name); other != constants.end()) {
        kernels.insert(kernels.end(), other->second.begin(), other->second.end());
      }
    }
    if (!kernels.empty()) constants[std::string(code.source.at(equals - 1))] = std::move(kernels);
    i = equals;
  }
  return constants;
}

}  // namespace fathom::cpp
