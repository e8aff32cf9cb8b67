#include "scan/features/link_features.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "scan/features/file_weight.h"
#include "scan/features/signal_places.h"

namespace fathom {
namespace {

std::vector<uint32_t> found_of(const SignalPlaces& places, const std::vector<uint32_t>& signals) {
  std::vector<uint32_t> found;
  for (const uint32_t signal : signals) {
    if (!places.of(signal).empty()) found.push_back(signal);
  }
  return found;
}

MetricFacts metric_facts(const Metric& metric) {
  const auto texts = [](const std::vector<std::string_view>& views) {
    return std::vector<std::string>(views.begin(), views.end());
  };
  return {std::string(metric.id), std::string(metric.title), std::string(metric.level),
          texts(metric.nvidia),   texts(metric.amd),         texts(metric.nvidia_chips),
          std::string(metric.how)};
}

class FeatureLinker {
 public:
  FeatureLinker(const CodeFacts& facts, const SignalPlaces& places, const FeatureRules& rules)
      : facts_(facts), places_(places), rules_(rules) {}

  void try_rule(const FeatureRule& rule, std::vector<FeatureFacts>& out) const {
    std::vector<uint32_t> found = found_of(places_, rule.proofs);
    const bool proven = !found.empty();
    const std::vector<uint32_t> hints = found_of(places_, rule.signals);
    if (!proven && (rule.needs == 0 || hints.size() < rule.needs)) return;
    found.insert(found.end(), hints.begin(), hints.end());
    FeatureFacts feature;
    feature.id = rule.id;
    feature.title = rule.title;
    feature.area = rule.area;
    feature.concern = rule.concern;
    feature.implication = rule.implication;
    feature.evidence = make_evidence(places_, rules_, found);
    for (const uint32_t metric : rule.metrics) {
      feature.metrics.push_back(metric_facts(rules_.metrics()[metric]));
    }
    add_places(found, feature);
    feature.certainty =
        proven && is_certain(found, feature) ? Certainty::kCertain : Certainty::kLikely;
    add_options(rule, feature);
    out.push_back(std::move(feature));
  }

 private:
  // What code does is certain; what it is called needs to agree with something else.
  bool is_certain(const std::vector<uint32_t>& found, const FeatureFacts& feature) const {
    if (found.size() > 1 || feature.files > 1) return true;
    const SignalKind kind = rules_.signals()[found[0]].kind;
    return kind != SignalKind::kName && kind != SignalKind::kClass && kind != SignalKind::kDef;
  }

  void add_places(const std::vector<uint32_t>& found, FeatureFacts& feature) const {
    std::set<uint32_t> files, kernels;
    for (const uint32_t signal : found) {
      for (const SignalPlace& place : places_.of(signal)) files.insert(place.at.file);
      kernels.insert(places_.kernels_of(signal).begin(), places_.kernels_of(signal).end());
    }
    feature.files = static_cast<uint32_t>(files.size());
    feature.kernels.assign(kernels.begin(), kernels.end());
  }

  void add_options(const FeatureRule& rule, FeatureFacts& feature) const {
    for (uint32_t i = 0; i < facts_.options.size(); ++i) {
      if (!places_.weighs(facts_.options[i].at.file)) continue;
      if (any_glob_matches(rule.options, fold_name(facts_.options[i].name))) {
        feature.options.push_back(i);
      }
    }
  }

  const CodeFacts& facts_;
  const SignalPlaces& places_;
  const FeatureRules& rules_;
};

std::string_view folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

// Folders more than half of whose files belong to the component.
std::vector<std::string> folders_of(const CodeFacts& facts, const SignalPlaces& places,
                                    const std::set<uint32_t>& files) {
  std::map<std::string_view, std::pair<uint32_t, uint32_t>> counts;  // of the component, of all
  for (uint32_t file = 0; file < facts.files.size(); ++file) {
    if (!places.weighs(file)) continue;
    auto& [inside, all] = counts[folder_of(facts.files[file].path)];
    inside += files.contains(file);
    ++all;
  }
  std::vector<std::string> folders;
  for (const auto& [folder, count] : counts) {
    if (!folder.empty() && count.first * 2 > count.second) {
      folders.emplace_back(folder);
    }
  }
  return folders;
}

// A file belongs to what it defines and what it is called after, not to all that it mentions.
bool says_membership(SignalKind kind) {
  return kind == SignalKind::kClass || kind == SignalKind::kDef || kind == SignalKind::kKernel ||
         kind == SignalKind::kPath;
}

ComponentFacts component_facts(const CodeFacts& facts, const SignalPlaces& places,
                               const FeatureRules& rules, const ComponentRule& rule,
                               const std::vector<uint32_t>& found) {
  ComponentFacts component;
  component.id = rule.id;
  component.title = rule.title;
  component.purpose = rule.purpose;
  component.evidence = make_evidence(places, rules, found);
  std::set<uint32_t> files, kernels;
  for (const uint32_t signal : found) {
    kernels.insert(places.kernels_of(signal).begin(), places.kernels_of(signal).end());
    if (!says_membership(rules.signals()[signal].kind)) continue;
    for (const SignalPlace& place : places.of(signal)) files.insert(place.at.file);
  }
  component.files.assign(files.begin(), files.end());
  component.folders = folders_of(facts, places, files);
  component.kernels.assign(kernels.begin(), kernels.end());
  component.certainty = found.size() > rule.needs ? Certainty::kCertain : Certainty::kLikely;
  return component;
}

}  // namespace

RecognisedParts link_features(const CodeFacts& facts, std::span<const FileSignals> signals,
                              const FeatureRules& rules) {
  const SignalPlaces places(facts, signals, rules);
  const FeatureLinker linker(facts, places, rules);
  RecognisedParts parts;
  for (const FeatureRule& rule : rules.features()) linker.try_rule(rule, parts.features);
  // Stable: what is equally sure and equally spread keeps the order of the data file.
  std::ranges::stable_sort(parts.features, [](const FeatureFacts& a, const FeatureFacts& b) {
    return std::tuple(a.certainty, b.files) < std::tuple(b.certainty, a.files);
  });
  for (const ComponentRule& rule : rules.components()) {
    const std::vector<uint32_t> found = found_of(places, rule.signals);
    if (found.size() < rule.needs) continue;
    parts.components.push_back(component_facts(facts, places, rules, rule, found));
  }
  return parts;
}

}  // namespace fathom
