#include "scan/features/claim_verdicts.h"

#include <algorithm>
#include <tuple>

namespace fathom {
namespace {

std::string_view title_of(const ClaimRule& claim, const FeatureRules& rules) {
  if (claim.component) {
    return std::ranges::find(rules.components(), claim.rule, &ComponentRule::id)->title;
  }
  return std::ranges::find(rules.features(), claim.rule, &FeatureRule::id)->title;
}

template <typename Part>
const Part* find_part(std::span<const Part> parts, std::string_view id) {
  const auto found = std::ranges::find(parts, id, &Part::id);
  return found == parts.end() ? nullptr : &*found;
}

void add_package(const ClaimRule& claim, const SignalPlaces& places, ReadmeClaim& out) {
  for (const uint32_t signal : claim.packages) {
    const std::vector<SignalPlace>& imports = places.of(signal);
    if (imports.empty()) return;
    // The file that shows the feature says best which package it is.
    const auto best = std::ranges::max_element(imports, {}, [&](const SignalPlace& place) {
      return std::tuple(out.at && place.at.file == out.at->file, places.is_product(place.at.file));
    });
    if (out.at == best->at) return;  // The import itself is what shows it.
    out.package = best->name.substr(0, best->name.find('.'));
    out.package_at = best->at;
  }
}

// "No evidence" is for what has none at all: a name that the rule looks for, too few for it to
// fire, is said with its place.
void look_for_hint(const ClaimRule& claim, const SignalPlaces& places, const FeatureRules& rules,
                   ReadmeClaim& out) {
  if (claim.component) return;
  const FeatureRule& rule = *std::ranges::find(rules.features(), claim.rule, &FeatureRule::id);
  for (const uint32_t signal : rule.signals) {
    if (places.of(signal).empty()) continue;
    const SignalPlace& place = places.of(signal).front();
    out.verdict = ClaimVerdict::kHinted;
    out.what = place.name;
    out.at = place.at;
    return;
  }
}

}  // namespace

std::vector<ReadmeClaim> judge_mentions(std::span<const ReadmeMention> mentions,
                                        std::span<const FeatureFacts> features,
                                        std::span<const ComponentFacts> components,
                                        const SignalPlaces& places, const FeatureRules& rules) {
  std::vector<ReadmeClaim> claims;
  for (const ReadmeMention& mention : mentions) {
    const ClaimRule& rule = rules.claims()[mention.claim];
    const FeatureFacts* feature = rule.component ? nullptr : find_part(features, rule.rule);
    const ComponentFacts* component = rule.component ? find_part(components, rule.rule) : nullptr;
    ReadmeClaim claim;
    claim.rule = rule.rule;
    claim.title = title_of(rule, rules);
    claim.said = mention.said;
    claim.doc.line = mention.line;
    if (feature != nullptr || component != nullptr) {
      const RuleEvidence& shown = feature ? feature->evidence[0] : component->evidence[0];
      claim.verdict = ClaimVerdict::kFound;
      claim.what = shown.what;
      claim.at = shown.at;
    }
    // A package matters where the repository launches no kernel of its own for it.
    if (feature == nullptr || feature->kernels.empty()) add_package(rule, places, claim);
    if (feature == nullptr && component == nullptr) {
      claim.verdict = claim.package_at ? ClaimVerdict::kDependency : ClaimVerdict::kAbsent;
      if (!claim.package_at) look_for_hint(rule, places, rules, claim);
    }
    claims.push_back(std::move(claim));
  }
  return claims;
}

}  // namespace fathom
