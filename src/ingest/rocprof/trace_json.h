#pragma once

#include <string_view>

#include "base/result.h"
#include "events/event_store.h"

namespace fathom::rocprof {

inline constexpr std::string_view kJsonKey = "\"rocprofiler-sdk-tool\"";

// rocprofv3 --output-format json: kernel dispatches, copies, HIP, HSA and ROCTx calls. A text that
// breaks off gives what came before.
Result<EventStore> read_trace_json(std::string_view text, const std::string& shown);

}  // namespace fathom::rocprof
