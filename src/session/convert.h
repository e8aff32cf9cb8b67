#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "session/trace.h"

namespace fathom {

// Writes the trace as JSON that Perfetto shows, compressed where the name ends in .zst; whole or
// not at all. Refuses a file that is there, unless forced. Returns the file's size.
Result<int64_t> convert_trace(const Trace& trace, const std::filesystem::path& out, bool force);

}  // namespace fathom
