#include <cmath>
#include <random>

#include "checks.h"
#include "ingest/capture/counters.h"
#include "ingest/capture/reader.h"
#include "record/made_capture.h"
#include "tree/call_tree.h"

namespace fathom {
namespace {

EventStore read_made(std::string_view bytes) {
  TextSource source(bytes);
  Result<EventStore> store = capture::read_capture(source, "made");
  EXPECT_TRUE(store.ok());
  return store.take();
}

size_t kernels_in(const EventStore& store) {
  size_t count = 0;
  for (EventId e(0); e.index < store.size(); ++e.index)
    count += store.kind(e) == EventKind::kKernel ? 1 : 0;
  return count;
}

TEST(CaptureReader, KernelsAreLinkedToTheirLaunches) {
  const EventStore store = read_made(made_capture(10));
  EXPECT_EQ(store.size(), 20u);
  const CallTree tree = build_call_tree(store);
  EXPECT_EQ(tree.linked().size(), 10u);
  EXPECT_TRUE(tree.unlinked().empty());
  const EventId kernel = tree.linked()[0];
  EXPECT_EQ(store.name(kernel), "even(float*)");
  EXPECT_EQ(store.duration(kernel).count, 400);
  const GpuWork& work = store.gpu_work(kernel);
  EXPECT_EQ(work.registers, 32);
  EXPECT_EQ(work.shared_memory, 3072);
  EXPECT_EQ(work.grid->x, 128u);
  EXPECT_FALSE(work.cluster.has_value());
  EXPECT_EQ(store.text(store.track(kernel).process_label), "GPU 0");
  EXPECT_EQ(store.name(tree.event(tree.launch(kernel))), "cudaLaunchKernel");
  ASSERT_EQ(store.metadata().gpus.size(), 1u);
  EXPECT_EQ(store.metadata().gpus[0].name, "NVIDIA H200");
  EXPECT_EQ(store.metadata().gpus[0].multiprocessors, 132);
}

TEST(CaptureReader, EventsAreInTheOrderOfTime) {
  const EventStore store = read_made(made_capture(30));
  for (EventId e(1); e.index < store.size(); ++e.index)
    EXPECT_LE(store.start(EventId(e.index - 1)), store.start(e));
}

TEST(CaptureReader, ACutFileGivesWhatCameBefore) {
  const std::string whole = made_capture(40);
  size_t last = 0;
  for (size_t size = 8; size < whole.size(); size += 7) {
    TextSource source(std::string_view(whole).substr(0, size));
    const Result<EventStore> store = capture::read_capture(source, "made");
    ASSERT_TRUE(store.ok());
    const size_t now = store.value().size();
    EXPECT_GE(now, last);
    last = now;
  }
  EXPECT_GT(last, 70u);
  const EventStore cut = read_made(std::string_view(whole).substr(0, whole.size() - 5));
  EXPECT_EQ(cut.diagnostics().count(Flaw::kTruncated), 1);
}

// One damaged byte costs the chunk that it is in: four kernels, or the texts of some.
TEST(CaptureReader, ADamagedByteCostsOneChunk) {
  const std::string whole = made_capture(200);
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    std::string damaged = whole;
    const size_t at = 8 + random() % (damaged.size() - 8);
    const char old = damaged[at];
    damaged[at] = static_cast<char>(random());
    if (damaged[at] == old) continue;
    const EventStore store = read_made(damaged);
    EXPECT_GE(kernels_in(store) + 4, 200u) << at;
    EXPECT_EQ(
        store.diagnostics().count(Flaw::kDamagedPart) + store.diagnostics().count(Flaw::kTruncated),
        1)
        << at;
  }
}

TEST(CaptureReader, RecordsThatAreTooSmallAreRefused) {
  StringSink sink;
  capture::ChunkWriter writer(sink);
  writer.begin();
  writer.copy(capture::ChunkKind::kKernels, 1, std::string(1000, 'x'));
  const EventStore store = read_made(sink.text);
  EXPECT_EQ(store.size(), 0u);
  EXPECT_EQ(store.diagnostics().count(Flaw::kDamagedPart), 1);
}

// A later version may write more of a record and kinds that are not known here.
TEST(CaptureReader, LongerRecordsAndUnknownKindsAreRead) {
  struct Longer {
    capture::Call call;
    uint64_t more;
  };
  StringSink sink;
  capture::ChunkWriter writer(sink);
  writer.begin();
  const Longer calls[2] = {{{10, 20, writer.text("cudaFree"), 1, 1, 0, 0, 0}, 9},
                           {{30, 40, writer.text("cudaFree"), 1, 2, 0, 0, 0}, 9}};
  writer.write<Longer>(capture::ChunkKind::kCalls, calls);
  writer.copy(static_cast<capture::ChunkKind>(900), 4, "abcd");
  const EventStore store = read_made(sink.text);
  ASSERT_EQ(store.size(), 2u);
  EXPECT_EQ(store.start(EventId(1)).count, 30);
}

// A damaged or hostile capture: what the file says is no number, no text and no time.
TEST(CaptureReader, ValuesThatAreNone) {
  StringSink sink;
  capture::ChunkWriter writer(sink);
  writer.begin();
  writer.write_meta("tool\tfathom record\t\xff\ngpu\t0\tH\xfe\t132\t1\t9\t0\n");
  capture::Kernel kernels[4] = {};
  for (size_t i = 0; i < 4; ++i) {
    kernels[i].start = 1000 + i * 100;
    kernels[i].end = kernels[i].start + 50;
    kernels[i].name = writer.text("k\xff\xc3(");
    kernels[i].stream = static_cast<uint32_t>(i);
  }
  kernels[1].end = UINT64_MAX;
  kernels[2].end = INT64_MAX;
  kernels[3].start = kernels[3].end = UINT64_MAX - 5;
  writer.write<capture::Kernel>(capture::ChunkKind::kKernels, kernels);
  const capture::TextId name = writer.text("hit rate");
  const capture::Number numbers[] = {{1000, std::nan(""), name, 0},
                                     {1010, HUGE_VAL, name, 0},
                                     {1020, -HUGE_VAL, name, 0},
                                     {1030, 0.5, name, 0}};
  writer.write<capture::Number>(capture::ChunkKind::kNumbers, numbers);
  const EventStore store = read_made(sink.text);
  EXPECT_EQ(store.metadata().source, "fathom record ?");
  EXPECT_EQ(store.metadata().gpus.at(0).name, "H?");
  Nanos time;
  for (EventId e(0); e.index < store.size(); ++e.index) {
    time += store.duration(e);
    if (store.kind(e) == EventKind::kKernel)
      EXPECT_EQ(store.name(e),
                "k?"
                "?(");
    EXPECT_LE(store.end(e).count, 2000);
  }
  EXPECT_EQ(time.count, 50);
  EXPECT_EQ(kernels_in(store), 3u);
  EXPECT_EQ(store.diagnostics().count(Flaw::kMissingTime), 1);
  EXPECT_EQ(store.diagnostics().count(Flaw::kMissingDuration), 2);
  ASSERT_EQ(store.counters().size(), 1u);
  EXPECT_EQ(store.counters()[0].value, 0.5);
  EXPECT_EQ(store.diagnostics().count(Flaw::kCounterValueUnreadable), 3);
}

// A median of values that cannot be ordered.
TEST(CaptureReader, CountersThatAreNoNumbersAreLeftOut) {
  StringSink sink;
  capture::ChunkWriter writer(sink);
  writer.begin();
  std::vector<capture::Counter> counters(1000);
  for (size_t i = 0; i < counters.size(); ++i) {
    counters[i].name = writer.text("k");
    counters[i].metric = writer.text("sm__cycles_elapsed.max");
    counters[i].value = i % 3 == 0 ? 7 : i % 3 == 1 ? std::nan("") : -HUGE_VAL;
  }
  writer.write<capture::Counter>(capture::ChunkKind::kCounters, counters);
  TextSource source(sink.text);
  const auto read = capture::read_counters(source, "made");
  ASSERT_TRUE(read.ok() && read.value());
  const CounterSet& set = *read.value();
  EXPECT_EQ(set.diagnostics().count(Flaw::kCounterValueUnreadable), 666);
  ASSERT_EQ(set.size(), 1u);
  ASSERT_EQ(set.values(CounterRowId(0)).size(), 1u);
  EXPECT_EQ(set.values(CounterRowId(0))[0].value, 7);
}

TEST(CaptureReader, RangesNumbersAndMemory) {
  StringSink sink;
  capture::ChunkWriter writer(sink);
  writer.begin();
  const capture::TextId step = writer.text("step");
  const capture::Mark marks[] = {{100, step, 0, 1, 5, 2, 0},
                                 {150, step, 0, 2, 5, 2, 0},  // inside, ends first
                                 {160, 0, 0, 2, 5, 4, 0},
                                 {300, 0, 0, 1, 5, 4, 0},
                                 {400, step, 0, 3, 5, 2, 0}};  // never ends
  writer.write<capture::Mark>(capture::ChunkKind::kMarks, marks);
  const capture::Number number{120, 0.5, writer.text("hit rate"), 0};
  writer.write<capture::Number>(capture::ChunkKind::kNumbers, {&number, 1});
  const capture::Allocation memory[] = {{200, 1, 100, 0, 0, 0, 0, 0, 3, {}},
                                        {210, 2, 50, 0, 0, 0, 0, 0, 3, {}},
                                        {220, 1, 100, 0, 0, 0, 0, 1, 3, {}}};
  writer.write<capture::Allocation>(capture::ChunkKind::kAllocations, memory);
  const capture::Drop drop{12};
  writer.write<capture::Drop>(capture::ChunkKind::kDrops, {&drop, 1});
  const EventStore store = read_made(sink.text);
  std::vector<std::pair<int64_t, int64_t>> ranges;
  std::vector<double> numbers;
  for (EventId e(0); e.index < store.size(); ++e.index) {
    if (store.kind(e) == EventKind::kAnnotation)
      ranges.emplace_back(store.start(e).count, store.end(e).count);
    if (store.kind(e) == EventKind::kCounter) numbers.push_back(store.counters(e)[0].value);
  }
  EXPECT_EQ(ranges, (std::vector<std::pair<int64_t, int64_t>>{{100, 300}, {150, 160}}));
  EXPECT_EQ(numbers, (std::vector<double>{0.5, 100, 150, 50}));
  EXPECT_EQ(store.diagnostics().count(Flaw::kOpenRange), 1);
  EXPECT_EQ(store.diagnostics().count(Flaw::kLostRecords), 12);
}

TEST(CaptureReader, AnotherFileIsRefused) {
  TextSource source("{\"traceEvents\": []}");
  const Result<EventStore> store = capture::read_capture(source, "trace.json");
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().message, "trace.json is not a capture of fathom record");
}

// Heads that promise much and hold nothing must not make the reader look at all of it each time.
TEST(CaptureReader, CraftedHeadsEndTheReading) {
  std::string bytes(capture::kMagic, sizeof capture::kMagic);
  capture::ChunkHead head;
  head.kind = capture::ChunkKind::kKernels;
  head.bytes = 1 << 20;
  for (int i = 0; i < 100000; ++i) bytes.append(reinterpret_cast<const char*>(&head), sizeof head);
  const EventStore store = read_made(bytes);
  EXPECT_EQ(store.size(), 0u);
  EXPECT_GE(store.diagnostics().count(Flaw::kTruncated), 1);
}

}  // namespace
}  // namespace fathom
