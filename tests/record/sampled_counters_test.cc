#include "ingest/capture/sampled_counters.h"

#include <map>

#include "checks.h"
#include "ingest/capture/reader.h"
#include "record/made_capture.h"

namespace fathom {
namespace {

constexpr const char* kTensor =
    "sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kReadBytes = "dram__bytes_read.sum";
constexpr const char* kClock = "gpc__cycles_elapsed.avg.per_second";

// A capture of kernels and of what a GPU would sample of them every 100 ns: while "busy" runs, the
// tensor cores are at 80 % and 3 bytes are read each ns; while "idle" runs, nothing happens.
class SampledCapture {
 public:
  SampledCapture() : writer_(sink_) {
    writer_.begin();
    writer_.write_meta("gpu\t0\tNVIDIA H200\t132\t150000000000\t9\t0\n");
    writer_.write_meta(std::string("activity\t0\t") + kTensor + "\t" + kReadBytes + "\t" + kClock +
                       "\n");
  }
  void run(const char* name, uint64_t start, uint64_t end, uint32_t stream = 7) {
    capture::Kernel kernel = {};
    kernel.start = start;
    kernel.end = end;
    kernel.name = writer_.text(name);
    kernel.stream = stream;
    kernel.grid[0] = kernel.grid[1] = kernel.grid[2] = 1;
    kernel.block[0] = 256;
    kernel.block[1] = kernel.block[2] = 1;
    kernels_.push_back(kernel);
  }
  void copy(uint64_t start, uint64_t end) {
    capture::Copy copy = {};
    copy.start = start;
    copy.end = end;
    const capture::Copy copies[] = {copy};
    writer_.write<capture::Copy>(capture::ChunkKind::kCopies, copies);
  }
  void graph(uint64_t start, uint64_t end) {
    const capture::Graph graphs[] = {{start, end, 1, 0, 1, 7, 4, 0}};
    writer_.write<capture::Graph>(capture::ChunkKind::kGraphs, graphs);
  }
  std::string sampled_until(uint64_t last) {
    std::vector<capture::Activity> samples;
    const capture::TextId name = writer_.text("busy");
    for (uint64_t at = 0; at + 100 <= last; at += 100) {
      uint64_t busy = 0;
      for (const capture::Kernel& kernel : kernels_) {
        if (kernel.name != name || kernel.end <= at || kernel.start >= at + 100) continue;
        busy += std::min(kernel.end, at + 100) - std::max(kernel.start, at);
      }
      capture::Activity sample = {at, at + 100, 0, 3, {}};
      sample.values[0] = static_cast<float>(80.0 * static_cast<double>(busy) / 100);
      sample.values[1] = static_cast<float>(3 * busy);
      sample.values[2] = 1.5e9F;
      samples.push_back(sample);
    }
    writer_.write<capture::Kernel>(capture::ChunkKind::kKernels, kernels_);
    writer_.write<capture::Activity>(capture::ChunkKind::kActivity, samples);
    return sink_.text;
  }

