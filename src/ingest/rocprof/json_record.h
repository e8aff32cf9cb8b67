#pragma once

#include <optional>

#include "ingest/rocprof/json_cursor.h"
#include "ingest/rocprof/trace_rows.h"

namespace fathom::rocprof {

// The numbers of one record, of whatever kind; those that it has.
struct JsonRecord {
  Dispatch dispatch;
  std::optional<int64_t> kind, operation, thread, correlation, ancestor, begin, end, bytes;
  std::optional<int64_t> agent, source, target, queue, stream, kernel;
};

void read_json_record(JsonCursor& json, JsonRecord& record);

}  // namespace fathom::rocprof
