#pragma once

#include "report/timeline/timeline_text.h"
#include "session/trace.h"

namespace fathom {

// The timeline of a trace for a terminal. Fails where the trace has no events.
Result<TerminalTimeline> make_timeline(const Trace& trace);

}  // namespace fathom
