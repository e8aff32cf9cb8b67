#pragma once

#include <string>

#include "base/byte_source.h"
#include "base/progress.h"
#include "base/result.h"
#include "events/event_store.h"

namespace fathom::capture {

struct ReadOptions {
  int64_t max_size = int64_t{64} << 30;
  ProgressCallback progress;
};

// What `fathom record` wrote of one process; also of one that was killed.
Result<EventStore> read_capture(ByteSource& source, const std::string& shown,
                                const ReadOptions& options = {});

}  // namespace fathom::capture
