#include "scan/kernels/prebuilt.h"

#include <algorithm>

#include "scan/kernels/shader_rules.h"

namespace fathom {

std::vector<PrebuiltCode> count_prebuilt(const std::vector<SourceFile>& files) {
  std::vector<PrebuiltCode> out;
  for (uint32_t i = 0; i < files.size(); ++i) {
    const PrebuiltRule* rule = prebuilt_rule_of(files[i].path);
    if (rule == nullptr) continue;
    const SkipReason why = files[i].skip_reason;
    const bool binary =
        why == SkipReason::kBinary || why == SkipReason::kTooLarge || why == SkipReason::kLfs;
    if (rule->only_binary && !binary) continue;
    auto known = std::ranges::find(out, rule->ending, &PrebuiltCode::ending);
    if (known == out.end()) {
      out.push_back({std::string(rule->ending), 0, {i, 0}});
      known = out.end() - 1;
    }
    ++known->files;
  }
  std::ranges::stable_sort(out, std::greater(), &PrebuiltCode::files);
  return out;
}

}  // namespace fathom
