#include "record/recent_records.h"

#include <filesystem>

#include "checks.h"
#include "ingest/capture/reader.h"
#include "record/made_capture.h"
#include "record/program_without_gpu.h"
#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

std::vector<capture::Call> calls_at(std::vector<uint64_t> times) {
  std::vector<capture::Call> calls;
  for (const uint64_t time : times) calls.push_back({time, time + 10, 0, 1, 1, 0, 0, 0});
  return calls;
}

class RecentRecordsTest : public ::testing::Test {
 protected:
  RecentRecordsTest() : writer_(sink_) { writer_.begin(); }
  void take(record::RecentRecords& recent, std::vector<uint64_t> times, int64_t now) {
    recent.take(capture::ChunkKind::kCalls, calls_at(std::move(times)), now, writer_);
  }
  std::vector<int64_t> written(int64_t* lost = nullptr) {
    TextSource source(sink_.text);
    const Result<EventStore> store = capture::read_capture(source, "made");
    std::vector<int64_t> starts;
    for (EventId e(0); e.index < store.value().size(); ++e.index)
      starts.push_back(store.value().start(e).count);
    if (lost != nullptr) *lost = store.value().diagnostics().count(Flaw::kLostRecords);
    return starts;
  }
  StringSink sink_;
  capture::ChunkWriter writer_;
};

TEST_F(RecentRecordsTest, OnlyTheLastOnesAreWritten) {
  record::RecentRecords recent(1000);
  take(recent, {100, 200}, 300);
  take(recent, {900, 1150, 1300}, 1400);
  EXPECT_TRUE(written().empty());
  recent.release(2155, writer_);
  // 1150 ended at 1160, within the last 1,000; 900 did not.
  EXPECT_EQ(written(), (std::vector<int64_t>{1150, 1300}));
  EXPECT_FALSE(recent.holds());
  EXPECT_EQ(recent.bytes(), 0u);
}

TEST_F(RecentRecordsTest, LateRecordsOfAWindowBelongToIt) {
  record::RecentRecords recent(1000);
  recent.release(5000, writer_);
  recent.hold(6000);
  take(recent, {5900, 6100}, 6200);
  EXPECT_EQ(written(), (std::vector<int64_t>{5900}));
  recent.release(6300, writer_);
  EXPECT_EQ(written(), (std::vector<int64_t>{5900, 6100}));
}

TEST_F(RecentRecordsTest, MemoryIsBoundedAndWhatWentIsCounted) {
  record::RecentRecords recent(1'000'000, 100 * sizeof(capture::Call));
  for (int64_t i = 0; i < 1000; ++i)
    take(recent, {static_cast<uint64_t>(i * 10), static_cast<uint64_t>(i * 10 + 1)}, i * 10 + 20);
  EXPECT_LE(recent.bytes(), 100 * sizeof(capture::Call));
  recent.release(10'010, writer_);
  int64_t lost = 0;
  EXPECT_EQ(written(&lost).size(), 100u);
  EXPECT_EQ(lost, 1900);
}

// The recorder itself, with a CUPTI that has no GPU.
class FakeGpu : public ProgramWithoutGpu {
 protected:
  int64_t number(const std::string& json, const std::string& key) {
    const size_t at = json.find("\"" + key + "\": ");
    return at == std::string::npos ? -1 : std::atoll(json.c_str() + at + key.size() + 4);
  }
};

TEST_F(FakeGpu, KernelsAreRecorded) {
  const test::CommandResult result =
      run("fathom record -q --json=- --out run.capture -- $P/fathom_fake_gpu 50 1");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(number(result.output, "kernels"), 50) << result.output;
  EXPECT_EQ(number(result.output, "calls"), 50) << result.output;
}

TEST_F(FakeGpu, NothingBeforeTheTriggerIsRecorded) {
  const test::CommandResult result =
      run("(sleep 1; touch now) & fathom record -q --json=- --out run.capture --trigger now"
          " --window 300ms -- $P/fathom_fake_gpu 200 10; wait");
  const int64_t kernels = number(result.output, "kernels");
  EXPECT_GT(kernels, 10) << result.output;
  EXPECT_LT(kernels, 45) << result.output;
}

TEST_F(FakeGpu, TheLastSecondsBeforeTheTriggerAreKept) {
  const test::CommandResult result =
      run("(sleep 1.2; touch now) & fathom record -q --json=- --out run.capture --trigger now"
          " --before 500ms --window 200ms -- $P/fathom_fake_gpu 220 10; wait");
  const int64_t covered = number(result.output, "covered_ms");
  EXPECT_GT(covered, 500) << result.output;
  EXPECT_LT(covered, 850) << result.output;
  EXPECT_GT(number(result.output, "kernels"), 40) << result.output;
}

TEST_F(FakeGpu, WithoutATriggerNothingOfTheRingIsWritten) {
  const test::CommandResult result =
      run("fathom record -q --json=- --out run.capture --trigger now --before 1s -- "
          "$P/fathom_fake_gpu 30 "
          "10");
  EXPECT_EQ(number(result.output, "kernels"), -1) << result.output;
  EXPECT_EQ(result.exit_code, 0);
}

}  // namespace
}  // namespace fathom
