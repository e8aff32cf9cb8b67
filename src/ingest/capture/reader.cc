#include "ingest/capture/reader.h"

#include <fmt/format.h>

#include "ingest/capture/capture_rows.h"

namespace fathom::capture {

Result<EventStore> read_capture(ByteSource& source, const std::string& shown,
                                const ReadOptions& options) {
  ChunkReader chunks(source, options.max_size);
  if (!chunks.begins_well()) return Error{fmt::format("{} is no capture of fathom record", shown)};
  CaptureRows rows;
  while (true) {
    const Result<std::optional<Chunk>> chunk = chunks.next();
    if (!chunk.ok()) return Error{fmt::format("cannot read {}: {}", shown, chunk.error().message)};
    if (!chunk.value()) break;
    rows.take(*chunk.value());
    if (options.progress) options.progress(source.progress());
  }
  TraceMetadata metadata = rows.finish();
  EventStoreBuilder& builder = rows.builder();
  builder.diagnostics().merge(chunks.diagnostics());
  if (source.changed()) builder.diagnostics().add(Flaw::kChangedWhileRead);
  return std::move(builder).seal(std::move(metadata), chunks.bytes_read());
}

}  // namespace fathom::capture
