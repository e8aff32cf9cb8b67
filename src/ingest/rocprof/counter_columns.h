#pragma once

#include <cstdint>
#include <string_view>

namespace fathom::rocprof::counters {

// What a column of a table of counters holds.
enum class CounterColumn : uint8_t {
  kCounter,  // a column of values
  kIgnored,
  kDispatch,
  kDevice,
  kQueue,
  kProcess,
  kGrid,
  kGridX,
  kGridY,
  kGridZ,
  kGroup,
  kGroupX,
  kGroupY,
  kGroupZ,
  kShared,
  kRegisters,
  kAccumulators,
  kKernel,
  kStart,
  kEnd,
  kDuration,
  kCounterName,
  kCounterValue,
};

// By its name in the header. pandas numbers the columns that several of its tables had:
// "Wave_Size_1".
CounterColumn column_of(std::string_view name);

}  // namespace fathom::rocprof::counters
