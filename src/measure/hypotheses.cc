#include "measure/hypotheses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/check.h"
#include "base/tsv.h"
#include "measure/counter_columns.h"

extern const std::string_view hypotheses_tsv, derived_values_tsv;

namespace fathom {
namespace {

struct DerivedValue {
  std::string_view name, unit, title;
  Formula formula;
};

Formula parsed(std::string_view text) {
  Result<Formula> formula = Formula::parse(text);
  if (!formula.ok()) std::fprintf(stderr, "%s\n", formula.error().message.c_str());
  CHECK(formula.ok());
  return formula.take();
}

const std::vector<DerivedValue>& derived_values() {
  static const std::vector<DerivedValue> all = [] {
    std::vector<DerivedValue> rows;
    for (const auto& row : read_tsv(derived_values_tsv, 4))
      rows.push_back({row[0], row[1], row[2], parsed(row[3])});
    return rows;
  }();
  return all;
}

std::vector<Hypothesis> read_hypotheses() {
  std::vector<Hypothesis> all;
  for (const auto& row : read_tsv(hypotheses_tsv, 9)) {
    Hypothesis hypothesis{row[0],
                          row[1],
                          parsed(row[2]),
                          parsed(row[3]),
                          parsed(row[4]),
                          parsed(row[5]),
                          {},
                          row[7],
                          row[8],
                          row[7].substr(0, row[7].find(" Range: "))};
    for (std::string_view name : split(row[6], ',')) {
      while (name.starts_with(' ')) name.remove_prefix(1);
      hypothesis.evidence.push_back(name);
    }
    all.push_back(std::move(hypothesis));
  }
  return all;
}

struct LaunchValue {
  std::string_view name, unit, title;
};
// What is no counter and no formula: data/hypotheses/about.md.
constexpr LaunchValue kLaunchValues[] = {
    {"duration_us", "µs", "counted duration"},
    {"runs", "", "runs"},
    {"trace_duration_us", "µs", "duration"},
    {"idle_before_us", "µs", "idle before it"},
    {"is_communication", kYesOrNoUnit, "collective"},
    {"exposed_share", "%", "exposed"},
    {"allocated_mb", "MB", "device memory in use"},
    {"registers", "", "registers per thread"},
    {"shared_bytes", "B", "shared memory per block"},
    {"block_threads", "", "threads per block"},
    {"grid_blocks", "", "blocks"},
    {"theoretical_occupancy", "%", "theoretical occupancy"},
    {"limited_by_registers", kYesOrNoUnit, "limited by registers"},
    {"limited_by_shared", kYesOrNoUnit, "limited by shared memory"},
    {"limited_by_block", kYesOrNoUnit, "limited by block size"},
    {"waves", "", "waves"},
    {"full_waves", "", "waves, rounded up"},
    {"boost_clock", "Hz", "boost clock"},
    {"peak_bandwidth", "B/s", "peak bandwidth"},
    {"peak_matrix", "FLOP/s", "peak of the tensor cores"},
    {"peak_vector", "FLOP/s", "peak of vector instructions"},
    {"vector_ridge", "FLOP/B", "ridge of the vector roofline"},
};

const CounterColumn* column_of(std::string_view name) {
  const auto found = std::ranges::find(counter_columns(), name, &CounterColumn::id);
  return found == counter_columns().end() ? nullptr : &*found;
}

const DerivedValue* derived_of(std::string_view name) {
  const auto found = std::ranges::find(derived_values(), name, &DerivedValue::name);
  return found == derived_values().end() ? nullptr : &*found;
}

// What has to be measured to know these: derived values stand for what they are made of.
void add_roots(std::string_view name, const Formula::Lookup& lookup,
               std::vector<std::string_view>& out) {
  const DerivedValue* derived = derived_of(name);
  if (derived == nullptr) {
    if (std::ranges::find(out, name) == out.end()) out.push_back(name);
    return;
  }
  // Rows refer to rows above them only, so this ends.
  for (const std::string_view part : derived->formula.missing(lookup)) add_roots(part, lookup, out);
}

}  // namespace

std::span<const Hypothesis> hypotheses() {
  static const std::vector<Hypothesis> all = read_hypotheses();
  return all;
}

std::string_view value_unit(std::string_view name) {
  if (name.starts_with("stall_")) return "%";
  if (const DerivedValue* derived = derived_of(name)) return derived->unit;
  const auto* launch = std::ranges::find(kLaunchValues, name, &LaunchValue::name);
  if (launch != std::end(kLaunchValues)) return launch->unit;
  if (const CounterColumn* column = column_of(name)) {
    // "SM clock (Hz)"
    const size_t open = column->header.rfind('(');
    if (open == std::string_view::npos || !column->header.ends_with(')')) return "";
    return column->header.substr(open + 1, column->header.size() - open - 2);
  }
  return "";
}

bool is_known_value(std::string_view name) {
  return name.starts_with("stall_") || derived_of(name) != nullptr || column_of(name) != nullptr ||
         std::ranges::find(kLaunchValues, name, &LaunchValue::name) != std::end(kLaunchValues);
}

std::string value_title(std::string_view name) {
  const auto* launch = std::ranges::find(kLaunchValues, name, &LaunchValue::name);
  if (launch != std::end(kLaunchValues)) return std::string(launch->title);
  if (name.starts_with("stall_")) return "stall " + std::string(name.substr(6));
  if (const CounterColumn* column = column_of(name))
    return std::string(column->header.substr(0, column->header.find(" (")));
  if (const DerivedValue* derived = derived_of(name); derived != nullptr)
    return std::string(derived->title);
  return std::string(name);
}

std::string value_header(std::string_view name) {
  const CounterColumn* column = column_of(name);
  return column != nullptr ? std::string(column->header) : value_title(name);
}

void add_derived_values(HardwareValues& values) {
  const Formula::Lookup lookup = [&values](std::string_view name) -> std::optional<double> {
    const auto found = values.find(name);
    if (found == values.end()) return {};
    return found->second;
  };
  for (const DerivedValue& derived : derived_values()) {
    if (const auto value = derived.formula.value(lookup))
      values.insert_or_assign(std::string(derived.name), *value);
  }
}

std::optional<double> TestedHypothesis::least_gain() const {
  if (!best) return {};
  return 2 / (1 + *best);
}

std::optional<double> TestedHypothesis::most_gain() const {
  constexpr double kSmallest = 0.001;
  if (!best) return {};
  return 1 / std::max(*best, kSmallest);
}

std::vector<TestedHypothesis> test_hypotheses(const HardwareValues& values) {
  const Formula::Lookup lookup = [&values](std::string_view name) -> std::optional<double> {
    const auto found = values.find(name);
    if (found == values.end()) return {};
    return found->second;
  };
  std::vector<TestedHypothesis> tested;
  for (const Hypothesis& hypothesis : hypotheses()) {
    const std::optional<double> applies =
        hypothesis.applies.empty() ? 1 : hypothesis.applies.value(lookup);
    if (applies && *applies == 0) continue;
    TestedHypothesis one;
    one.hypothesis = &hypothesis;
    const std::optional<double> holds = hypothesis.when.value(lookup);
    const std::optional<double> refuted =
        hypothesis.unless.empty() ? 0 : hypothesis.unless.value(lookup);
    const auto add_missing = [&](const Formula& formula) {
      for (const std::string_view name : formula.missing(lookup))
        add_roots(name, lookup, one.missing);
    };
    if (holds && *holds == 0) {
      one.verdict = Verdict::kRejected;
      one.rejecting = hypothesis.when.deciding(lookup);
    } else if (refuted && *refuted != 0) {
      one.verdict = Verdict::kRejected;
      one.rejecting = hypothesis.unless.deciding(lookup);
    } else if (applies && holds && refuted) {
      one.verdict = Verdict::kConfirmed;
      if (const auto best = hypothesis.best.value(lookup))
        one.best = std::clamp(*best, 0.0, 1.0);
      else
        add_missing(hypothesis.best);
    } else {
      add_missing(hypothesis.applies);
      add_missing(hypothesis.when);
      add_missing(hypothesis.unless);
    }
    one.command = command_for(one.missing);
    tested.push_back(std::move(one));
  }
  return tested;
}

std::string command_for(const std::vector<std::string_view>& missing) {
  std::vector<std::string_view> sets;
  bool has_allocations = false;
  for (const std::string_view name : missing) {
    std::string_view set;
    if (name.starts_with("stall_"))
      set = "stalls";
    else if (const CounterColumn* column = column_of(name))
      set = column->set;
    if (name == "duration_us") set = "basic";
    if (name == "allocated_mb")
      has_allocations = true;
    else if (!set.empty() && std::ranges::find(sets, set) == sets.end())
      sets.push_back(set);
  }
  std::erase(sets, "basic");  // part of every set
  const bool has_counters = std::ranges::any_of(missing, [](std::string_view name) {
    return name.starts_with("stall_") || name == "duration_us" || column_of(name) != nullptr;
  });
  if (!has_counters && !has_allocations) return {};
  std::string out = "fathom record";
  if (has_counters) {
    out += fmt::format(" --counters={} --replay", sets.empty()       ? "basic"
                                                  : sets.size() == 1 ? sets[0]
                                                                     : "full");
  }
  if (has_allocations) out += " --allocations";
  return out + " -- PROGRAM";
}

}  // namespace fathom
