#pragma once

#include <string_view>

#include "base/result.h"
#include "events/event_store.h"

namespace fathom::rocprof {

// Whether bytes begin like a Perfetto trace: a packet, with a field in it that packets have.
bool is_perfetto(std::string_view head);

// A Perfetto trace as far as rocprofv3 writes it (--output-format pftrace): slices on tracks with
// their debug annotations. Other slices are kept as annotations of their thread.
Result<EventStore> read_perfetto(std::string_view bytes, const std::string& shown);

}  // namespace fathom::rocprof
