#pragma once

#include <string_view>

#include "base/result.h"
#include "events/event_store.h"

namespace fathom::rocprof {

// Whether a CSV's first line is that of one of rocprofv3's trace files (kernel_trace.csv,
// memory_copy_trace.csv, hip_api_trace.csv, marker_api_trace.csv …), or of rocprof's results.csv.
// Tables of counters are none: they have no timeline.
bool is_trace_header(std::string_view line);

// One such file, which is a trace by itself.
Result<EventStore> read_trace_csv(std::string_view text, const std::string& shown);

}  // namespace fathom::rocprof