 private:
  StringSink sink_;
  capture::ChunkWriter writer_;
  std::vector<capture::Kernel> kernels_;
};

using Values = std::map<std::string, double>;

std::map<std::string, Values> sampled(const std::string& bytes) {
  TextSource source(bytes);
  Result<std::optional<CounterSet>> read = capture::read_sampled_counters(source, "made");
  EXPECT_TRUE(read.ok());
  std::map<std::string, Values> rows;
  const std::optional<CounterSet> set = read.take();
  if (!set) return rows;
  for (CounterRowId row(0); row.index < set->size(); ++row.index) {
    Values& values = rows[std::string(set->text(set->row(row).kernel))];
    for (const MetricValue& value : set->values(row))
      values[std::string(set->metric_name(value.metric))] = value.value;
  }
  return rows;
}

TEST(SampledCounters, AKernelGetsTheSamplesThatAreItsOwn) {
  SampledCapture capture;
  // Between idle time: samples at both ends have only a part of it.
  for (uint64_t i = 0; i < 10; ++i) capture.run("busy", i * 10'000 + 50, i * 10'000 + 1'080);
  const auto rows = sampled(capture.sampled_until(110'000));
  ASSERT_TRUE(rows.contains("busy"));
  EXPECT_NEAR(rows.at("busy").at(kTensor), 80, 0.01);
  EXPECT_NEAR(rows.at("busy").at(kReadBytes), 3 * 1030, 0.5);
  EXPECT_NEAR(rows.at("busy").at(kClock), 1.5e9, 100);
  EXPECT_NEAR(rows.at("busy").at("gpu__time_duration.sum"), 1030, 0.5);
  EXPECT_NEAR(rows.at("busy").at("fathom__sampled_time.pct"), 100, 0.01);
}

TEST(SampledCounters, ASampleOfTwoKernelsIsNobodys) {
  SampledCapture capture;
  for (uint64_t i = 0; i < 10; ++i) {
    capture.run("busy", i * 2'000, i * 2'000 + 1'050);
    capture.run("idle", i * 2'000 + 1'050, i * 2'000 + 2'000);
  }
  const auto rows = sampled(capture.sampled_until(20'000));
  EXPECT_NEAR(rows.at("busy").at(kTensor), 80, 0.01);
  EXPECT_NEAR(rows.at("idle").at(kTensor), 0, 0.01);
  EXPECT_LT(rows.at("busy").at("fathom__sampled_time.pct"), 96);
}

TEST(SampledCounters, KernelsAndCopiesAtTheSameTimeAreNotToldApart) {
  SampledCapture capture;
  capture.run("busy", 0, 5'000);
  capture.run("idle", 1'000, 4'000, 8);
  capture.copy(4'000, 4'900);
  const auto rows = sampled(capture.sampled_until(6'000));
  EXPECT_FALSE(rows.contains("idle"));
  // [0, 1000) and [4900, 5000) are its own.
  EXPECT_NEAR(rows.at("busy").at("fathom__sampled_time.pct"), 22, 0.1);
  EXPECT_NEAR(rows.at("busy").at(kTensor), 80, 0.01);
}

TEST(SampledCounters, TooFewSamplesSayNothing) {
  SampledCapture capture;
  capture.run("busy", 0, 250);
  EXPECT_TRUE(sampled(capture.sampled_until(1'000)).empty());
}

TEST(SampledCounters, AGraphAsAWhole) {
  SampledCapture capture;
  capture.graph(0, 2'000);
  EXPECT_TRUE(sampled(capture.sampled_until(3'000)).contains("CUDA graph 4"));
}

TEST(SampledCounters, TheTraceShowsThemOverTime) {
  SampledCapture capture;
  for (uint64_t i = 0; i < 1'500; ++i) capture.run("busy", i * 1'000, i * 1'000 + 500);
  const std::string bytes = capture.sampled_until(1'600'000);
  TextSource source(bytes);
  const Result<EventStore> store = capture::read_capture(source, "made");
  ASSERT_TRUE(store.ok());
  size_t busy = 0, traffic = 0;
  double sum = 0, read = 0;
  for (EventId e(0); e.index < store.value().size(); ++e.index) {
    if (store.value().kind(e) != EventKind::kCounter) continue;
    const bool is_traffic = store.value().name(e) == "GPU 0 traffic (GB/s)";
    (is_traffic ? traffic : busy) += 1;
    for (const CounterValue& value : store.value().counters(e)) {
      EXPECT_EQ(store.value().text(value.name), is_traffic ? "DRAM read" : "tensor cores");
      (is_traffic ? read : sum) += value.value;
    }
  }
  // 15,000 samples become at most 10,000 points, with the same mean.
  EXPECT_GT(busy, 5'000u);
  EXPECT_LE(busy, 10'000u);
  EXPECT_EQ(busy, traffic);
  EXPECT_NEAR(sum / static_cast<double>(busy), 40, 0.1);
  EXPECT_NEAR(read / static_cast<double>(traffic), 1.5, 0.01);
}

TEST(SampledCounters, DamagedSamplesAreLeftOut) {
  SampledCapture capture;
  for (uint64_t i = 0; i < 10; ++i) capture.run("busy", i * 2'000, i * 2'000 + 1'000);
  const std::string whole = capture.sampled_until(20'000);
  for (size_t at = 8; at < whole.size(); at += 13) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    sampled(damaged);
  }
  for (size_t size = 8; size < whole.size(); size += 31) sampled(whole.substr(0, size));
}

}  // namespace
}  // namespace fathom
