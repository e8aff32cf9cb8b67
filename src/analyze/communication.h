#pragma once

#include <optional>
#include <string>

#include "analyze/assessment.h"

namespace fathom {

// The collectives of a scope that run on the GPU.
struct CommunicationFacts {
  size_t count = 0;
  size_t steps = 0;  // that they belong to; 0: the trace has none
  Nanos time;        // the sum of their durations
  Nanos median_time;
  std::optional<double> median_bytes;  // of their messages, where the trace has them
  double bus_bytes = 0;                // over all, as far as messages are known
  bool all_bytes = false;              // every message is known
  std::optional<int64_t> group_size;   // the largest
  // Of messages that are long enough for bandwidth to count.
  std::optional<double> bus_rate;  // bytes per second
  Nanos rated_time;
  // What overlap can still hide: no more than runs without communication beside it.
  Nanos exposed, hideable;

  double per_step() const {
    return static_cast<double>(count) / static_cast<double>(std::max<size_t>(steps, 1));
  }
};
CommunicationFacts measure_communication(const Assessment& a);

// The link that the collectives of a group can run over: the fastest of a GPU, where the group fits
// into one machine. Null: not known.
const Link* link_of(const Platform* platform, std::optional<int64_t> group_size);

}  // namespace fathom
