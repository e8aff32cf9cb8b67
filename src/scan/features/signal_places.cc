#include "scan/features/signal_places.h"

#include <algorithm>
#include <map>

#include "base/glob.h"
#include "scan/features/file_weight.h"

namespace fathom {

bool any_glob_matches(std::span<const std::string> globs, std::string_view folded) {
  return std::ranges::any_of(
      globs, [folded](const std::string& glob) { return glob_matches(glob, folded); });
}

SignalPlaces::SignalPlaces(const CodeFacts& facts, std::span<const FileSignals> signals,
                           const FeatureRules& rules)
    : facts_(facts),
      rules_(rules),
      places_(rules.signals().size()),
      kernels_(rules.signals().size()) {
  for (const SourceFile& file : facts.files) weighs_.push_back(carries_weight(file));
  for (const SourceFile& file : facts.files) folded_paths_.push_back(fold_name(file.path));
  for (const KernelFacts& kernel : facts.kernels) folded_kernels_.push_back(fold_name(kernel.name));
  for (const OptionFacts& option : facts.options) folded_options_.push_back(fold_name(option.name));
  from_files(signals);
  for (uint32_t i = 0; i < rules.signals().size(); ++i) {
    const SignalKind kind = rules.signals()[i].kind;
    if (kind == SignalKind::kKernel || kind == SignalKind::kPattern) {
      for (uint32_t kernel = 0; kernel < facts.kernels.size(); ++kernel) from_kernel(kernel, i);
    }
    if (kind == SignalKind::kPattern) {
      for (const HostFacts& host : facts.host_functions) from_host(host, i);
    } else if (kind == SignalKind::kOption) {
      for (uint32_t option = 0; option < facts.options.size(); ++option) from_option(option, i);
    } else if (kind == SignalKind::kPath) {
      for (uint32_t file = 0; file < facts.files.size(); ++file) from_path(file, i);
    }
    std::ranges::stable_sort(places_[i], {}, &SignalPlace::at);
  }
}

void SignalPlaces::from_files(std::span<const FileSignals> signals) {
  for (uint32_t file = 0; file < std::min(signals.size(), facts_.files.size()); ++file) {
    if (!weighs_[file]) continue;
    for (const SignalHit& hit : signals[file]) {
      places_[hit.signal].push_back({{file, hit.line}, hit.name, hit.count});
    }
  }
}

void SignalPlaces::from_kernel(uint32_t index, uint32_t signal) {
  const KernelFacts& kernel = facts_.kernels[index];
  if (kernel.dead || !weighs_[kernel.at.file]) return;
  const Signal& wanted = rules_.signals()[signal];
  if (wanted.kind == SignalKind::kKernel) {
    if (!any_glob_matches(wanted.alternatives, folded_kernels_[index])) return;
    places_[signal].push_back({{kernel.at.file, kernel.line_name}, kernel.name});
    kernels_[signal].insert(index);
    return;
  }
  for (const CodeEvidence& evidence : kernel.evidence) {
    if (evidence.certainty != Certainty::kCertain) continue;
    if (!any_glob_matches(wanted.alternatives, evidence.what)) continue;
    places_[signal].push_back({evidence.at, evidence.what + " in " + kernel.name});
    kernels_[signal].insert(index);
    return;
  }
}

void SignalPlaces::from_host(const HostFacts& host, uint32_t signal) {
  if (!weighs_[host.at.file]) return;
  for (const CodeEvidence& evidence : host.evidence) {
    if (evidence.certainty != Certainty::kCertain) continue;
    if (!any_glob_matches(rules_.signals()[signal].alternatives, evidence.what)) continue;
    places_[signal].push_back({evidence.at, evidence.what + " in " + host.name});
    return;
  }
}

void SignalPlaces::from_option(uint32_t index, uint32_t signal) {
  const OptionFacts& option = facts_.options[index];
  if (!weighs_[option.at.file]) return;
  if (!any_glob_matches(rules_.signals()[signal].alternatives, folded_options_[index])) return;
  places_[signal].push_back({option.at, option.name});
}

void SignalPlaces::from_path(uint32_t file, uint32_t signal) {
  if (!weighs_[file]) return;
  if (!any_glob_matches(rules_.signals()[signal].alternatives, folded_paths_[file])) return;
  places_[signal].push_back({{file, 1}, facts_.files[file].path});
}

std::vector<RuleEvidence> make_evidence(const SignalPlaces& places, const FeatureRules& rules,
                                        std::span<const uint32_t> signals) {
  std::vector<RuleEvidence> evidence;
  for (const uint32_t signal : signals) {
    const std::vector<SignalPlace>& found = places.of(signal);
    if (found.empty()) continue;
    // The file that uses it most is where to read; the first one where several do.
    const auto most = std::ranges::max_element(found, {}, &SignalPlace::count);
    std::set<uint32_t> files;
    for (const SignalPlace& place : found) files.insert(place.at.file);
    evidence.push_back(
        {std::string(signal_kind_name(rules.signals()[signal].kind)) + " " + most->name, most->at,
         static_cast<uint32_t>(files.size())});
  }
  // A path says the least: no line of code.
  std::ranges::stable_partition(evidence,
                                [](const RuleEvidence& e) { return !e.what.starts_with("path "); });
  return evidence;
}

}  // namespace fathom
