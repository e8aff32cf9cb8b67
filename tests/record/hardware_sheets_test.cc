// Sheets and sentences of PC samples, clocks and power, from captures that are made here.
#include "capture/gpu_numbers.h"
#include "checks.h"
#include "ingest/capture/reader.h"
#include "ingest/capture/samples.h"
#include "record/made_capture.h"
#include "report/csv.h"
#include "report/trace/hardware_sections.h"
#include "session/hardware_summary.h"
#include "sheets/kernel_clocks.h"
#include "sheets/stall_sheets.h"

namespace fathom {
namespace {

constexpr uint64_t kMs = 1'000'000;

class HardwareSheets : public ::testing::Test {
 protected:
  void add_kernel(std::string_view name, uint64_t begin, uint64_t end, uint32_t device = 0) {
    capture::Kernel kernel = {};
    kernel.start = begin;
    kernel.end = end;
    kernel.name = writer_.text(name);
    kernel.correlation = ++kernels_;
    kernel.device = device;
    writer_.write<capture::Kernel>(capture::ChunkKind::kKernels, {&kernel, 1});
    const capture::Call call{
        begin - 10, begin - 5, writer_.text("cudaLaunchKernel"), 1, kernels_, 0, 0, 0};
    writer_.write<capture::Call>(capture::ChunkKind::kCalls, {&call, 1});
  }
  void add_sample(std::string_view function, uint64_t pc, std::string_view reason, uint64_t samples,
                  std::string_view file = "", uint32_t line = 0, uint32_t device = 0) {
    capture::Sample sample = {};
    sample.samples = samples;
    sample.pc = pc;
    sample.function = writer_.text(function);
    sample.reason = writer_.text(reason);
    sample.file = file.empty() ? 0 : writer_.text(file);
    sample.line = line;
    sample.device = device;
    writer_.write<capture::Sample>(capture::ChunkKind::kSamples, {&sample, 1});
  }
  void add_number(uint32_t gpu, capture::GpuNumber which, uint64_t time, double value) {
    const capture::Number number{time, value, writer_.text(capture::gpu_number_name(gpu, which)),
                                 0};
    writer_.write<capture::Number>(capture::ChunkKind::kNumbers, {&number, 1});
  }
  void read() {
    TextSource events(sink_.text), samples(sink_.text);
    store_ = capture::read_capture(events, "made").take();
    tree_.emplace(build_call_tree(*store_));
    samples_ = capture::read_samples(samples, "made").take();
    input_.emplace(*store_, *tree_, scope_);
  }
  KernelClocks clocks() {
    read();
    return measure_clocks(*input_).value_or(KernelClocks{});
  }

