#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace fathom {

// What can be tracked: rows of data/plan/metrics.tsv joined with data/features/metrics.tsv.
struct PlanMetric {
  std::string_view id, title, unit, how;
  Level level = Level::kProcess;
  std::string_view record;                 // option of `fathom record` that captures it; "run"
  std::vector<std::string_view> counters;  // NVIDIA; "a|b": the first that the chip has
  std::vector<std::string_view> amd;       // counters of rocprofv3
  std::vector<std::string_view> programs;  // components, one of which the program must have
  std::string_view amd_how = {};           // what to do with AMD's counters, beside `how`
};

const std::vector<PlanMetric>& plan_metrics();
const PlanMetric* find_plan_metric(std::string_view id);  // null: there is none

// The chip of an NVIDIA platform as CUPTI calls it ("GH100" of "sm_90"); empty: unknown.
std::string_view chip_of(std::string_view architecture);

// A metric's counters on a chip. An empty chip: those that all known chips have.
struct ChipCounters {
  std::vector<std::string> names;
  std::string set;                // the smallest set that has all of them; empty: none has
  std::optional<int64_t> passes;  // of the one that needs most, alone; unknown without a chip
  bool exists() const { return !names.empty(); }
};
ChipCounters counters_on(const PlanMetric& metric, std::string_view chip);

// What is wrong with a counter's name on a chip (empty: on any), with the closest one that it has;
// empty: nothing, or nobody knows. Another rollup of a counter that the chip has is fine.
std::string counter_mistake(std::string_view name, std::string_view chip);

// What a set costs on a chip; nothing where it is not known.
struct SetPasses {
  int64_t groups = 0, several = 0, replay = 0;
};
std::optional<SetPasses> set_passes(std::string_view chip, std::string_view set);

// Whether `fathom record` has an option of this name ("--probe"), and whether it takes a value as
// an argument of its own.
enum class RecordOption : uint8_t { kNone, kFlag, kValue, kOptionalValue };
RecordOption record_option(std::string_view name);
std::vector<std::string> record_option_names();

}  // namespace fathom
