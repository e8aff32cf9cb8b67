#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "events/event_store.h"
#include "sheets/time_base.h"

// What waited for what, in the steps of a recording: host segments of each thread, GPU work of each
// stream, and edges between them. Nodes are in an order of time in which each edge leads forward.
// docs/critical-path.md says which edges there are and what is known of them.
namespace fathom {

enum class NodeKind : uint8_t {
  kHost,    // host time between two such points: slices of ops, calls and what is outside them
  kLaunch,  // host time in a call that puts work on the GPU
  kSync,    // what a call takes after the GPU work that it waited for has ended
  kPause,   // host time that may be a wait for another thread, or work that was not recorded
  kKernel,
  kCollective,
  kCopy,
  kMemset,
  kCount
};
constexpr bool is_on_gpu(NodeKind kind) { return kind >= NodeKind::kKernel; }

// A part of a host node: exclusive time of a call, or (invalid) outside all recorded calls. What is
// longer than a uint32 of nanoseconds is several.
struct HostSlice {
  EventId event;
  uint32_t length = 0;
};

// An edge beyond the order of a thread or stream and the launch.
struct GraphEdge {
  enum class Kind : uint8_t {
    kWait,      // a call waits for GPU work, or a stream for an event: recorded
    kHandover,  // one thread waits for another
    // Nothing recorded explains why the node began so late; this work ended right before it began.
    kInferred,
    kPossible,  // a wait call was recorded, but not what it waits for: it may be this
  };
  uint32_t node = 0, before = 0;
  Kind kind = Kind::kWait;
};

constexpr uint32_t kNoNode = UINT32_MAX;

class CriticalGraph {
 public:
  size_t size() const { return kind.size(); }
  bool empty() const { return kind.empty(); }
  int64_t end(uint32_t node) const { return start[node] + duration[node]; }

  std::span<const HostSlice> slices_of(uint32_t node) const {
    return std::span(slices).subspan(first_slice[node], slice_count[node]);
  }

  // By node. Times are nanoseconds after the window's begin.
  std::vector<int64_t> start, duration;
  std::vector<EventId> event;         // invalid for a host node, which has slices
  std::vector<uint32_t> previous;     // on the same thread or stream; kNoNode: the first
  std::vector<uint32_t> launch;       // of GPU work: the host node that released it
  std::vector<uint32_t> first_slice;  // of a host node
  std::vector<uint16_t> slice_count;
  std::vector<NodeKind> kind;
  std::vector<HostSlice> slices;
  std::vector<GraphEdge> edges;  // by node

  Nanos begin;                   // of the window
  int64_t length = 0;            // of the window: to the end of the last step and of its GPU work
  size_t steps = 0;              // in the window; 0: the recording has none, it is all of it
  size_t all_steps = 0;          // of the scope; more than in the window where it is large
  uint32_t last_host = kNoNode;  // the end of the thread that runs the steps; none: all nodes count
  // Usual time from the launch call to the start of its work where nothing else holds it up, and
  // between two of one stream.
  int64_t launch_latency = 0, stream_gap = 0;
  // The profiler's own work on the host (buffers, instrumentation), merged, from `begin` on.
  std::vector<std::pair<int64_t, int64_t>> profiler;
  size_t early_work = 0;     // GPU work that begins before its launch: clocks differ
  std::string_view missing;  // why there is no graph; empty: there is one
};

CriticalGraph build_critical_graph(const SheetInput& input, const TimeBase& base);

}  // namespace fathom
