#include "ingest/capture/reader.h"

#include "ingest/capture/capture_rows.h"

namespace fathom::capture {

Result<EventStore> read_capture(ByteSource& source, const std::string& shown,
                                const ReadOptions& options) {
  ChunkReader chunks(source, options.max_size);
  CaptureRows rows;
  TRY(chunks.for_each(shown, [&](const Chunk& chunk) {
    rows.take(chunk);
    if (options.progress) options.progress(source.progress());
  }));
  TraceMetadata metadata = rows.finish();
  EventStoreBuilder& builder = rows.builder();
  builder.diagnostics().merge(chunks.diagnostics());
  if (source.changed()) builder.diagnostics().add(Flaw::kChangedWhileRead);
  return std::move(builder).seal(std::move(metadata), chunks.bytes_read());
}

}  // namespace fathom::capture
