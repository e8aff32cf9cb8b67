#pragma once

#include <string>
#include <vector>

#include "base/table.h"
#include "measure/counter_join.h"
#include "sheets/gpu_selection.h"

// What hardware counters say of kernels. Columns: data/metrics/columns.tsv.
namespace fathom {

// The runs of a kernel and shape in the scope.
struct LaunchGroup {
  KernelLaunch launch;
  EventId first;
  std::vector<EventId> events;
  Nanos time;
};
// The longest first.
std::vector<LaunchGroup> group_launches(const SheetInput& input);
// The rows that count: of an exact join those of the selected runs; slow ones only where all are.
std::vector<CounterRowId> counted_rows(const SheetInput& input, const JoinedCounters& joined);
std::string_view quality_text(JoinQuality quality);
std::string_view trust_text(const JoinedCounters& joined);

// A row for each kernel and shape of launch in the scope, the longest first, and each file with
// counters of it; those without any too, with join "none".
Table kernel_counters_sheet(const SheetInput& input);

// The same of counters alone: each kernel and shape in each file, by the time that was counted.
Table kernel_counters_sheet(const std::vector<CounterFile>& files);

// Every value of every launch as the tool gives it, in base units: a line for each. `left_out`: how
// many did not fit below `limit`.
Table counters_sheet(const std::vector<CounterFile>& files, size_t limit, size_t& left_out);
constexpr size_t kMaxCounterLines = 1'000'000;

}  // namespace fathom
