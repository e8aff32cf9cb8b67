#include "ingest/kineto/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "base/worker_pool.h"
#include "ingest/kineto/envelope.h"
#include "ingest/kineto/event_parser.h"
#include "ingest/kineto/track_kinds.h"

namespace fathom::kineto {
namespace {

Error no_trace(const std::string& path, const ChunkSplitter& splitter, bool damaged) {
  if (splitter.bytes_read() == 0) {
    return Error{damaged ? fmt::format("{} is damaged: nothing in it can be decompressed", path)
                         : fmt::format("{} is empty", path)};
  }
  if (splitter.diagnostics().count(Flaw::kSizeLimit) > 0) {
    return Error{fmt::format("{} has no traceEvents within --max-size", path)};
  }
  const bool cut = splitter.diagnostics().count(Flaw::kTruncated) > 0;
  return Error{fmt::format(
      "{} is no profiler trace: {}; expected the JSON that torch.profiler's export_chrome_trace, "
      "the JAX profiler or rocprofv3 writes",
      path, cut ? "it ends before any traceEvents" : "it has no traceEvents")};
}

}  // namespace

Result<EventStore> read_trace(const std::string& path, const ReadOptions& options) {
  const std::unique_ptr<ByteSource> source = TRY(open_source(path, options.stamp));
  return read_trace(*source, path == "-" ? "standard input" : path, options);
}

Result<EventStore> read_trace(ByteSource& source, const std::string& shown,
                              const ReadOptions& options) {
  ChunkSplitter splitter(source, options.limits, shown);
  EventStoreBuilder builder;
  ChunkParsers parsers;
  const size_t threads =
      options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  WorkerPool pool(threads > 1 ? threads : 0);
  const Status read = run_in_order<EventChunk>(
      pool, [&] { return splitter.next(); },
      [&parsers](EventChunk chunk) { return parse_chunk(chunk, parsers); },
      [&](EventStoreBuilder piece) {
        builder.append(std::move(piece));
        if (options.progress) options.progress(source.progress());
      });
  if (!read.ok()) return Error{fmt::format("cannot read {}: {}", shown, read.error().message)};
  if (!splitter.found_events()) return no_trace(shown, splitter, source.truncated());
  const bool from_xla = decide_kinds_by_track(builder);
  builder.diagnostics().merge(splitter.diagnostics());
  if (source.changed()) builder.diagnostics().add(Flaw::kChangedWhileRead);
  Envelope envelope = parse_envelope(splitter.envelope());
  if (envelope.damaged && !splitter.stopped_early()) {
    builder.diagnostics().add(Flaw::kMetadataDamaged);
  }
  envelope.metadata.source = from_xla ? "XLA profiler (JAX, TensorFlow)" : "PyTorch profiler";
  return std::move(builder).seal(std::move(envelope.metadata), splitter.bytes_read());
}

}  // namespace fathom::kineto