  StringSink sink_;
  capture::ChunkWriter writer_{sink_};
  bool begun_ = writer_.begin();
  uint32_t kernels_ = 0;
  Scope scope_;
  std::optional<EventStore> store_;
  std::optional<CallTree> tree_;
  std::optional<StallSamples> samples_;
  std::optional<SheetInput> input_;
};

TEST_F(HardwareSheets, SamplesByKernelInstructionAndReason) {
  add_kernel("small(float*)", 100, 200);
  add_kernel("large(float*)", 1000, 9000);
  add_sample("small(float*)", 0x40, "wait", 500);
  add_sample("large(float*)", 0x10, "long_scoreboard", 60, "/src/a.cu", 7);
  add_sample("large(float*)", 0x20, "long_scoreboard", 10, "/src/a.cu", 8);
  add_sample("large(float*)", 0x10, "long_scoreboard", 20, "/src/a.cu", 7);  // a later record
  add_sample("large(float*)", 0x20, "selected", 10, "/src/a.cu", 8);
  read();
  EXPECT_EQ(to_csv(stall_samples_sheet(*input_, *samples_)),
            "Kernel name,Source,PC offset,Stall reason,Samples,% of the kernel's samples\n"
            "large(float*),/src/a.cu:7,0x10,long_scoreboard,80,80\n"
            "large(float*),/src/a.cu:8,0x20,long_scoreboard,10,10\n"
            "large(float*),/src/a.cu:8,0x20,selected,10,10\n"
            "small(float*),,0x40,wait,500,100\n");
}

// Lines sum their instructions; an instruction without line information stands for itself.
TEST_F(HardwareSheets, TheReportNamesTheLinesThatStall) {
  add_kernel("rows", 1000, 9000);
  add_sample("rows", 0x10, "long_scoreboard", 30, "/src/a.cu", 7);
  add_sample("rows", 0x20, "long_scoreboard", 25, "/src/a.cu", 7);
  add_sample("rows", 0x20, "wait", 5, "/src/a.cu", 7);
  add_sample("rows", 0x30, "selected", 35, "/src/a.cu", 9);  // busy, but no stall
  add_sample("rows", 0x40, "barrier", 5, "/src/a.cu", 9);
  add_sample("helper", 0x50, "wait", 1000);  // not a kernel of the trace: after those that are
  read();
  const Summary::Stalls stalls = summarize_stalls(*input_, *samples_);
  ASSERT_EQ(stalls.places.size(), 3u);
  EXPECT_EQ(stalls.places[0].place, "/src/a.cu:7");
  EXPECT_EQ(stalls.places[0].reasons, "long_scoreboard 92 %, wait 8 %");
  EXPECT_DOUBLE_EQ(stalls.places[0].percent, 60);
  EXPECT_EQ(stalls.places[1].place, "/src/a.cu:9");
  EXPECT_DOUBLE_EQ(stalls.places[1].percent, 5);
  EXPECT_EQ(stalls.places[2].kernel, "helper");
  EXPECT_EQ(stalls.places[2].place, "PC 0x50");
  EXPECT_EQ(stalls.samples, 1100);
  EXPECT_EQ(stalls.samples_with_line, 100);
  const std::string page = md_stalls(stalls);
  EXPECT_NE(page.find("| `/src/a.cu:7` | 60.0 % |"), std::string::npos) << page;
  EXPECT_NE(page.find("-lineinfo"), std::string::npos) << page;
}

TEST_F(HardwareSheets, WithLinesEverywhereNothingIsAskedOfTheCompiler) {
  add_kernel("rows", 1000, 9000);
  add_sample("rows", 0x10, "wait", 30, "/src/a.cu", 7);
  read();
  EXPECT_EQ(md_stalls(summarize_stalls(*input_, *samples_)).find("-lineinfo"), std::string::npos);
}

TEST_F(HardwareSheets, SamplesOfOneDevice) {
  add_kernel("rows", 1000, 9000);
  add_sample("rows", 0x10, "wait", 30, "", 0, 0);
  add_sample("rows", 0x10, "wait", 50, "", 0, 1);
  scope_.device = 0;
  read();
  EXPECT_EQ(summarize_stalls(*input_, *samples_).samples, 30);
}

TEST_F(HardwareSheets, RecordsThatAreTooSmallAreNoSamples) {
  add_kernel("rows", 1000, 9000);
  writer_.copy(capture::ChunkKind::kSamples, 8, std::string(80, 'x'));
  read();
  EXPECT_FALSE(samples_.has_value());
}

// Texts that are missing, counts beyond any machine's.
TEST_F(HardwareSheets, HostileSamplesAreBounded) {
  add_kernel("rows", 1000, 9000);
  for (int i = 0; i < 4; ++i) {
    capture::Sample sample = {};
    sample.samples = UINT64_MAX;
    sample.function = sample.reason = sample.file = 4'000'000'000;
    sample.device = UINT32_MAX;
    writer_.write<capture::Sample>(capture::ChunkKind::kSamples, {&sample, 1});
  }
  writer_.write_meta("pc_sampling\t-5\nx\npc_sampling\t99\t1\t99999999999999999999\t1\n");
  read();
  ASSERT_TRUE(samples_.has_value());
  ASSERT_EQ(samples_->rows.size(), 1u);
  EXPECT_EQ(samples_->rows[0].samples, uint64_t{1} << 40);
  EXPECT_FALSE(samples_->period_cycles.has_value());
  EXPECT_EQ(stall_samples_sheet(*input_, *samples_).rows(), 1u);
}

// A number stands for the time up to halfway to the next one.
TEST_F(HardwareSheets, ClocksAreMeansOverTheTimeOfKernels) {
  for (const uint64_t at : {1000, 1100, 1200})
    add_number(0, capture::GpuNumber::kSmClock, at * kMs, at == 1100 ? 1000 : 2000);
  add_number(0, capture::GpuNumber::kClockReasons, 1000 * kMs, 0);
  add_number(0, capture::GpuNumber::kClockReasons, 1100 * kMs, 4);
  add_number(0, capture::GpuNumber::kClockReasons, 1200 * kMs, 0);
  add_kernel("inside", 1060 * kMs, 1140 * kMs);  // 1050 to 1150 is the second number's
  add_kernel("across", 1100 * kMs, 1200 * kMs);
  add_kernel("other GPU", 1100 * kMs, 1200 * kMs, 1);
  const KernelClocks found = clocks();
  ASSERT_EQ(found.kernels.size(), 3u);
  const auto of = [&](std::string_view name) -> const ClockMeans& {
    for (const KernelClocks::Kernel& kernel : found.kernels)
      if (store_->text(kernel.name) == name) return kernel.means;
    return found.all;
  };
  EXPECT_NEAR(*of("inside").mean(0), 1000, 1e-6);
  EXPECT_NEAR(*of("inside").share(of("inside").power_capped), 1, 1e-9);
  EXPECT_NEAR(*of("across").mean(0), 1500, 1e-6);
  EXPECT_NEAR(*of("across").share(of("across").power_capped), 0.5, 1e-9);
  EXPECT_FALSE(of("other GPU").mean(0).has_value());
  EXPECT_FALSE(of("across").mean(2).has_value());  // no power was recorded
  EXPECT_EQ(of("other GPU").known_share(), 0);
  EXPECT_NEAR(found.all.known_share(), 180.0 / 280, 1e-9);
  const std::string csv = to_csv(kernel_clocks_sheet(*input_, found));
  EXPECT_NE(csv.find("across,1,100,100,1500,,,,50,0,SW power cap 50 %\n"), std::string::npos)
      << csv;
  EXPECT_NE(csv.find("other GPU,1,100,0,,,,,,,\n"), std::string::npos) << csv;
}

// Far from any number nothing is known.
TEST_F(HardwareSheets, ANumberDoesNotStandForLongAfterwards) {
  add_number(0, capture::GpuNumber::kPower, 1000 * kMs, 300);
  add_kernel("later", 1200 * kMs, 1300 * kMs);
  add_kernel("partly", 1050 * kMs, 1150 * kMs);
  const KernelClocks found = clocks();
  EXPECT_NEAR(found.all.known_share(), 0.25, 1e-9);
  EXPECT_NEAR(*found.all.mean(2), 300, 1e-9);
}

TEST_F(HardwareSheets, OtherNumbersAreNoClocks) {
  const capture::Number number{1000, 5, writer_.text("GPU 0 queue"), 0};
  writer_.write<capture::Number>(capture::ChunkKind::kNumbers, {&number, 1});
  add_kernel("rows", 1000, 9000);
  read();
  EXPECT_FALSE(measure_clocks(*input_).has_value());
  EXPECT_FALSE(summarize_clocks(*input_).has_value());
}

// The same load near and below what is worth a warning.
TEST_F(HardwareSheets, ThrottlingIsSaidFromFivePercentOn) {
  add_number(0, capture::GpuNumber::kClockReasons, 1000 * kMs, 4);
  add_number(0, capture::GpuNumber::kClockReasons, 1100 * kMs, 0);
  add_number(0, capture::GpuNumber::kSmClock, 1000 * kMs, 1500);
  add_kernel("rows", 1044 * kMs, 1144 * kMs);
  read();
  const Summary::Clocks some = *summarize_clocks(*input_);
  EXPECT_TRUE(is_throttled(some));
  EXPECT_NE(clocks_text(some).find("power cap in 6.0 % of kernel time"), std::string::npos)
      << clocks_text(some);
  Summary::Clocks less = some;
  less.power_cap_percent = less.slowed_percent = 4.9;
  EXPECT_FALSE(is_throttled(less));
  EXPECT_EQ(clocks_text(less), "SM clock 1500 MHz on average while kernels ran");
  Summary::Clocks hot = some;
  hot.power_cap_percent = 0;
  hot.thermal_percent = 50;
  EXPECT_NE(clocks_text(hot).find("thermal slowdown in 50.0 %"), std::string::npos);
}

TEST_F(HardwareSheets, HostileNumbersAreBounded) {
  for (const double value : {1e300, -1e300, 0.5, -1.0}) {
    for (const uint64_t time : {uint64_t{0}, uint64_t{1}, UINT64_MAX, uint64_t{1} << 62}) {
      add_number(0, capture::GpuNumber::kClockReasons, time, value);
      add_number(4'000'000'000, capture::GpuNumber::kSmClock, time, value);
    }
  }
  add_kernel("rows", 20, UINT64_MAX);
  const KernelClocks found = clocks();
  EXPECT_EQ(kernel_clocks_sheet(*input_, found).rows(), 1u);
}

}  // namespace
}  // namespace fathom
