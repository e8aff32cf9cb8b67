#include "session/trace.h"

#include "base/threads.h"
#include "events/store_file.h"
#include "ingest/capture/chunk_reader.h"
#include "ingest/capture/reader.h"
#include "ingest/kineto/reader.h"

namespace fathom {
namespace {

// A smaller trace is read as fast as its columns could be opened.
constexpr int64_t kWorthCaching = 16 << 20;

bool is_capture_file(const std::string& path) {
  if (path == "-") return false;
  const Result<std::unique_ptr<ByteSource>> source = open_source(path);
  if (!source.ok()) return false;
  char head[8] = {};
  const Result<size_t> got = source.value()->read(head);
  return got.ok() && capture::is_capture({head, got.value()});
}

Result<Trace> open_capture(const std::string& path, const OpenOptions& options) {
  capture::ReadOptions read;
  if (options.max_size > 0) read.max_size = options.max_size;
  read.progress = options.progress;
  const std::unique_ptr<ByteSource> source = TRY(open_source(path));
  EventStore store = TRY(capture::read_capture(*source, path, read));
  CallTree tree = build_call_tree(store);
  return Trace{path, std::move(store), std::move(tree), false, {}};
}

}  // namespace

Result<Trace> open_trace(const std::string& path, const OpenOptions& options) {
  if (is_capture_file(path)) return open_capture(path, options);
  // A program that was changed may read the same trace in another way.
  const bool asked = !options.cache.empty() && path != "-";
  const uint64_t program = asked ? stamp_of("/proc/self/exe").value_or(ContentStamp{}).content : 0;
  const bool may_cache = program != 0;
  if (may_cache) {
    if (std::optional<EventStore> store = StoreFile::load(options.cache, path, program)) {
      CallTree tree = build_call_tree(*store);
      return Trace{path, std::move(*store), std::move(tree), true, {}};
    }
  }
  kineto::ReadOptions read;
  read.threads = options.threads;
  read.progress = options.progress;
  if (options.max_size > 0) read.limits.max_size = options.max_size;
  ReadingStamp stamp;
  if (may_cache && options.keep) read.stamp = &stamp;
  EventStore store = TRY(kineto::read_trace(path, read));
  Trace trace{path, std::move(store), {}, false, {}};
  const bool whole = trace.store.diagnostics().count(Flaw::kSizeLimit) == 0;
  if (stamp.value() && whole && trace.store.input_bytes() >= kWorthCaching) {
    const StoreFile::Origin origin{*stamp.value(), program};
    // A copy of the store shares its columns.
    trace.saving = start_beside([store = trace.store, origin, file = options.cache] {
      return StoreFile::save(store, origin, file);
    });
  }
  trace.tree = build_call_tree(trace.store);
  return trace;
}

const Platform* detect_platform(const Trace& trace) {
  const std::vector<GpuProperties>& gpus = trace.store.metadata().gpus;
  if (gpus.empty()) return nullptr;
  const GpuProperties& gpu = gpus.front();
  return Platforms::built_in().detect({gpu.name, gpu.memory_bytes, gpu.multiprocessors});
}

}  // namespace fathom
