#include "plan/plan_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "base/check.h"
#include "base/closest_names.h"
#include "base/tsv.h"
#include "scan/features/feature_rules.h"

extern const std::string_view plan_metrics_tsv;
extern const std::string_view counter_sets_tsv;
extern const std::string_view counter_passes_tsv;
extern const std::string_view metric_passes_tsv;
extern const std::string_view chips_tsv;

namespace fathom {
namespace {

constexpr std::array<std::string_view, 4> kSets = {"basic", "memory", "stalls", "roofline"};
// Columns of metric_passes.tsv.
constexpr std::array<std::string_view, 5> kChips = {"GA100", "AD102", "GH100", "GB100", "GB202"};

int64_t whole_number(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Level level_of(std::string_view name) {
  if (name == "hardware") return Level::kHardware;
  return name == "process" ? Level::kProcess : Level::kApplication;
}

std::vector<PlanMetric> read_metrics() {
  std::map<std::string_view, const Metric*> of_features;
  for (const Metric& metric : FeatureRules::built_in().metrics()) of_features[metric.id] = &metric;
  std::vector<PlanMetric> metrics;
  for (const auto& row : read_tsv(plan_metrics_tsv, 7)) {
    PlanMetric metric{row[0], row[1], row[3], row[6], level_of(row[2]), row[5], {}, {}, {}};
    metric.counters = split(row[4], ' ');
    if (const auto found = of_features.find(metric.id); found != of_features.end()) {
      const Metric& known = *found->second;
      if (metric.title.empty()) metric.title = known.title;
      if (metric.how.empty()) {
        metric.how = known.how;
        metric.amd_how = known.amd_how;
      }
      if (metric.counters.empty()) metric.counters = known.nvidia;
      metric.amd = known.amd;
      metric.programs = known.programs;
    }
    metrics.push_back(std::move(metric));
  }
  return metrics;
}

using PassesByChip = std::map<std::string_view, std::array<int64_t, kChips.size()>, std::less<>>;

const PassesByChip& metric_passes() {
  static const PassesByChip passes = [] {
    PassesByChip table;
    for (const auto& row : read_tsv(metric_passes_tsv, 1 + kChips.size())) {
      for (size_t i = 0; i < kChips.size(); ++i) table[row[0]][i] = whole_number(row[i + 1]);
    }
    return table;
  }();
  return passes;
}

// 0: the chip does not have it, or nobody asked. Without a chip: the largest of all chips, where
// all have it.
int64_t passes_on(std::string_view metric, std::string_view chip) {
  const auto found = metric_passes().find(metric);
  if (found == metric_passes().end()) return 0;
  if (chip.empty()) {
    const auto [least, most] = std::ranges::minmax(found->second);
    return least == 0 ? 0 : most;
  }
  const auto column = std::ranges::find(kChips, chip);
  return column == kChips.end() ? 0 : found->second[static_cast<size_t>(column - kChips.begin())];
}

bool set_has(std::string_view set, std::string_view metric) {
  static const std::map<std::string_view, std::vector<std::string_view>> sets = [] {
    std::map<std::string_view, std::vector<std::string_view>> table;
    for (const auto& row : read_tsv(counter_sets_tsv, 2)) {
      const size_t name = std::min(row[1].find_first_not_of("?+"), row[1].size());
      for (const std::string_view one : split(row[1].substr(name), '|'))
        table[row[0]].push_back(one);
    }
    return table;
  }();
  const auto found = sets.find(set);
  return found != sets.end() && std::ranges::find(found->second, metric) != found->second.end();
}

// basic is part of every set.
std::string_view smallest_set(const std::vector<std::string>& names) {
  const auto all_in = [&](auto&& has) { return std::ranges::all_of(names, has); };
  for (const std::string_view set : kSets) {
    if (all_in(
            [&](const std::string& name) { return set_has(set, name) || set_has("basic", name); }))
      return set;
  }
  const auto anywhere = [&](const std::string& name) {
    return std::ranges::any_of(kSets, [&](std::string_view set) { return set_has(set, name); });
  };
  return all_in(anywhere) ? std::string_view("full") : std::string_view();
}

// Of names without one that differs in a few letters: the one that has most words in common.
std::string nearest_by_words(std::string_view name, const std::vector<std::string>& names) {
  const auto words_in = [](std::string_view text) {
    std::string parts(text);
    std::ranges::replace(parts, '.', '_');
    std::vector<std::string> words;
    for (const std::string_view word : split(parts, '_')) {
      if (!word.empty()) words.emplace_back(word);
    }
    return words;
  };
  const std::vector<std::string> wanted = words_in(name);
  const std::string* best = nullptr;
  double most = 0;
  for (const std::string& one : names) {
    const std::vector<std::string> words = words_in(one);
    const auto shared = std::ranges::count_if(words, [&](const std::string& word) {
      return std::ranges::find(wanted, word) != wanted.end();
    });
    const double share =
        static_cast<double>(shared) / static_cast<double>(std::max(words.size(), wanted.size()));
    if (share <= most) continue;
    most = share;
    best = &one;
  }
  return best != nullptr && most >= 0.3 ? fmt::format("; closest: '{}'", *best) : "";
}

struct KnownOption {
  std::string_view name;
  RecordOption takes;
};
// Those that a plan may use; tests/plan compares them with `fathom record --help`.
constexpr std::array<KnownOption, 16> kRecordOptions = {{
    {"--torch", RecordOption::kFlag},
    {"--python-stacks", RecordOption::kFlag},
    {"--graph-nodes", RecordOption::kFlag},
    {"--allocations", RecordOption::kFlag},
    {"--all-calls", RecordOption::kFlag},
    {"--probe", RecordOption::kValue},
    {"--log-pattern", RecordOption::kValue},
    {"--window", RecordOption::kValue},
    {"--trigger", RecordOption::kValue},
    {"--before", RecordOption::kValue},
    {"--counters", RecordOption::kOptionalValue},
    {"--replay", RecordOption::kFlag},
    {"--pm-sampling", RecordOption::kOptionalValue},
    {"--pc-sampling", RecordOption::kOptionalValue},
    {"--ncu", RecordOption::kOptionalValue},
    {"--no-clocks", RecordOption::kFlag},
}};

}  // namespace

const std::vector<PlanMetric>& plan_metrics() {
  static const std::vector<PlanMetric> metrics = read_metrics();
  return metrics;
}

const PlanMetric* find_plan_metric(std::string_view id) {
  const auto& all = plan_metrics();
  const auto found = std::ranges::find(all, id, &PlanMetric::id);
  return found == all.end() ? nullptr : &*found;
}

std::string_view chip_of(std::string_view architecture) {
  for (const auto& row : read_tsv(chips_tsv, 2)) {
    if (row[0] == architecture) return row[1];
  }
  return {};
}

ChipCounters counters_on(const PlanMetric& metric, std::string_view chip) {
  ChipCounters found;
  int64_t most = 0;
  for (const std::string_view wanted : metric.counters) {
    bool placed = false;
    for (const std::string_view name : split(wanted, '|')) {
      const int64_t passes = passes_on(name, chip);
      if (passes == 0) continue;
      found.names.emplace_back(name);
      most = std::max(most, passes);
      placed = true;
      break;
    }
    if (!placed) return {};  // part of a ratio says nothing
  }
  if (found.names.empty()) return found;
  found.set = smallest_set(found.names);
  if (!chip.empty()) found.passes = most;
  return found;
}

std::string counter_mistake(std::string_view name, std::string_view chip) {
  const auto has = [&](const auto& row) {
    if (chip.empty()) return std::ranges::any_of(row.second, [](int64_t n) { return n > 0; });
    const auto column = std::ranges::find(kChips, chip);
    return column == kChips.end() || row.second[static_cast<size_t>(column - kChips.begin())] > 0;
  };
  const auto stem_of = [](std::string_view one) { return one.substr(0, one.find('.')); };
  constexpr std::array<std::string_view, 6> kRollups = {"sum", "avg", "min", "max", "ratio", "pct"};
  const size_t dot = std::min(name.find('.'), name.size());
  const std::string_view rollup = dot < name.size()
                                      ? name.substr(dot + 1, name.find('.', dot + 1) - dot - 1)
                                      : std::string_view();
  const bool is_rollup = std::ranges::find(kRollups, rollup) != kRollups.end();
  bool is_known = false, is_elsewhere = false;
  std::vector<std::string> here;
  for (const auto& row : metric_passes()) {
    const bool same = row.first == name || (is_rollup && stem_of(row.first) == stem_of(name));
    if (has(row)) here.emplace_back(row.first);
    if (same) (has(row) ? is_known : is_elsewhere) = true;
  }
  if (is_known) return "";
  const std::string on = chip.empty() ? std::string("any chip") : std::string(chip);
  const std::string closest = did_you_mean(name, here);
  if (is_elsewhere)
    return fmt::format("counter '{}' does not exist on {}{}", name, on,
                       closest.empty() ? nearest_by_words(name, here) : closest);
  // The tables hold what sets and metrics use. A name that resembles none may be one of CUPTI's.
  const bool looks_right = stem_of(name).find("__") != std::string_view::npos && is_rollup;
  if (looks_right && closest.empty()) return "";
  return fmt::format("'{}' is not a known counter of {}{}", name, on, closest);
}

std::optional<SetPasses> set_passes(std::string_view chip, std::string_view set) {
  for (const auto& row : read_tsv(counter_passes_tsv, 5)) {
    if (row[0] == chip && row[1] == set)
      return SetPasses{whole_number(row[2]), whole_number(row[3]), whole_number(row[4])};
  }
  return std::nullopt;
}

RecordOption record_option(std::string_view name) {
  const auto found = std::ranges::find(kRecordOptions, name, &KnownOption::name);
  return found == kRecordOptions.end() ? RecordOption::kNone : found->takes;
}

std::vector<std::string> record_option_names() {
  std::vector<std::string> names;
  for (const KnownOption& option : kRecordOptions) names.emplace_back(option.name);
  return names;
}

}  // namespace fathom
