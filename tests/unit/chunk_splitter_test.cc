#include "ingest/kineto/chunk_splitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/text_source.h"
#include "checks.h"
#include "ingest/kineto/event_parser.h"
#include "unit/small_trace.h"

namespace fathom::kineto {
namespace {

struct Split {
  std::vector<std::string> events;
  int64_t entries = 0, bytes = 0;
  std::string envelope, diagnostics, error;
  bool found_events = false;

  bool operator==(const Split&) const = default;
};

Split split(std::string_view text, size_t chunk_size) {
  TextSource source(text);
  SplitLimits limits;
  limits.chunk_size = chunk_size;
  ChunkSplitter splitter(source, limits);
  EventStoreBuilder builder;
  ChunkParsers parsers;
  Split out;
  while (true) {
    Result<std::optional<EventChunk>> chunk = splitter.next();
    if (!chunk.ok()) {
      out.error = chunk.error().message;
      return out;
    }
    const std::optional<EventChunk> some = chunk.take();
    if (!some) break;
    builder.append(parse_chunk(*some, parsers));
  }
  out.envelope = splitter.envelope();
  out.found_events = splitter.found_events();
  out.bytes = splitter.bytes_read();
  builder.diagnostics().merge(splitter.diagnostics());
  const EventStore store = std::move(builder).seal({}, 0);
  out.entries = store.entries();
  out.events = test::describe_events(store);
  out.diagnostics = test::describe_diagnostics(store.diagnostics());
  return out;
}

bool says(const Split& split, std::string_view flaw) {
  return split.diagnostics.find(fmt::format("{} 1 ", flaw)) != std::string::npos;
}

const std::vector<std::string>& sample_events() {
  static const std::vector<std::string> events = {
      R"({"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"py\"thon]"}})",
      test::cpu_op("aten::mm", 10, 20, R"("Input Dims":[[2, 3],[3,4]],"Sequence number":5)"),
      test::cpu_op(R"(say \"hi\" {[)", 12, 3, R"("Concrete Inputs":["\\", "a]b", "\"}"])"),
      test::event_text("python_function", "f.py(1): g", 11, 9,
                       R"("Python id":4,"Python parent id":3,"Python module id":2)"),
      test::cpu_op("record_param_comms", 13, 1,
                   R"("Collective name":"allreduce","Group size":8,"dtype":"Float","Rank":3)"),
      test::launch_call(15, 2, 77),
      test::kernel("void gemm<float, 4>(int)", 40, 9, 77),
      R"({"ph":"f","cat":"ac2g","name":"ac2g","id":77,"pid":0,"tid":7,"ts":40,"bp":"e"})",
      R"({"ph":"i","name":"[memory]","s":"t","pid":1,"tid":1,"ts":41.5,"args":{"Bytes":[[]]}})",
  };
  return events;
}

std::string joined(const std::vector<std::string>& events) {
  return fmt::format("{}", fmt::join(events, ",\n "));
}

std::string sample_trace() {
  return R"({"schemaVersion":1, "deviceProperties":[{"id":0,"name":"GPU [x]"}],
  "traceEvents" : [ )" +
         joined(sample_events()) +
         R"( ], "distributedInfo": {"rank": 3, "note": "\"traceEvents\": [1]"},
  "traceName":"C:\\trace.json" }
)";
}

TEST(ChunkSplitter, ReadsEventsAndEnvelope) {
  const Split whole = split(sample_trace(), 1 << 20);
  EXPECT_EQ(whole.error, "");
  EXPECT_EQ(whole.diagnostics, "");
  EXPECT_EQ(whole.entries, static_cast<int64_t>(sample_events().size()));
  EXPECT_EQ(whole.events.size(), 7u) << "names and arrows are no rows";
  EXPECT_TRUE(whole.found_events);
  EXPECT_EQ(whole.bytes, static_cast<int64_t>(sample_trace().size()));
  EXPECT_EQ(whole.envelope, R"({"schemaVersion":1, "deviceProperties":[{"id":0,"name":"GPU [x]"}],
  "traceEvents" : [], "distributedInfo": {"rank": 3, "note": "\"traceEvents\": [1]"},
  "traceName":"C:\\trace.json" })");
}

