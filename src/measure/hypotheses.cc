#include "measure/hypotheses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>

#include "base/tsv.h"
#include "measure/counter_columns.h"

extern const std::string_view hypotheses_tsv, derived_values_tsv;

namespace fathom {
namespace {

struct DerivedValue {
  std::string_view name, unit, title;
  Formula formula;
};

const std::vector<DerivedValue>& derived_values() {
  static const std::vector<DerivedValue> all = [] {
    std::vector<DerivedValue> rows;
    for (const auto& row : read_tsv(derived_values_tsv, 4))
      rows.push_back({row[0], row[1], row[2], Formula::built_in(row[3])});
    return rows;
  }();
  return all;
}

std::vector<std::string_view> listed_names(std::string_view text) {
  std::vector<std::string_view> names;
  for (std::string_view name : split(text, ',')) {
    while (name.starts_with(' ')) name.remove_prefix(1);
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

std::vector<Hypothesis> read_hypotheses() {
  std::vector<Hypothesis> all;
  for (const auto& row : read_tsv(hypotheses_tsv, 12)) {
    Hypothesis hypothesis{row[0],
                          row[1],
                          Formula::built_in(row[2]),
                          Formula::built_in(row[3]),
                          Formula::built_in(row[4]),
                          Formula::built_in(row[5]),
                          row[6],
                          listed_names(row[7]),
                          listed_names(row[8]),
                          row[9],
                          row[10],
                          row[11],
                          fmt::format("{}{}{}", row[9], row[10].empty() ? "" : " ", row[10])};
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
    {"copies_around_us", "µs", "copies to and from the host around it"},
    {"is_communication", kYesOrNoUnit, "collective"},
    {"exposed_share", "%", "exposed"},
    {"allocated_mb", "MB", "device memory in use"},
    {"narrow_type", kYesOrNoUnit, "FP16, BF16 or FP8 in its name"},
    {"block_spread", "", "time of a block, longest over mean"},
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
    {"block_imbalance", "", "blocks of an SM, largest over mean"},
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

double micros_before(const Hypothesis& hypothesis, const HardwareValues& values) {
  double micros = 0;
  for (const std::string_view name : hypothesis.best.names()) {
    if (name != "idle_before_us" && name != "copies_around_us") continue;
    if (const auto found = values.find(name); found != values.end()) micros += found->second;
  }
  return micros;
}

namespace {

// What saves less is none: counters and times differ by as much from run to run.
constexpr double kLeastSaving = 0.1;

// The time left at best, and no less than the busiest unit whose work stays needs.
void add_best(const HardwareValues& values, const Formula::Lookup& lookup, TestedHypothesis& one) {
  const Hypothesis& hypothesis = *one.hypothesis;
  if (hypothesis.best.empty()) return;
  const auto best = hypothesis.best.value(lookup);
  std::optional<double> bound = 0;
  if (!hypothesis.bound.empty()) bound = lookup(hypothesis.bound);
  if (!best || !bound) {
    for (const std::string_view name : hypothesis.best.missing(lookup))
      add_roots(name, lookup, one.missing);
    if (!bound) add_roots(hypothesis.bound, lookup, one.missing);
    return;
  }
  one.best = std::clamp(std::max(*best, *bound / 100), 0.0, 1.0);
  // A range that assumes half the work says what the limit is, not that there is a fault.
  const bool is_assumed = !hypothesis.range.empty();
  if (is_assumed || *one.best <= 1 - kLeastSaving) return;
  one.verdict = Verdict::kRejected;
  one.best.reset();
  if (*bound / 100 > *best)
    one.rejecting = {hypothesis.bound};
  else
    one.rejecting = hypothesis.best.deciding(lookup);
  std::erase_if(one.rejecting, [&values](std::string_view name) { return !values.contains(name); });
}

// Causes before what they explain, then by the time that is saved.
void rank(const HardwareValues& values, std::vector<TestedHypothesis>& tested) {
  const auto is_confirmed = [](const TestedHypothesis& one) {
    return one.verdict == Verdict::kConfirmed;
  };
  for (TestedHypothesis& one : tested) {
    if (!is_confirmed(one)) continue;
    for (const std::string_view cause : one.hypothesis->explained_by) {
      if (std::ranges::any_of(tested, [&](const TestedHypothesis& other) {
            return is_confirmed(other) && other.hypothesis->id == cause;
          })) {
        one.explained_by = cause;
        break;
      }
    }
  }
  const auto run = values.find("trace_duration_us");
  const double micros = run == values.end() ? 1 : run->second;
  const auto place = [&](const TestedHypothesis& one) {
    const double saved = one.best ? 1 - *one.best : 0;
    return std::tuple(
        !is_confirmed(one), !one.explained_by.empty(),
        is_confirmed(one) ? -saved * (micros + micros_before(*one.hypothesis, values)) : 0);
  };
  std::ranges::stable_sort(tested, std::less<>(), place);
}

}  // namespace

CountingTool counting_tool(const CounterOrigin& origin) {
  if (origin.tool == "Nsight Compute") return CountingTool::kNcu;  // source text: its name
  return origin.tool.starts_with("rocprof") ? CountingTool::kRocprof : CountingTool::kRecord;
}

std::vector<TestedHypothesis> test_hypotheses(const HardwareValues& values, CountingTool tool,
                                              ListMissing list) {
  // A name of a formula lies at one place of the data, and is asked for again and again.
  std::unordered_map<const char*, std::optional<double>> known;
  const Formula::Lookup lookup = [&](std::string_view name) -> std::optional<double> {
    const auto [at, is_new] = known.try_emplace(name.data());
    if (is_new)
      if (const auto found = values.find(name); found != values.end()) at->second = found->second;
    return at->second;
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
      if (list == ListMissing::kNo) return;
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
      add_best(values, lookup, one);
    } else {
      add_missing(hypothesis.applies);
      add_missing(hypothesis.when);
      add_missing(hypothesis.unless);
    }
    if (list == ListMissing::kYes) one.command = command_for(one.missing, tool);
    tested.push_back(std::move(one));
  }
  rank(values, tested);
  return tested;
}

namespace {

// A run of rocprofv3 counts what fits one pass.
std::string rocprof_command(const std::vector<std::string_view>& missing) {
  std::string names;
  for (const std::string_view name : missing) {
    const CounterColumn* column = column_of(name);
    if (column == nullptr || column->rocprof.empty()) return {};
    names += fmt::format(" {}", fmt::join(column->rocprof, " "));
  }
  return names.empty() ? names : fmt::format("rocprofv3 --pmc{} -- PROGRAM", names);
}

// Empty: ncu cannot tell one of them, such as device memory in use, or none is a counter.
std::string ncu_command(const std::vector<std::string_view>& missing) {
  constexpr size_t kTypable = 4;
  std::vector<std::string_view> extra;
  bool has_counters = false, is_in_set = false;
  for (const std::string_view name : missing) {
    const CounterColumn* column = column_of(name);
    if (name == "allocated_mb") return {};
    const bool is_counter =
        column != nullptr || name.starts_with("stall_") || name == "duration_us";
    has_counters |= is_counter;
    is_in_set |= is_counter && (column == nullptr || !column->beyond_full);
    if (column == nullptr || !column->beyond_full) continue;
    for (const std::string_view metric : column->ncu)
      if (std::ranges::find(extra, metric) == extra.end()) extra.push_back(metric);
  }
  if (!has_counters) return {};
  // With the set much becomes known, and what is left then is a shorter list.
  if (is_in_set && extra.size() > kTypable) extra.clear();
  return fmt::format("ncu --set full{}{} --page raw --csv --log-file counters.csv PROGRAM",
                     extra.empty() ? "" : " --metrics ", fmt::join(extra, ","));
}

}  // namespace

std::string command_for(const std::vector<std::string_view>& missing, CountingTool tool) {
  if (tool == CountingTool::kRocprof) return rocprof_command(missing);
  if (tool == CountingTool::kNcu) return ncu_command(missing);
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
