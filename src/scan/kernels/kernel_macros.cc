#include "scan/kernels/kernel_macros.h"

#include <vector>

#include "base/tsv.h"

extern const std::string_view kernel_macros_tsv;

namespace fathom {

std::span<const KernelMacroRule> kernel_macro_rules() {
  static const std::vector<KernelMacroRule> rules = [] {
    std::vector<KernelMacroRule> out;
    for (const auto& row : read_tsv(kernel_macros_tsv, 4)) out.push_back({row[0], row[1], row[2]});
    return out;
  }();
  return rules;
}

}  // namespace fathom
