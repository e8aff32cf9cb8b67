#include "ingest/rocprof/counter_columns.h"

#include <algorithm>
#include <string>

#include "base/ascii.h"

namespace fathom::rocprof::counters {
namespace {

struct ColumnName {
  std::string_view name;
  CounterColumn role;
};

// Of all four forms, in small letters.
constexpr ColumnName kColumns[] = {
    {"dispatch_id", CounterColumn::kDispatch},
    {"index", CounterColumn::kDispatch},
    {"gpu_id", CounterColumn::kDevice},
    {"gpu-id", CounterColumn::kDevice},
    {"agent_id", CounterColumn::kDevice},
    {"node_id", CounterColumn::kIgnored},
    {"queue_id", CounterColumn::kQueue},
    {"queue-id", CounterColumn::kQueue},
    {"queue_index", CounterColumn::kIgnored},
    {"queue-index", CounterColumn::kIgnored},
    {"stream_id", CounterColumn::kIgnored},
    {"pid", CounterColumn::kProcess},
    {"process_id", CounterColumn::kProcess},
    {"tid", CounterColumn::kIgnored},
    {"thread_id", CounterColumn::kIgnored},
    {"grid_size", CounterColumn::kGrid},
    {"grd", CounterColumn::kGrid},
    {"grid_size_x", CounterColumn::kGridX},
    {"grid_size_y", CounterColumn::kGridY},
    {"grid_size_z", CounterColumn::kGridZ},
    {"workgroup_size", CounterColumn::kGroup},
    {"wgr", CounterColumn::kGroup},
    {"workgroup_size_x", CounterColumn::kGroupX},
    {"workgroup_size_y", CounterColumn::kGroupY},
    {"workgroup_size_z", CounterColumn::kGroupZ},
    {"lds_per_workgroup", CounterColumn::kShared},
    {"lds_block_size", CounterColumn::kShared},
    {"lds", CounterColumn::kShared},
    {"scratch_per_workitem", CounterColumn::kIgnored},
    {"scratch_size", CounterColumn::kIgnored},
    {"scr", CounterColumn::kIgnored},
    {"arch_vgpr", CounterColumn::kRegisters},
    {"vgpr_count", CounterColumn::kRegisters},
    {"vgpr", CounterColumn::kRegisters},
    {"accum_vgpr", CounterColumn::kAccumulators},
    {"accum_vgpr_count", CounterColumn::kAccumulators},
    {"sgpr", CounterColumn::kIgnored},
    {"sgpr_count", CounterColumn::kIgnored},
    {"fbar", CounterColumn::kIgnored},
    {"wave_size", CounterColumn::kIgnored},
    {"sig", CounterColumn::kIgnored},
    {"obj", CounterColumn::kIgnored},
    {"kernel_id", CounterColumn::kIgnored},
    {"kernel_name", CounterColumn::kKernel},
    {"kernelname", CounterColumn::kKernel},
    {"correlation_id", CounterColumn::kIgnored},
    {"xcc_index", CounterColumn::kIgnored},
    {"start_timestamp", CounterColumn::kStart},
    {"beginns", CounterColumn::kStart},
    {"end_timestamp", CounterColumn::kEnd},
    {"endns", CounterColumn::kEnd},
    {"dispatchns", CounterColumn::kIgnored},
    {"completens", CounterColumn::kIgnored},
    {"durationns", CounterColumn::kDuration},
    {"counter_name", CounterColumn::kCounterName},
    {"counter_value", CounterColumn::kCounterValue},
};

}  // namespace

CounterColumn column_of(std::string_view name) {
  const std::string small = small_letters(name);
  const auto known = [](std::string_view text) {
    const auto* found = std::ranges::find(kColumns, text, &ColumnName::name);
    return found == std::end(kColumns) ? CounterColumn::kCounter : found->role;
  };
  const CounterColumn role = known(small);
  if (role != CounterColumn::kCounter) return role;
  const size_t digits = small.find_last_not_of("0123456789");
  const bool is_copy = digits != std::string::npos && digits > 0 && digits + 1 < small.size() &&
                       small[digits] == '_' &&
                       known(small.substr(0, digits)) != CounterColumn::kCounter;
  // Without a name pandas writes the number of the row.
  return is_copy || small.empty() || small.starts_with("unnamed:") ? CounterColumn::kIgnored
                                                                   : CounterColumn::kCounter;
}

}  // namespace fathom::rocprof::counters
