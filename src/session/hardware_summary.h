#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "events/stall_samples.h"
#include "report/trace/summary.h"
#include "session/trace.h"

namespace fathom {

// The PC samples inside a capture; none: it is no capture, or has none.
Result<std::optional<StallSamples>> open_capture_samples(const Trace& trace);

// "long_scoreboard 91 %, wait 4 %": why warps wait at a place, the two most frequent reasons.
struct StalledPlace;
std::string stall_reasons_text(const StalledPlace& place);

// The lines where the kernels with the most GPU time wait most.
Summary::Stalls summarize_stalls(const SheetInput& input, const StallSamples& samples);

// The scope's clocks and power; none where the trace has no such numbers.
std::optional<Summary::Clocks> summarize_clocks(const SheetInput& input);

}  // namespace fathom
