#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"
#include "events/event_store.h"

namespace fathom {

// A trace as the JSON that PyTorch's profiler writes: Perfetto and chrome://tracing show it, and
// `fathom analyze` reads it. Handed out in pieces.
using TextSink = std::function<Status(std::string_view)>;
Status write_chrome_trace(const EventStore& store, const TextSink& out);

}  // namespace fathom
