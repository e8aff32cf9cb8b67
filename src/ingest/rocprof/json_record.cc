#include "ingest/rocprof/json_record.h"

namespace fathom::rocprof {
namespace {

bool is_inner(std::string_view key) {
  for (const std::string_view known :
       {"correlation_id", "dispatch_info", "agent_id", "queue_id", "stream_id", "src_agent_id",
        "dst_agent_id", "workgroup_size", "grid_size"}) {
    if (key == known) return true;
  }
  return false;
}

std::optional<int64_t>* slot(JsonRecord& r, std::string_view key, std::string_view around) {
  struct Slot {
    std::string_view around, key;
    std::optional<int64_t>* number;
  };
  const Slot slots[] = {
      {"", "start_timestamp", &r.begin},
      {"", "end_timestamp", &r.end},
      {"", "kind", &r.kind},
      {"", "operation", &r.operation},
      {"", "thread_id", &r.thread},
      {"", "bytes", &r.bytes},
      {"correlation_id", "internal", &r.correlation},
      {"correlation_id", "ancestor", &r.ancestor},
      {"dispatch_info", "kernel_id", &r.kernel},
      {"dispatch_info", "group_segment_size", &r.dispatch.lds},
      {"agent_id", "handle", &r.agent},
      {"queue_id", "handle", &r.queue},
      {"stream_id", "handle", &r.stream},
      {"src_agent_id", "handle", &r.source},
      {"dst_agent_id", "handle", &r.target},
      {"workgroup_size", "x", &r.dispatch.workgroup[0]},
      {"workgroup_size", "y", &r.dispatch.workgroup[1]},
      {"workgroup_size", "z", &r.dispatch.workgroup[2]},
      {"grid_size", "x", &r.dispatch.grid[0]},
      {"grid_size", "y", &r.dispatch.grid[1]},
      {"grid_size", "z", &r.dispatch.grid[2]},
  };
  for (const Slot& s : slots) {
    if (s.key == key && s.around == around) return s.number;
  }
  return nullptr;
}

// Handles, sizes and dimensions are objects inside: `around` is the key they stand under.
void read_record(JsonCursor& json, JsonRecord& r, std::string_view around, int depth) {
  constexpr int kDeepest = 4;
  if (depth > kDeepest) return json.skip();
  if (!json.enter('{')) return;
  while (const auto key = json.next_key()) {
    if (std::optional<int64_t>* const number = slot(r, *key, around)) {
      *number = json.integer();
    } else if (is_inner(*key)) {
      read_record(json, r, *key, depth + 1);
    } else {
      json.skip();
    }
  }
}

}  // namespace

void read_json_record(JsonCursor& json, JsonRecord& record) { read_record(json, record, {}, 0); }

}  // namespace fathom::rocprof
