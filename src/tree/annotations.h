#pragma once

#include <vector>

#include "events/event_store.h"

namespace fathom {

// The annotations (record_function, profiler steps) of each thread as nested spans.
class Annotations {
 public:
  explicit Annotations(const EventStore& store);

  // Those that hold the whole event, on its own thread, the innermost first. Of a hundred and more
  // that are open, only the innermost are looked at.
  std::vector<EventId> around(EventId event) const;

 private:
  struct Span {
    TrackId track;
    Nanos begin, end;
    EventId event;
    int64_t parent;  // into spans_; -1: none
  };
  const EventStore& store_;
  std::vector<Span> spans_;  // by track, then begin, the longer first
};

}  // namespace fathom
