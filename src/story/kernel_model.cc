#include "story/kernel_model.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>

#include "base/glob.h"
#include "base/tsv.h"

extern const std::string_view kernel_models_tsv;

namespace fathom {
namespace {

std::vector<std::string_view> list_of(std::string_view text) {
  return text == "-" ? std::vector<std::string_view>{} : split(text, ';');
}

const std::vector<KernelModel>& kernel_models() {
  static const std::vector<KernelModel> models = [] {
    std::vector<KernelModel> out;
    for (const auto& row : read_tsv(kernel_models_tsv, 9)) {
      int reads = 1;
      std::from_chars(row[8].data(), row[8].data() + row[8].size(), reads);
      out.push_back({row[0], row[1], list_of(row[2]), list_of(row[3]), list_of(row[4]), row[5],
                     row[6], row[7], reads});
    }
    return out;
  }();
  return models;
}

const CodeEvidence* find_evidence(const KernelFacts& kernel, std::string_view what) {
  const CodeEvidence* best = nullptr;
  for (const CodeEvidence& evidence : kernel.evidence) {
    if (evidence.what != what) continue;
    if (best == nullptr || evidence.certainty < best->certainty) best = &evidence;
  }
  return best;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return out;
}

// The arrays that are gathered from or scattered to: "k_cache through pos = …" names one.
int count_arrays(const KernelFacts& kernel, std::string_view what) {
  std::set<std::string_view> arrays;
  for (const CodeEvidence& evidence : kernel.evidence) {
    if (evidence.what != what) continue;
    const std::string_view detail = evidence.detail;
    arrays.insert(detail.substr(0, std::min(detail.find(" through"), detail.size())));
  }
  return std::max<int>(1, static_cast<int>(arrays.size()));
}

std::optional<ChosenModel> fit(const KernelModel& model, const KernelFacts& kernel) {
  for (const std::string_view what : model.without) {
    if (find_evidence(kernel, what) != nullptr) return std::nullopt;
  }
  ChosenModel chosen{&model, Certainty::kLikely, "", 1};
  if (!model.names.empty()) {
    // Without evidence only the kernel's own name counts: a namespace holds other things too.
    const bool own_name = kernel.scope.empty() || model.evidence.empty();
    const std::string name = lower(own_name ? kernel.name : kernel.scope + "::" + kernel.name);
    const auto named =
        std::find_if(model.names.begin(), model.names.end(),
                     [&](std::string_view pattern) { return glob_matches(pattern, name); });
    if (named == model.names.end()) return std::nullopt;
    chosen.because = "its name";
  }
  if (model.evidence.empty()) {
    chosen.certainty = Certainty::kUnsure;
    return chosen;
  }
  for (const std::string_view what : model.evidence) {
    const CodeEvidence* evidence = find_evidence(kernel, what);
    if (evidence == nullptr) continue;
    chosen.because = std::string(what) + (chosen.because.empty() ? "" : " and its name");
    chosen.certainty = std::max(chosen.certainty, evidence->certainty);
    chosen.tensors = count_arrays(kernel, what);
    return chosen;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ChosenModel> choose_model(const KernelFacts& kernel) {
  for (const KernelModel& model : kernel_models()) {
    if (auto chosen = fit(model, kernel)) return chosen;
  }
  return std::nullopt;
}

}  // namespace fathom
