#include "targets.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/byte_source.h"
#include "base/compressed_source.h"
#include "events/store_file.h"
#include "ingest/kineto/reader.h"
#include "report/csv.h"
#include "report/summary.h"
#include "session/analyze.h"

namespace fathom::fuzz {
namespace {

class MemorySource : public ByteSource {
 public:
  MemorySource(const uint8_t* data, size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}
  Result<size_t> read(std::span<char> into) override {
    const size_t n = std::min(into.size(), rest_.size());
    if (n > 0) std::memcpy(into.data(), rest_.data(), n);
    rest_ = rest_.subspan(n);
    return n;
  }

 private:
  std::span<const char> rest_;
};

// Link, all sheets, every renderer.
void analyze_all(EventStore store) {
  Trace trace{"fuzz.json", std::move(store), {}, false};
  trace.tree = build_call_tree(trace.store);
  for (const bool include_unlinked : {false, true}) {
    Scope scope;
    scope.include_unlinked = include_unlinked;
    if (include_unlinked) scope.step_pattern = "*";
    Result<Analysis> analysis = analyze(trace, scope, {1, nullptr});
    if (!analysis.ok()) continue;
    for (const Table& sheet : analysis.value().sheets) (void)to_csv(sheet);
    (void)summary_json(analysis.value().summary);
    (void)summary_text(analysis.value().summary, {true, true, 80});
  }
}

}  // namespace

void kineto_json(const uint8_t* data, size_t size) {
  MemorySource source(data, size);
  kineto::ReadOptions options;
  options.threads = 1;
  options.limits.chunk_size = 256;  // small inputs must see cuts too
  Result<EventStore> store = kineto::read_trace(source, "fuzz", options);
  if (!store.ok()) return;
  analyze_all(store.take());
}

void compressed(const uint8_t* data, size_t size) {
  constexpr size_t kAtMost = 4 << 20;  // a bomb is cut off by whoever reads
  for (auto* open : {&gunzip, &unzstd}) {
    const std::unique_ptr<ByteSource> source = open(std::make_unique<MemorySource>(data, size));
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
  if (store) analyze_all(std::move(*store));
}

}  // namespace fathom::fuzz
