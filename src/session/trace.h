#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <string>

#include "base/byte_source.h"
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
  // The bytes of a capture that came through a pipe, which cannot be read again; else null.
  std::shared_ptr<const std::string> kept = nullptr;

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

// A trace's file once more, from its begin. Only of a trace that is a file, or whose bytes are
// kept.
Result<std::unique_ptr<ByteSource>> open_again(const Trace& trace);
// Whether it is a capture whose other records, such as counters, can be read.
bool is_readable_capture(const Trace& trace);

Result<Trace> open_trace(const std::string& path, const OpenOptions& options = {});

// What the trace's GPU is among those known here; null where it does not say or is not known.
// Of a machine with several, the GPU with this number, or that of the first work.
const Platform* detect_platform(const Trace& trace, std::optional<int32_t> device = {});
// All that fit what the trace tells of its GPU, where that is more than one.
std::vector<const Platform*> fitting_platforms(const Trace& trace,
                                               std::optional<int32_t> device = {});

// Fails on a recording of nothing: a mistake that a report would only hide.
Status check_has_events(const Trace& trace);

}  // namespace fathom
