#include "session/trace.h"

#include "events/store_file.h"
#include "ingest/kineto/reader.h"

namespace fathom {
namespace {

// A smaller trace is read as fast as its columns could be opened.
constexpr int64_t kWorthCaching = 16 << 20;

}  // namespace

Result<Trace> open_trace(const std::string& path, const OpenOptions& options) {
  const bool may_cache = !options.cache.empty() && path != "-";
  if (may_cache) {
    if (std::optional<EventStore> store = StoreFile::load(options.cache, path)) {
      CallTree tree = build_call_tree(*store);
      return Trace{path, std::move(*store), std::move(tree), true, {}};
    }
  }
  kineto::ReadOptions read;
  read.threads = options.threads;
  read.progress = options.progress;
  if (options.max_size > 0) read.limits.max_size = options.max_size;
  // Before the reading: a trace that changes meanwhile must not pass for the one that was read.
  const std::optional<ContentStamp> before = may_cache ? glance_at(path) : std::nullopt;
  EventStore store = TRY(kineto::read_trace(path, read));
  Trace trace{path, std::move(store), {}, false, {}};
  const bool whole = trace.store.diagnostics().count(Flaw::kSizeLimit) == 0;
  if (before && whole && trace.store.input_bytes() >= kWorthCaching) {
    // A copy of the store shares its columns. A cache that cannot be written is no loss.
    trace.saving =
        std::async(std::launch::async, [store = trace.store, path, before, file = options.cache] {
          const std::optional<ContentStamp> stamp = stamp_of(path);
          if (stamp && stamp->same_at_a_glance(*before)) (void)StoreFile::save(store, *stamp, file);
        });
  }
  trace.tree = build_call_tree(trace.store);
  return trace;
}

}  // namespace fathom
