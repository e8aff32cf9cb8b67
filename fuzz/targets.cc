#include "targets.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/byte_source.h"
#include "base/check.h"
#include "base/compressed_source.h"
#include "base/text_source.h"
#include "capture/chunk_writer.h"
#include "events/store_file.h"
#include "ingest/capture/counters.h"
#include "ingest/capture/reader.h"
#include "ingest/capture/sampled_counters.h"
#include "ingest/capture/samples.h"
#include "ingest/kineto/reader.h"
#include "ingest/nsys/reader.h"
#include "ingest/rocprof/perfetto.h"
#include "ingest/rocprof/rocpd.h"
#include "ingest/rocprof/trace_csv.h"
#include "ingest/rocprof/trace_json.h"
#include "platform/platform.h"
#include "report/csv.h"
#include "report/trace/diff_report.h"
#include "report/trace/summary.h"
#include "session/analyze.h"
#include "session/compare.h"
#include "session/replay.h"

namespace fathom::fuzz {
namespace {

std::string_view bytes_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// The trace with itself, and with a part of it.
void compare_all(const Trace& trace) {
  Scope first_step;
  first_step.steps = Scope::StepRange{0, 1};
  for (const Scope& scope : {Scope(), first_step}) {
    const Result<DiffReport> report = compare(trace, trace, Scope(), scope);
    if (!report.ok()) continue;
    for (const Table& table : diff_tables(report.value().diff)) (void)to_csv(table);
    (void)diff_text(report.value(), {true, true, 80});
    (void)diff_markdown(report.value());
    (void)diff_json(report.value());
  }
}

// Link, all sheets, every renderer; then packages and a comparison.
void analyze_all(EventStore store) {
  Trace trace{"fuzz.json", std::move(store), {}, false};
  trace.tree = build_call_tree(trace.store);
  // Bounds and what follows from them, also for traces that name no GPU.
  static const Result<Platform> platform = open_platform("h200");
  for (const bool include_unlinked : {false, true}) {
    Scope scope;
    scope.include_unlinked = include_unlinked;
    if (include_unlinked) scope.step_pattern = "*";
    const Platform* given = include_unlinked && platform.ok() ? &platform.value() : nullptr;
    Result<Analysis> analysis = analyze(trace, scope, {1, given});
    if (!analysis.ok()) continue;
    for (const Table& sheet : analysis.value().sheets) (void)to_csv(sheet);
    (void)summary_json(analysis.value().summary);
    (void)summary_text(analysis.value().summary, {true, true, 80});
  }
  PackOptions packages;
  packages.top = 8;
  PackPlace nowhere;
  nowhere.write = false;
  (void)pack_replays(trace, packages, nowhere);
  compare_all(trace);
}

}  // namespace

void kineto_json(const uint8_t* data, size_t size) {
  TextSource source(bytes_of(data, size));
  kineto::ReadOptions options;
  options.threads = 1;
  options.limits.chunk_size = 256;  // small inputs must see cuts too
  Result<EventStore> store = kineto::read_trace(source, "fuzz", options);
  if (store.ok() && runs_whole(bytes_of(data, size))) analyze_all(store.take());
}

void trace_database(const uint8_t* data, size_t size) {
  const char* const bytes = reinterpret_cast<const char*>(data);
  const Result<SqliteDatabase> database =
      SqliteDatabase::open_bytes(std::vector<char>(bytes, bytes + size), "fuzz");
  if (!database.ok()) return;
  const bool whole = runs_whole(bytes_of(data, size));
  Result<EventStore> from_nsys = nsys::read_trace(database.value(), "fuzz");
  if (from_nsys.ok() && whole) analyze_all(from_nsys.take());
  Result<EventStore> from_rocpd = rocprof::read_rocpd(database.value(), "fuzz");
  if (from_rocpd.ok() && whole) analyze_all(from_rocpd.take());
}

void rocprof_trace(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)rocprof::is_perfetto(text);
  for (auto* read :
       {&rocprof::read_trace_json, &rocprof::read_trace_csv, &rocprof::read_perfetto}) {
    Result<EventStore> store = read(text, "fuzz");
    if (store.ok() && runs_whole(text)) analyze_all(store.take());
  }
}

namespace {

class TextSinkOfChunks : public capture::ByteSink {
 public:
  int write(std::string_view bytes) override {
    text.append(bytes);
    return 0;
  }
  std::string text;
};

void read_capture_bytes(const uint8_t* data, size_t size) {
  TextSource events(bytes_of(data, size)), counters(bytes_of(data, size));
  TextSource samples(bytes_of(data, size));
  Result<EventStore> store = capture::read_capture(events, "fuzz");
  if (store.ok() && runs_whole(bytes_of(data, size))) analyze_all(store.take());
  (void)capture::read_counters(counters, "fuzz");
  (void)capture::read_samples(samples, "fuzz");
  TextSource activity(bytes_of(data, size));
  (void)capture::read_sampled_counters(activity, "fuzz");
}

}  // namespace

void capture_chunks(const uint8_t* data, size_t size) {
  read_capture_bytes(data, size);
  TextSinkOfChunks sink;
  capture::ChunkWriter writer(sink);
  writer.begin();
  constexpr size_t kHead = 7;
  while (size >= kHead) {
    uint16_t record = 0;
    uint32_t length = 0;
    std::memcpy(&record, data + 1, sizeof record);
    std::memcpy(&length, data + 3, sizeof length);
    const size_t taken = std::min<size_t>(length, size - kHead);
    writer.copy(static_cast<capture::ChunkKind>(data[0]), record,
                {reinterpret_cast<const char*>(data + kHead), taken});
    data += kHead + taken;
    size -= kHead + taken;
  }
  read_capture_bytes(reinterpret_cast<const uint8_t*>(sink.text.data()), sink.text.size());
}

void platform_file(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<Platform> platform = parse_platform(text, "gpu.json");
  if (!platform.ok()) return;
  // What it prints is what it reads.
  const Result<Platform> again = parse_platform(platform_json(platform.value()), "gpu.json");
  CHECK(again.ok());
}

void compressed(const uint8_t* data, size_t size) {
  constexpr size_t kAtMost = 4 << 20;  // a bomb is cut off by whoever reads
  for (auto* open : {&gunzip, &unzstd}) {
    const std::unique_ptr<ByteSource> source =
        open(std::make_unique<TextSource>(bytes_of(data, size)));
    std::vector<char> piece(1000);
    for (size_t total = 0; total < kAtMost;) {
      const Result<size_t> got = source->read(piece);
      if (!got.ok() || got.value() < piece.size()) break;
      total += got.value();
    }
  }
}

void store_file(const uint8_t* data, size_t size) {
  struct alignas(64) Block {
    uint8_t bytes[64];
  };
  std::vector<Block> body((size + sizeof(Block) - 1) / sizeof(Block));
  if (size > 0) std::memcpy(body.data(), data, size);
  std::optional<EventStore> store = StoreFile::read_body(std::as_bytes(std::span(body)));
  if (store && runs_whole(bytes_of(data, size))) analyze_all(std::move(*store));
}

}  // namespace fathom::fuzz
