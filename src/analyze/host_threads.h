#pragma once

#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "events/intervals.h"
#include "tree/call_tree.h"

// What the threads of the host do at a time: the question that each moment of an idle GPU asks.
namespace fathom {

// What profilers record of their own work on the host (buffers, instrumentation), merged.
std::vector<Interval> profiler_overheads(const EventStore& store);

// What a call, a range or a Python frame is for, as far as that explains an idle GPU.
enum class HostRole : uint8_t {
  kNone,
  kLaunch,         // puts work on the GPU
  kWait,           // until the GPU has finished
  kAllocation,     // of memory of the GPU, or of the host for it
  kFirstUse,       // loading, compilation, autotuning, capture
  kInput,          // data loaders
  kCommunication,  // collectives that run on the host
  kProfiler,       // its own overhead
};

// Roles of events by their names; each name is looked at once.
class HostRoles {
 public:
  HostRoles(const EventStore& store, const CallTree& tree);
  HostRole of(EventId event) const;
  // Whether it is an op with a namespace: no range of the program, which old traces have as ops.
  bool is_named_op(EventId event) const;
  // Whether a thread captures a graph when the event begins: nothing that it launches runs then.
  bool is_captured(EventId event) const;

 private:
  uint8_t known(EventId event) const;
  void find_slow_first_calls();
  void find_slow_first_sizes(const std::function<bool(EventId)>& is_slow);
  void find_blocking_copies();
  void find_captures();

  const EventStore& store_;
  const CallTree& tree_;
  mutable std::vector<uint8_t> by_name_;  // for calls and frames apart
  // The first call of an op that takes ten times as long as a later one sets something up. A copy
  // that was done when its call returned has blocked the host: from or to pageable memory.
  std::unordered_set<EventId> slow_first_, blocking_;
  std::unordered_map<TrackId, std::vector<Interval>> captures_;  // in the order of time
};

// A stretch of one thread's time in which the same call, or the same frame, is the innermost.
struct HostStretch {
  Interval when;
  EventId event;                      // invalid: none is open
  EventId op;                         // the outermost op around it, or it; invalid: none
  HostRole role = HostRole::kNone;    // of the event
  HostRole around = HostRole::kNone;  // first use, input or communication, of it or one around it
};

// Calls, ranges or frames of one thread, read forward in time.
class HostReader {
 public:
  HostReader() = default;
  // Events that the store holds; ordered by begin, the longer first.
  HostReader(const EventStore& store, const HostRoles& roles, std::vector<EventId> events);

  bool empty() const { return events_.empty(); }
  const std::vector<EventId>& events() const { return events_; }
  void rewind() {
    next_ = 0;
    open_.clear();
  }
  // Calls take(HostStretch) for each stretch of an interval. Intervals come in the order of time,
  // so that all reads together cost what the thread has events.
  template <typename Take>
  void read(const Interval& when, Take take) {
    for (Nanos at = when.begin; at < when.end;) {
      if (!empty()) open_until(at);
      Nanos to = when.end;
      HostStretch stretch;
      if (!open_.empty()) {
        to = std::min(to, open_.back().end);
        stretch.event = open_.back().event;
        stretch.op = open_.back().op;
        stretch.role = open_.back().role;
        stretch.around = open_.back().around;
      }
      if (next_ < events_.size()) to = std::min(to, store_->start(events_[next_]));
      stretch.when = {at, to};
      take(stretch);
      at = to;
    }
  }

 private:
  struct Open {
    Nanos end;
    EventId event, op;
    HostRole role, around;
  };
  void open_until(Nanos time);

  const EventStore* store_ = nullptr;
  const HostRoles* roles_ = nullptr;
  std::vector<EventId> events_;
  std::vector<Open> open_;
  size_t next_ = 0;
};

struct HostThread {
  HostReader calls, frames, ranges;
  size_t launches = 0;  // of GPU work
};

// The threads of a trace.
class HostThreads {
 public:
  HostThreads(const EventStore& store, const CallTree& tree);

  // Null for a track without events of the host.
  HostThread* find(TrackId track);
  // The thread of most launches; invalid without any.
  TrackId main() const { return main_; }
  // Back to the beginning, for another GPU.
  void rewind();
  // Overheads that a profiler noted, of no thread: loading of functions, and its own.
  HostReader& overheads() { return overheads_; }
  // Calls that wait for the GPU, or may because they allocate or free memory, on threads that
  // launch work, in the order of time.
  const std::vector<EventId>& waits() const { return waits_; }
  HostRole role(EventId event) const { return roles_.of(event); }
  bool is_named_op(EventId event) const { return roles_.is_named_op(event); }
  bool has_frames() const { return has_frames_; }

 private:
  HostRoles roles_;
  std::unordered_map<TrackId, HostThread> threads_;
  HostReader overheads_;
  std::vector<EventId> waits_;
  TrackId main_;
  bool has_frames_ = false;
};

}  // namespace fathom
