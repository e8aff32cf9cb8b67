#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "report/timeline/chrome_trace.h"
#include "session/trace.h"

namespace fathom {

// Writes the trace as JSON that Perfetto shows, compressed where the name ends in .gz or .zst;
// whole or not at all. Refuses a file that is there, unless forced. Returns the file's size.
// `added`: tracks of our own in it.
Result<int64_t> convert_trace(const Trace& trace, const std::filesystem::path& out, bool force,
                              const std::vector<AddedTrack>& added = {});

// What an analysis found, as tracks: phases, idle time by cause, the critical path, findings and
// how many launches were waiting. Fails where the trace has nothing to analyze.
Result<std::vector<AddedTrack>> analysis_tracks(const Trace& trace);

}  // namespace fathom
