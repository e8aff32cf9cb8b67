#include "scan/features/feature_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "base/ascii.h"
#include "base/hash.h"
#include "base/tsv.h"

extern const std::string_view features_tsv;
extern const std::string_view components_tsv;
extern const std::string_view feature_metrics_tsv;
extern const std::string_view feature_claims_tsv;

namespace fathom {
namespace {

struct KindName {
  SignalKind kind;
  std::string_view name;
};
constexpr std::array<KindName, 10> kKinds = {{
    {SignalKind::kName, "name"},
    {SignalKind::kClass, "class"},
    {SignalKind::kDef, "def"},
    {SignalKind::kCall, "call"},
    {SignalKind::kImport, "import"},
    {SignalKind::kInclude, "include"},
    {SignalKind::kPattern, "pattern"},
    {SignalKind::kKernel, "kernel"},
    {SignalKind::kOption, "option"},
    {SignalKind::kPath, "path"},
}};

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

// Names that their fields write with capitals in the middle of a word.
std::string joined_acronyms(std::string_view name) {
  std::string out(name);
  for (const std::string_view acronym : {"MoE", "RoPE", "LoRA", "ReLU", "SiLU", "GeLU"}) {
    for (size_t at = out.find(acronym); at != std::string::npos; at = out.find(acronym, at + 1)) {
      for (size_t i = at + 1; i < at + acronym.size(); ++i) {
        if (is_upper(out[i])) out[i] = static_cast<char>(out[i] + 32);
      }
    }
  }
  return out;
}

// Whether a new word begins at `i`: a capital after a small letter ("radixCache"), the last one of
// several before a small letter ("KVCache", "Int8Quant").
bool begins_word(std::string_view name, size_t i) {
  if (i == 0 || !is_upper(name[i])) return false;
  if (is_lower(name[i - 1])) return true;
  const bool small_after = i + 1 < name.size() && is_lower(name[i + 1]);
  return small_after && (is_upper(name[i - 1]) || is_digit(name[i - 1]));
}

// How much of a glob is fixed before its first star.
size_t literal_prefix(std::string_view glob) { return std::min(glob.find('*'), glob.size()); }

Error rule_error(std::string_view rule, std::string_view what) {
  return Error{"rule " + std::string(rule) + ": " + std::string(what)};
}

Result<uint32_t> read_needs(std::string_view field, size_t at_most, std::string_view rule) {
  uint32_t needs = 0;
  if (!field.empty()) std::from_chars(field.data(), field.data() + field.size(), needs);
  if ((needs == 0) != (at_most == 0)) return rule_error(rule, "needs and signals do not fit");
  if (needs > at_most) return rule_error(rule, "needs more signals than it has");
  return needs;
}

}  // namespace

std::string_view signal_kind_name(SignalKind kind) {
  for (const KindName& known : kKinds) {
    if (known.kind == kind) return known.name;
  }
  return "";
}

std::string fold_name(std::string_view raw) {
  const std::string name = joined_acronyms(raw);
  std::string out;
  out.reserve(name.size() + 4);
  for (size_t i = 0; i < name.size(); ++i) {
    const bool gap = name[i] == '_' || name[i] == '-' || name[i] == '$';
    const bool after_part = !out.empty() && out.back() != '_' && out.back() != '.' &&
                            out.back() != '*' && out.back() != '/';
    if (gap && !out.empty() && out.back() == '*') {
      out += '_';  // "*_mla": the word stands alone
    } else if ((gap || begins_word(name, i)) && after_part) {
      out += '_';
    }
    if (!gap) out += is_upper(name[i]) ? static_cast<char>(name[i] + 32) : name[i];
  }
  while (out.ends_with('_')) out.pop_back();
  // Constants as C++ code likes to write them: kPageSize.
  if (name.size() > 2 && name[0] == 'k' && is_upper(name[1])) out.erase(0, 2);
  return out;
}

Result<std::vector<uint32_t>> FeatureRules::add_signals(std::string_view field,
                                                        std::string_view rule) {
  std::vector<uint32_t> added;
  for (const std::string_view atom : split(field, ' ')) {
    const size_t colon = atom.find(':');
    const std::string_view kind_text = atom.substr(0, std::min(colon, atom.size()));
    const auto kind = std::ranges::find(kKinds, kind_text, &KindName::name);
    if (kind == kKinds.end() || colon == std::string_view::npos || colon + 1 == atom.size()) {
      return rule_error(rule, "not a signal: \"" + std::string(atom) + "\"");
    }
    Signal signal{kind->kind, {}};
    for (const std::string_view alternative : split(atom.substr(colon + 1), '|')) {
      const bool verbatim =
          signal.kind == SignalKind::kPattern || signal.kind == SignalKind::kInclude;
      signal.alternatives.push_back(verbatim ? std::string(alternative) : fold_name(alternative));
      // Every identifier of a repository is held against these.
      if (signal.kind == SignalKind::kName && literal_prefix(signal.alternatives.back()) < 4) {
        return rule_error(rule, "a name needs four letters before its *: " + std::string(atom));
      }
    }
    added.push_back(static_cast<uint32_t>(signals_.size()));
    signals_.push_back(std::move(signal));
  }
  return added;
}

Result<std::vector<uint32_t>> FeatureRules::find_metrics(std::string_view field,
                                                         std::string_view rule) const {
  std::vector<uint32_t> found;
  for (const std::string_view id : split(field, ' ')) {
    const auto metric = std::ranges::find(metrics_, id, &Metric::id);
    if (metric == metrics_.end()) return rule_error(rule, "no metric " + std::string(id));
    found.push_back(static_cast<uint32_t>(metric - metrics_.begin()));
  }
  if (found.empty()) return rule_error(rule, "nothing to measure");
  return found;
}

std::string how_on_all(std::string_view how, std::string_view amd_how) {
  return fmt::format("{}{}{}", how, how.empty() || amd_how.empty() ? "" : "; ", amd_how);
}

Status FeatureRules::add_metrics(std::string_view tsv) {
  for (const auto& row : read_tsv(tsv, 9)) {
    metrics_.push_back({row[0], row[1], row[2], split(row[3], ' '), split(row[4], ' '),
                        split(row[5], ' '), row[6], split(row[7], ' '), row[8]});
    const Metric& metric = metrics_.back();
    const bool known_level =
        metric.level == "hardware" || metric.level == "process" || metric.level == "application";
    if (!known_level || metric.title.empty()) return rule_error(metric.id, "not a metric");
    if ((metric.level == "hardware") != !metric.nvidia.empty()) {
      return rule_error(metric.id, "hardware metrics, and no others, are counters");
    }
  }
  return Nothing{};
}

Status FeatureRules::add_features(std::string_view tsv) {
  std::set<std::string_view> ids;
  for (const auto& row : read_tsv(tsv, 10)) {
    FeatureRule rule;
    rule.id = row[0];
    rule.title = row[1];
    rule.area = row[2];
    if (!ids.insert(rule.id).second) return rule_error(rule.id, "is listed twice");
    rule.proofs = TRY(add_signals(row[3], rule.id));
    rule.signals = TRY(add_signals(row[4], rule.id));
    rule.needs = TRY(read_needs(row[5], rule.signals.size(), rule.id));
    rule.concern = row[6];
    rule.implication = row[7];
    rule.metrics = TRY(find_metrics(row[8], rule.id));
    for (const std::string_view option : split(row[9], ' ')) {
      rule.options.push_back(fold_name(option));
    }
    if (rule.proofs.empty() && rule.signals.empty()) return rule_error(rule.id, "never fires");
    if (rule.concern.empty() || !rule.implication.ends_with('.')) {
      return rule_error(rule.id, "says nothing about the hardware");
    }
    features_.push_back(std::move(rule));
  }
  return Nothing{};
}

Status FeatureRules::add_components(std::string_view tsv) {
  std::set<std::string_view> ids;
  for (const auto& row : read_tsv(tsv, 5)) {
    ComponentRule rule;
    rule.id = row[0];
    rule.title = row[1];
    if (!ids.insert(rule.id).second) return rule_error(rule.id, "is listed twice");
    std::string signals(row[2]);
    std::erase(signals, '!');
    rule.signals = TRY(add_signals(signals, rule.id));
    const std::vector<std::string_view> written = split(row[2], ' ');
    for (size_t i = 0; i < written.size(); ++i) {
      if (written[i].starts_with('!')) rule.required.push_back(rule.signals[i]);
    }
    rule.needs = TRY(read_needs(row[3], rule.signals.size(), rule.id));
    rule.purpose = row[4];
    if (rule.signals.empty()) return rule_error(rule.id, "never fires");
    components_.push_back(std::move(rule));
  }
  return Nothing{};
}

Status FeatureRules::add_claims(std::string_view tsv) {
  constexpr std::string_view kComponent = "component:";
  for (const auto& row : read_tsv(tsv, 3)) {
    ClaimRule claim;
    claim.component = row[0].starts_with(kComponent);
    claim.rule = claim.component ? row[0].substr(kComponent.size()) : row[0];
    const bool known =
        claim.component
            ? std::ranges::find(components_, claim.rule, &ComponentRule::id) != components_.end()
            : std::ranges::find(features_, claim.rule, &FeatureRule::id) != features_.end();
    if (!known) return rule_error(row[0], "claims are of rules that exist");
    claim.phrases = split(row[1], '|');
    if (claim.phrases.empty()) return rule_error(row[0], "no words claim it");
    if (!row[2].empty()) {
      std::string imports = "import:" + std::string(row[2]);
      std::ranges::replace(imports, ' ', '|');
      claim.packages = TRY(add_signals(imports, claim.rule));
    }
    claims_.push_back(std::move(claim));
  }
  return Nothing{};
}

Status FeatureRules::check_programs() const {
  for (const Metric& metric : metrics_) {
    for (const std::string_view id : metric.programs) {
      if (std::ranges::find(components_, id, &ComponentRule::id) == components_.end()) {
        return rule_error(metric.id, "no component " + std::string(id));
      }
    }
  }
  for (const FeatureRule& rule : features_) {
    if (std::ranges::none_of(rule.metrics,
                             [&](uint32_t metric) { return metrics_[metric].programs.empty(); })) {
      return rule_error(rule.id, "nothing to measure in some programs");
    }
  }
  return Nothing{};
}

Result<FeatureRules> FeatureRules::parse(std::string_view features, std::string_view components,
                                         std::string_view metrics, std::string_view claims) {
  FeatureRules rules;
  TRY(rules.add_metrics(metrics));
  TRY(rules.add_features(features));
  TRY(rules.add_components(components));
  TRY(rules.add_claims(claims));
  TRY(rules.check_programs());
  rules.stamp_ = mix_bits(mix_bits(hash_text(features), hash_text(components)), hash_text(claims));
  return rules;
}

const FeatureRules& FeatureRules::built_in() {
  static const FeatureRules rules =
      parse(features_tsv, components_tsv, feature_metrics_tsv, feature_claims_tsv).take();
  return rules;
}

}  // namespace fathom
