// On valid text the lenient parser reads what the strict one reads.
#include <fmt/format.h>

#include "base/byte_source.h"
#include "checks.h"
#include "ingest/kineto/chunk_splitter.h"
#include "ingest/kineto/event_parser.h"
#include "ingest/kineto/lenient_parser.h"
#include "test_files.h"

namespace fathom {
namespace {

std::string describe(EventStoreBuilder builder) {
  const EventStore store = std::move(builder).seal({}, 0);
  std::string out = fmt::format("{} entries\n", store.entries());
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId e(i);
    const Args args = store.args_id(e).valid() ? store.args(store.args_id(e)) : Args{};
    out +=
        fmt::format("{} {} {} {} {} {}/{} {} {}\n", store.uid(e), static_cast<int>(store.kind(e)),
                    store.name(e), store.start(e).count, store.duration(e).count,
                    store.text(store.track(e).pid), store.text(store.track(e).tid),
                    store.text(args.dims), store.text(args.concrete));
  }
  for (const Diagnostic& d : store.diagnostics().all()) {
    out += fmt::format("{} {}\n", describe(d.flaw).id, d.count);
  }
  return out;
}

TEST(LenientLaws, ReadsWhatTheStrictParserReads) {
  for (const auto& path : test::example_traces()) {
    SCOPED_TRACE(path.filename().string());
    auto source = open_source(path.string());
    ASSERT_TRUE(source.ok());
    const std::unique_ptr<ByteSource> bytes = source.take();
    kineto::ChunkSplitter splitter(*bytes);
    kineto::ChunkParsers parsers;
    size_t chunks = 0;
    while (true) {
      auto next = splitter.next();
      ASSERT_TRUE(next.ok());
      const std::optional<kineto::EventChunk> chunk = next.take();
      if (!chunk) break;
      const std::string_view list = chunk->list();
      ASSERT_EQ(
          describe(kineto::parse_chunk(*chunk, parsers)),
          describe(kineto::parse_leniently(list.substr(1, list.size() - 2), {}, chunk->file_offset,
                                           [](std::string_view) { return true; })));
      ++chunks;
    }
    EXPECT_GT(chunks, 0u);
  }
}

}  // namespace
}  // namespace fathom
