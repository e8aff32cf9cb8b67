#pragma once

#include <vector>

#include "sheets/gpu_selection.h"

namespace fathom {

// GPU work in the order of time, and which of it each moment belongs to. Where several events run
// at once, computation counts before communication, and that before copies; of equals, the latest.
struct WorkShares {
  std::vector<EventId> work;
  std::vector<Nanos> owned;  // of each; adds up to the time in which anything ran
};
WorkShares share_time(const SheetInput& input, std::vector<EventId> work);

// Copies between memories, also where a recorder shows them as kernels; and memsets.
bool is_copy_work(const EventStore& store, EventId event);

}  // namespace fathom
