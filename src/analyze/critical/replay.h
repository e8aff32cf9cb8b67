#pragma once

#include <vector>

#include "analyze/critical/graph.h"

// Replays a critical graph: with recorded durations it gives the recorded times, with changed ones
// the times that would follow.
namespace fathom {

// What is not recorded can be taken in two ways. Pessimistic: delays that nothing explains stay as
// long as they were, and possible waits are waits. Optimistic: such a delay ends with its inferred
// cause, possible waits are none, and pauses end with the other thread's work.
enum class Outlook : uint8_t { kPessimistic, kOptimistic };

// Of each node; a removed one has no duration, no latency and, on the host, waits for nothing.
struct GraphChange {
  std::vector<int64_t> duration;
  std::vector<bool> removed;

  explicit GraphChange(const CriticalGraph& graph);
};

struct Replayed {
  std::vector<int64_t> ends;
  int64_t length = 0;       // of the window
  uint32_t last = kNoNode;  // the node that ends it
};
void replay(const CriticalGraph& graph, const GraphChange& change, Outlook outlook,
            Replayed& replayed);

// How a part of the path came to begin when it did.
enum class PathLink : uint8_t {
  kNone,     // the first
  kOrder,    // after the one before it on its thread or stream
  kLaunch,   // released by the host
  kWait,     // after what it waited for
  kInferred  // likewise, by the times alone
};
// A node on the critical path, with the delay before it: from the end of its predecessor.
struct PathStep {
  int64_t delay = 0;  // negative where the two overlap
  uint32_t node = 0;
  PathLink link = PathLink::kNone;
};
// From the last to the first, of an optimistic replay. Delays and the changed durations add up to
// the length.
std::vector<PathStep> find_path(const CriticalGraph& graph, const GraphChange& change,
                                const Replayed& replayed);
// Of a node on it; a pause is the wait that it may be.
int64_t time_on_path(const CriticalGraph& graph, const GraphChange& change, uint32_t node);

// By node: how much later it could end without making the window longer.
std::vector<int64_t> find_slack(const CriticalGraph& graph);

}  // namespace fathom
