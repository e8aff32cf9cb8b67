#pragma once

#include <string>

#include "base/progress.h"
#include "base/result.h"
#include "events/event_store.h"
#include "ingest/kineto/chunk_splitter.h"

namespace fathom::kineto {

struct ReadOptions {
  size_t threads = 0;  // 0: as many as the machine has
  SplitLimits limits;
  ProgressCallback progress;
  ReadingStamp* stamp = nullptr;  // of the file's bytes, for who reads by path
};

// A PyTorch profiler trace: JSON, plain or compressed; "-" is standard input.
Result<EventStore> read_trace(const std::string& path, const ReadOptions& options = {});
// From any source of JSON text; `shown` is its name in messages.
Result<EventStore> read_trace(ByteSource& source, const std::string& shown,
                              const ReadOptions& options = {});

}  // namespace fathom::kineto