void expect_same_events_for_every_chunk_size(const std::string& text) {
  const Split whole = split(text, 1 << 20);
  EXPECT_GE(whole.events.size(), 2u);
  for (size_t chunk = 1; chunk <= 200; ++chunk) {
    const Split pieces = split(text, chunk);
    ASSERT_EQ(pieces.events, whole.events) << "chunks of " << chunk;
    ASSERT_EQ(pieces.entries, whole.entries) << "chunks of " << chunk;
    ASSERT_EQ(pieces.envelope, whole.envelope) << "chunks of " << chunk;
  }
}

void expect_same_for_every_chunk_size(const std::string& text) {
  expect_same_events_for_every_chunk_size(text);
  const Split whole = split(text, 1 << 20);
  for (size_t chunk = 1; chunk <= 200; ++chunk) {
    const Split pieces = split(text, chunk);
    ASSERT_EQ(pieces.diagnostics, whole.diagnostics) << "chunks of " << chunk;
    ASSERT_TRUE(pieces == whole) << "chunks of " << chunk;
  }
}

TEST(ChunkSplitter, EveryChunkSizeGivesTheSame) {
  expect_same_for_every_chunk_size(sample_trace());
  expect_same_for_every_chunk_size(sample_trace() + "log\n");
  expect_same_for_every_chunk_size(sample_trace().substr(0, 700));
  expect_same_for_every_chunk_size(fmt::format("[{}]", joined(sample_events())));
}

TEST(ChunkSplitter, EveryChunkSizeGivesTheSameOfEntriesThatAreNoEvents) {
  expect_same_for_every_chunk_size(
      fmt::format(R"([{}, 5, {{"ph":"X","name":"no time","ts":"x"}}, ["list"], "a ] b", {}, null])",
                  joined(sample_events()), joined(sample_events())));
}

// Whole events around one that is damaged.
std::vector<std::string> damaged_traces() {
  std::vector<std::string> texts;
  for (const char* damaged :
       {R"({"ph":"X","name":"two "bad" quotes","ts":1})", R"({"ph":"X","name":"one " bad","ts":1})",
        R"({"ph":"X","name":"a","ts":1,})", "{\"ph\":\"X\",\"name\":\"\xff\",\"ts\":1}"}) {
    texts.push_back(fmt::format("[{0},\n{1},\n{0}]", joined(sample_events()), damaged));
  }
  return texts;
}

TEST(ChunkSplitter, EveryChunkSizeGivesTheSameEventsAroundDamage) {
  for (const std::string& text : damaged_traces()) expect_same_events_for_every_chunk_size(text);
}

TEST(ChunkSplitter, EveryChunkSizeSaysTheSameOfDamage) {
  for (const std::string& text : damaged_traces()) expect_same_for_every_chunk_size(text);
}

TEST(ChunkSplitter, ATrailingCommaIsNoEvent) {
  for (size_t chunk : {1, 16, 4096}) {
    const Split s =
        split(fmt::format("{{\"traceEvents\":[{},\n]}}", joined(sample_events())), chunk);
    EXPECT_EQ(s.entries, static_cast<int64_t>(sample_events().size()));
    EXPECT_EQ(s.diagnostics, "");
    EXPECT_EQ(s.envelope, "{\"traceEvents\":[]}");
  }
}

TEST(ChunkSplitter, AnEmptyListIsATrace) {
  for (std::string_view text :
       {"{\"traceEvents\":[]}", "[]", " [ \n ] ", "{\"traceEvents\": [,]}"}) {
    for (size_t chunk : {1, 4096}) {
      const Split s = split(text, chunk);
      EXPECT_TRUE(s.found_events) << text;
      EXPECT_EQ(s.entries, 0) << text;
      EXPECT_EQ(s.diagnostics, "") << text;
    }
  }
}

