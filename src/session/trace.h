#pragma once

#include <filesystem>
#include <future>
#include <string>

#include "base/progress.h"
#include "base/result.h"
#include "events/event_store.h"
#include "platform/platform.h"
#include "sheets/scope.h"
#include "tree/call_tree.h"

namespace fathom {

// A trace, read and linked.
struct Trace {
  std::string path;
  EventStore store;
  CallTree tree;
  bool from_cache = false;
  // Writes the cache while the trace is analysed; waited for at the end.
  std::future<Status> saving = {};

  // The tool that recorded it, and its version as far as the file tells; empty: it does not.
  const std::string& source() const { return store.metadata().source; }
};

struct OpenOptions {
  size_t threads = 0;    // 0: as many as the machine has
  int64_t max_size = 0;  // of the input, decompressed, in bytes; 0: the reader's own limit
  // Where the columns of a large trace may be kept; empty: nowhere.
  std::filesystem::path cache;
  bool keep = true;  // keep them there for the next time; else only look
  ProgressCallback progress;
};

Result<Trace> open_trace(const std::string& path, const OpenOptions& options = {});

// What the trace's GPU is among those known here; null where it does not say or is not known.
// Of a machine with several, the GPU with this number, or that of the first work.
const Platform* detect_platform(const Trace& trace, std::optional<int32_t> device = {});

// Fails on a recording of nothing: a mistake that a report would only hide.
Status check_has_events(const Trace& trace);

}  // namespace fathom
