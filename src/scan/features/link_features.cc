#include "scan/features/link_features.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <tuple>

#include "scan/facts/text_lines.h"
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
  return {std::string(metric.id),
          std::string(metric.title),
          std::string(metric.level),
          texts(metric.nvidia),
          texts(metric.amd),
          texts(metric.nvidia_chips),
          how_on_all(metric.how, metric.amd_how)};
}

// A feature and what decides its place among the others.
struct RankedFeature {
  FeatureFacts facts;
  bool aside = false;     // nothing of the product shows it
  bool claimed = false;   // the documentation names it
  uint32_t strength = 0;  // signals found, times the logarithm of the files that show them
};

class FeatureLinker {
 public:
  FeatureLinker(const CodeFacts& facts, const SignalPlaces& places, const FeatureRules& rules,
                const std::vector<ComponentFacts>& components)
      : facts_(facts), places_(places), rules_(rules), components_(components) {}

  std::optional<RankedFeature> try_rule(const FeatureRule& rule) const {
    std::vector<uint32_t> found = found_of(places_, rule.proofs);
    const bool proven = !found.empty();
    const std::vector<uint32_t> hints = found_of(places_, rule.signals);
    if (!proven && (rule.needs == 0 || hints.size() < rule.needs)) return std::nullopt;
    // Too few of them say nothing, beside a proof too.
    if (hints.size() >= rule.needs) found.insert(found.end(), hints.begin(), hints.end());
    RankedFeature ranked;
    FeatureFacts& feature = ranked.facts;
    feature.id = rule.id;
    feature.title = rule.title;
    feature.area = rule.area;
    feature.concern = rule.concern;
    feature.implication = rule.implication;
    feature.evidence = make_evidence(places_, rules_, found);
    add_metrics(rule, feature);
    ranked.aside = !add_places(found, feature);
    ranked.strength =
        static_cast<uint32_t>(found.size()) * static_cast<uint32_t>(std::bit_width(feature.files));
    const bool certain = proven ? is_certain(found, feature) : hints.size() > rule.needs;
    feature.certainty = certain && !ranked.aside ? Certainty::kCertain : Certainty::kLikely;
    add_options(rule, feature);
    return ranked;
  }

 private:
  // What code does is certain; what it is called needs to agree with something else.
  bool is_certain(const std::vector<uint32_t>& found, const FeatureFacts& feature) const {
    if (found.size() > 1 || feature.files > 1) return true;
    const SignalKind kind = rules_.signals()[found[0]].kind;
    return kind != SignalKind::kName && kind != SignalKind::kClass && kind != SignalKind::kDef;
  }

  // Whether any of them is the product's.
  bool add_places(const std::vector<uint32_t>& found, FeatureFacts& feature) const {
    std::set<uint32_t> files, kernels;
    for (const uint32_t signal : found) {
      for (const SignalPlace& place : places_.of(signal)) files.insert(place.at.file);
      kernels.insert(places_.kernels_of(signal).begin(), places_.kernels_of(signal).end());
    }
    feature.files = static_cast<uint32_t>(files.size());
    feature.kernels.assign(kernels.begin(), kernels.end());
    return std::ranges::any_of(files, [&](uint32_t file) { return places_.is_product(file); });
  }

  // A number that this kind of program does not have is not one to measure.
  void add_metrics(const FeatureRule& rule, FeatureFacts& feature) const {
    for (const uint32_t index : rule.metrics) {
      const Metric& metric = rules_.metrics()[index];
      const auto is_here = [&](std::string_view id) {
        return std::ranges::find(components_, id, &ComponentFacts::id) != components_.end();
      };
      if (metric.programs.empty() || std::ranges::any_of(metric.programs, is_here)) {
        feature.metrics.push_back(metric_facts(metric));
      }
    }
  }

  void add_options(const FeatureRule& rule, FeatureFacts& feature) const {
    for (uint32_t i = 0; i < facts_.options.size(); ++i) {
      if (!places_.weighs(facts_.options[i].at.file)) continue;
      // Of a field "Config.block_size" the class names no effect of its own.
      std::string_view name = facts_.options[i].name;
      if (facts_.options[i].kind == OptionKind::kConfig)
        name.remove_prefix(name.rfind('.') + 1);  // npos + 1 is 0
      if (word_glob_matches(rule.options, fold_name(name))) feature.options.push_back(i);
    }
  }

  const CodeFacts& facts_;
  const SignalPlaces& places_;
  const FeatureRules& rules_;
  const std::vector<ComponentFacts>& components_;
};

// Folders more than half of whose files belong to the component.
std::vector<std::string> folders_of(const CodeFacts& facts, const SignalPlaces& places,
                                    const std::set<uint32_t>& files) {
  std::map<std::string_view, std::pair<uint32_t, uint32_t>> counts;  // of the component, of all
  for (uint32_t file = 0; file < facts.files.size(); ++file) {
    if (!places.weighs(file)) continue;
    auto& [inside, all] = counts[folder_of_path(facts.files[file].path)];
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

// Elsewhere in a large program a required name means something else.
bool has_required(const SignalPlaces& places, const ComponentRule& rule,
                  const std::vector<uint32_t>& files) {
  return std::ranges::all_of(rule.required, [&](uint32_t signal) {
    return std::ranges::any_of(places.of(signal), [&](const SignalPlace& place) {
      return std::ranges::binary_search(files, place.at.file);
    });
  });
}

}  // namespace

RecognisedParts link_features(const CodeFacts& facts, std::span<const FileSignals> signals,
                              const FeatureRules& rules, std::span<const ReadmeMention> mentions) {
  const SignalPlaces places(facts, signals, rules);
  RecognisedParts parts;
  for (const ComponentRule& rule : rules.components()) {
    const std::vector<uint32_t> found = found_of(places, rule.signals);
    if (found.size() < rule.needs) continue;
    ComponentFacts component = component_facts(facts, places, rules, rule, found);
    // What is only called or imported is a part of somebody else's program.
    if (!component.files.empty() && has_required(places, rule, component.files))
      parts.components.push_back(std::move(component));
  }
  const FeatureLinker linker(facts, places, rules, parts.components);
  std::set<std::string_view> claimed;
  for (const ReadmeMention& mention : mentions) {
    const ClaimRule& claim = rules.claims()[mention.claim];
    if (!claim.component) claimed.insert(claim.rule);
  }
  std::vector<RankedFeature> ranked;
  for (const FeatureRule& rule : rules.features()) {
    if (auto feature = linker.try_rule(rule)) {
      feature->claimed = claimed.contains(rule.id);
      ranked.push_back(std::move(*feature));
    }
  }
  // Stable: what is equal in all of these keeps the order of the data file.
  std::ranges::stable_sort(ranked, [](const RankedFeature& a, const RankedFeature& b) {
    return std::tuple(a.aside, a.facts.certainty, b.claimed, b.strength) <
           std::tuple(b.aside, b.facts.certainty, a.claimed, a.strength);
  });
  for (RankedFeature& feature : ranked) parts.features.push_back(std::move(feature.facts));
  parts.claims = judge_mentions(mentions, parts.features, parts.components, places, rules);
  return parts;
}

}  // namespace fathom
