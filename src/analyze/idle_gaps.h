#pragma once

#include <vector>

#include "events/intervals.h"
#include "sheets/gpu_selection.h"

// Why the GPU had nothing to do.
namespace fathom {

// What the host did while the GPU waited.
enum class IdleCause : uint8_t {
  kCommunication,
  kSynchronization,
  kDataLoading,
  kFirstUse,
  kHost,      // the next work was launched only after the last had ended
  kHostWork,  // so it was, after a long time in which no call of the host was recorded
  kOther,
  kCount
};
// For programs: "host", "synchronization".
std::string_view idle_cause_name(IdleCause cause);

struct IdleGap {
  Interval gap;
  EventId before, after;  // the work that ended last, and the work that ends the gap
  IdleCause cause = IdleCause::kOther;
  StringId blamed;  // name of what held up the host; invalid: nothing in particular
};

struct IdleGaps {
  std::vector<IdleGap> gaps;  // in the order of time
  size_t waits = 0;           // calls of the host that wait for the GPU
};

// The gaps of some GPU work, over all streams and devices.
IdleGaps find_idle_gaps(const SheetInput& input, std::vector<EventId> work);

}  // namespace fathom
