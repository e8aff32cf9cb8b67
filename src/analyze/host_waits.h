#pragma once

#include <unordered_set>
#include <vector>

#include "analyze/host_threads.h"
#include "analyze/idle_gaps.h"
#include "tree/recorded_waits.h"

namespace fathom {

// A wait that ended when all work launched before it had; or a call that allocates or frees memory,
// which may wait too.
struct Drain {
  EventId wait;
  Nanos end;
  Nanos waited;
  IdleCause cause;
};

// What is known of waits, for all GPUs.
struct HostWaits {
  HostWaits(const SheetInput& input, const HostThreads& threads);

  RecordedWaits recorded;
  std::vector<Drain> drains;  // by their ends
  // Ops of PyTorch that wait for the GPU, by their outermost op: launches that are late inside one
  // are part of what it costs.
  std::unordered_set<EventId> ops;
};

}  // namespace fathom
