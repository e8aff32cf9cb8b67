#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "events/event_store.h"

namespace fathom {

// A trace as the JSON that PyTorch's profiler writes: Perfetto and chrome://tracing show it, and
// `fathom analyze` reads it. Handed out in pieces.
using TextSink = std::function<Status(std::string_view)>;
// A track of our own beside those of the trace.
struct AddedTrack {
  struct Span {
    Nanos begin, end;
    std::string name;
    std::vector<std::pair<std::string, std::string>> args;  // shown for the span
  };
  struct Value {
    Nanos at;
    double value = 0;
  };
  std::string name;
  std::vector<Span> spans;
  std::vector<Value> values;  // of a counter; then there are no spans
};
Status write_chrome_trace(const EventStore& store, const TextSink& out,
                          const std::vector<AddedTrack>& added = {});

}  // namespace fathom