TEST(ChunkSplitter, ABareListHasNoEnvelope) {
  for (size_t chunk : {1, 16, 4096}) {
    const Split s = split(fmt::format(" [{}] \n", joined(sample_events())), chunk);
    EXPECT_EQ(s.events, split(sample_trace(), 4096).events);
    EXPECT_EQ(s.envelope, "");
    EXPECT_EQ(s.diagnostics, "");
  }
}

TEST(ChunkSplitter, SeesTextAfterTheEnd) {
  for (size_t chunk : {1, 16, 4096}) {
    for (const std::string& text :
         {fmt::format("[{}] log", sample_events()[1]), sample_trace() + "]"}) {
      const Split s = split(text, chunk);
      EXPECT_TRUE(says(s, "text_after_end")) << s.diagnostics;
      EXPECT_FALSE(says(s, "truncated"));
      EXPECT_FALSE(s.events.empty());
    }
  }
}

TEST(ChunkSplitter, OnlyTheTopLevelListOfThatNameHoldsEvents) {
  const Split s =
      split(R"({"nested":{"traceEvents":[{"ph":"X","name":"no","ts":1}]},"note":"traceEvents",)"
            R"("list":["traceEvents",[]],"traceEvents":[{"ph":"X","name":"yes","ts":1}]})",
            8);
  ASSERT_EQ(s.events.size(), 1u);
  EXPECT_NE(s.events[0].find("yes"), std::string::npos);
}

TEST(ChunkSplitter, AFileWithoutEventsHasNone) {
  EXPECT_FALSE(split("{}", 16).found_events);
  EXPECT_FALSE(split("{\"traceEvents\":null}", 16).found_events);
  EXPECT_FALSE(split("", 16).found_events);
  EXPECT_TRUE(says(split("{\"a\":", 16), "truncated"));
  EXPECT_NE(split("hello", 16).error, "");
}

TEST(ChunkSplitter, AByteOrderMarkIsNotText) {
  const Split s = split("\xef\xbb\xbf" + sample_trace(), 64);
  EXPECT_EQ(s.error, "");
  EXPECT_EQ(s.diagnostics, "");
  EXPECT_EQ(s.entries, static_cast<int64_t>(sample_events().size()));
}

// Where each event ends, so that a cut's expected number of events is known.
std::vector<size_t> ends_of_events(const std::string& text) {
  std::vector<size_t> ends;
  for (const std::string& event : sample_events()) {
    ends.push_back(text.find(event, ends.empty() ? 0 : ends.back()) + event.size());
  }
  return ends;
}

TEST(ChunkSplitter, CutAtAnyByteItGivesTheEventsBeforeTheCut) {
  for (const std::string& text : {sample_trace(), fmt::format("[{}]", joined(sample_events()))}) {
    const std::vector<std::string> whole = split(text, 4096).events;
    const std::vector<size_t> ends = ends_of_events(text);
    const size_t last_bracket = text.find_last_of("]}");
    for (size_t cut = 0; cut < text.size(); ++cut) {
      for (size_t chunk : {1, 50, 4096}) {
        const Split s = split(std::string_view(text).substr(0, cut), chunk);
        ASSERT_EQ(s.error, "") << cut;
        ASSERT_EQ(says(s, "truncated"), cut <= last_bracket) << cut;
        ASSERT_EQ(std::ranges::count(s.diagnostics, '\n'), cut <= last_bracket ? 1 : 0)
            << "half an event is no other flaw: " << s.diagnostics;
        ASSERT_EQ(s.entries, std::ranges::count_if(ends, [cut](size_t end) { return end <= cut; }))
            << "cut at " << cut << ", chunks of " << chunk;
        ASSERT_LE(s.events.size(), whole.size());
        ASSERT_TRUE(std::ranges::equal(s.events, std::span(whole).first(s.events.size()))) << cut;
      }
    }
  }
}

}  // namespace
}  // namespace fathom::kineto
