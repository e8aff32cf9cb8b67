// What a story may claim, and what it must not: each claim beside a trace that only looks like it.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/pipeline.h"
#include "checks.h"
#include "report/trace/run_story.h"
#include "session/story.h"
#include "sheets/kernel_contexts.h"
#include "tree/setup_spans.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::annotation;
using test::cpu_op;
using test::kernel;
using test::launch_call;

using Line = StoryLineKind;

class StoryTrace {
 public:
  // An op that launches one kernel.
  void op(std::string_view name, std::string_view args, std::string_view kernel_name, int64_t begin,
          int64_t duration, int64_t device = 0) {
    ++id_;
    events_.push_back(cpu_op(name, begin, 4, args));
    events_.push_back(launch_call(begin + 1, 1, id_));
    events_.push_back(kernel(kernel_name, begin + 5, duration, id_, 7, device));
  }
  void run(std::string_view kernel_name, int64_t begin, int64_t duration, int64_t device = 0) {
    ++id_;
    events_.push_back(launch_call(begin, 1, id_));
    events_.push_back(kernel(kernel_name, begin + 1, duration, id_, 7, device));
  }
  void copy(std::string_view name, int64_t begin, int64_t duration) {
    ++id_;
    events_.push_back(launch_call(begin, 1, id_, "1", "cudaMemcpyAsync"));
    events_.push_back(test::event_text(
        "gpu_memcpy", name, begin, duration,
        fmt::format(R"("device":0,"stream":7,"correlation":{},"bytes":4096)", id_), "0", "7"));
  }
  void add(std::string event) { events_.push_back(std::move(event)); }
  void number(std::string_view name, int64_t time, double value) {
    events_.push_back(fmt::format(
        R"({{"ph":"C","name":"{}","pid":9,"ts":{},"args":{{"value":{}}}}})", name, time, value));
  }
  Trace open() const { return test::open_events(events_); }

 private:
  std::vector<std::string> events_;
  int64_t id_ = 0;
};

RunStory story_of(const Trace& trace, const Scope& scope = {}) {
  StoryOptions options;
  options.analysis.platform = Platforms::built_in().find("H200").value();
  Result<RunStory> story = tell_story(trace, scope, options);
  EXPECT_TRUE(story.ok()) << story.error().message;
  return story.ok() ? story.take() : RunStory{};
}

const StoryLine* line_of(const std::vector<StoryLine>& lines, Line kind,
                         StoryTopic topic = StoryTopic::kNone) {
  for (const StoryLine& line : lines)
    if (line.kind == kind && (topic == StoryTopic::kNone || line.topic == topic)) return &line;
  return nullptr;
}

std::string sentence(const StoryLine* line) {
  return line == nullptr
             ? std::string("no line")
             : story_sentence(*line, [](std::string_view text) { return std::string(text); });
}

constexpr std::string_view kSquareProduct =
    R"("Input Dims":[[4096,4096],[4096,4096]],"Input type":["c10::BFloat16","c10::BFloat16"])";

const StoryLine* rates_of(const RunStory& story) {
  if (story.phases.empty() || story.phases[0].events.empty()) return nullptr;
  return line_of(story.phases[0].events[0].lines, Line::kRates);
}

TEST(StoryClaims, AnOpFarFromBothLimitsIsBoundByNeither) {
  // 137 GFLOP: 139 µs at the peak of 989 TFLOP/s.
  for (const auto& [micros, topic] :
       {std::pair(200, StoryTopic::kCompute), std::pair(2000, StoryTopic::kLatency)}) {
    StoryTrace t;
    t.op("aten::mm", kSquareProduct, "gemm", 0, micros);
    const RunStory story = story_of(t.open());
    const StoryLine* rates = rates_of(story);
    ASSERT_NE(rates, nullptr) << micros;
    EXPECT_EQ(rates->topic, topic) << sentence(rates);
    ASSERT_FALSE(story.bottlenecks.empty());
    EXPECT_EQ(story.bottlenecks[0].topic, topic) << sentence(&story.bottlenecks[0]);
    ASSERT_FALSE(story.insights.empty());
    EXPECT_NEAR(*story.insights[0].number("far"), topic == StoryTopic::kLatency ? 100 : 0, 0.01);
  }
}

TEST(StoryClaims, TheSentenceOfAnOpFarFromBothLimitsHasBothShares) {
  StoryTrace t;
  t.op("aten::mm", kSquareProduct, "gemm", 0, 2000);
  const RunStory story = story_of(t.open());
  const std::string text = sentence(rates_of(story));
  EXPECT_TRUE(text.starts_with("far from both limits: ")) << text;
  EXPECT_NE(text.find("of DRAM peak"), std::string::npos) << text;
  EXPECT_NE(text.find("TFLOP/s (6.9 % of peak)"), std::string::npos) << text;
  const std::string bottleneck = sentence(&story.bottlenecks[0]);
  EXPECT_NE(bottleneck.find("neither memory nor arithmetic"), std::string::npos) << bottleneck;
  EXPECT_NE(bottleneck.find("counters would show why"), std::string::npos) << bottleneck;
}

TEST(StoryClaims, AnOpFasterThanMemoryAllowsIsNotMemoryBound) {
  // 1.6 GB read and written in 20 µs: nothing that DRAM could do.
  StoryTrace t;
  t.op("aten::neg", R"("Input Dims":[[200000000]],"Input type":["float"])", "neg", 0, 20);
  const RunStory story = story_of(t.open());
  EXPECT_EQ(line_of(story.bottlenecks, Line::kBottleneck, StoryTopic::kMemory), nullptr);
}

TEST(StoryClaims, KernelsOfUnknownLimitsAreNoIdleTime) {
  StoryTrace t;
  t.run("a", 0, 1000);
  t.run("b", 500, 1000);
  const RunStory story = story_of(t.open());
  ASSERT_EQ(story.bottlenecks.size(), 1u);
  EXPECT_EQ(story.bottlenecks[0].topic, StoryTopic::kUnknownLimit);
  EXPECT_EQ(sentence(&story.bottlenecks[0]),
            "kernels take 100 % of the time (1.50 ms); counters would show what limits them");
}

TEST(StoryClaims, ATransitionBlamesBytesOnlyNearTheMemoryLimit) {
  constexpr std::string_view kOneRow =
      R"("Input Dims":[[1,4096],[4096,4096]],"Input type":["c10::BFloat16","c10::BFloat16"])";
  // 33.6 MB of weights: 7 µs at 4.8 TB/s.
  for (const auto& [micros, is_far] : {std::pair(9, false), std::pair(90, true)}) {
    StoryTrace t;
    t.add(annotation("prefill", 0, 100));
    t.op("aten::mm", kSquareProduct, "gemm", 0, 180);
    t.add(annotation("decode", 1000, 100));
    t.op("aten::mm", kOneRow, "gemv", 1000, micros);
    const RunStory story = story_of(t.open());
    ASSERT_EQ(story.transitions.size(), 1u);
    const StoryLine* why = line_of(story.transitions[0].lines, Line::kWhyIntensity);
    ASSERT_NE(why, nullptr);
    EXPECT_EQ(why->number("of_peak").has_value(), is_far) << sentence(why);
    EXPECT_EQ(sentence(why).find("bytes set the time") == std::string::npos, is_far);
  }
}

// Two GPUs that work at the same time, the second longer.
Trace two_gpus() {
  StoryTrace t;
  t.run("first", 0, 100, 0);
  t.run("second", 10, 300, 1);
  t.run("first", 500, 100, 0);
  return t.open();
}

TEST(StoryDevices, TheBusiestGpuIsToldAndTheOthersAreListed) {
  const Trace trace = two_gpus();
  const RunStory story = story_of(trace);
  ASSERT_EQ(story.hotspots.size(), 1u);
  EXPECT_EQ(story.hotspots[0].name(0), "second");
  EXPECT_EQ(story.total, test::micros(300));
  const StoryLine* gpus = line_of(story.configuration, Line::kGpus);
  ASSERT_NE(gpus, nullptr);
  EXPECT_EQ(gpus->number("told"), 1);
  EXPECT_EQ(gpus->number("count"), 2);
  EXPECT_EQ(gpus->number("device_1"), 0);
  EXPECT_EQ(gpus->number("busy_1"), 200);
  Scope scope;
  scope.device = 0;
  const RunStory other = story_of(trace, scope);
  ASSERT_EQ(other.hotspots.size(), 1u);
  EXPECT_EQ(other.hotspots[0].name(0), "first");
  EXPECT_EQ(line_of(other.configuration, Line::kGpus)->number("told"), 0);
}

TEST(StoryDevices, OneGpuIsNotCountedAndASelectionFindsItsGpu) {
  StoryTrace t;
  t.run("first", 0, 100, 3);
  t.run("first", 500, 100, 3);
  EXPECT_EQ(line_of(story_of(t.open()).configuration, Line::kGpus), nullptr);
  StoryOptions options;
  options.selection.kernel = "first";
  const Result<RunStory> story = tell_story(two_gpus(), {}, options);
  ASSERT_TRUE(story.ok()) << story.error().message;
  EXPECT_EQ(line_of(story.value().configuration, Line::kGpus)->number("told"), 0);
}

// A second of kernels with clocks that are sampled every 100 ms.
RunStory clocks_story(double clock, double reasons) {
  StoryTrace t;
  for (int64_t i = 0; i < 10; ++i) {
    t.run("gemm", i * 100'000, 99'000);
    t.number("GPU 0 SM clock (MHz)", i * 100'000 + 50'000, clock);
    t.number("GPU 0 power (W)", i * 100'000 + 50'000, 690);
    t.number("GPU 0 clock event reasons (bits)", i * 100'000 + 50'000, reasons);
  }
  return story_of(t.open());
}

TEST(StoryClocks, AClockUnderThePowerCapIsABottleneckAndALineOfThePhase) {
  const RunStory story = clocks_story(1500, 4);
  ASSERT_FALSE(story.bottlenecks.empty());
  EXPECT_EQ(story.bottlenecks[0].topic, StoryTopic::kThrottling);
  EXPECT_EQ(story.bottlenecks[0].name(0), "power cap");
  EXPECT_NEAR(*story.bottlenecks[0].number("most"), 1980.0 / 1500, 0.001);
  ASSERT_FALSE(story.phases.empty());
  const StoryLine* line = line_of(story.phases[0].lines, Line::kThrottled);
  EXPECT_EQ(sentence(line), "power cap in 100 % of kernel time: SM clock 1500 of 1980 MHz, 690 W");
  EXPECT_EQ(clocks_story(1500, 0x40).bottlenecks[0].name(0), "thermal slowdown");
}

TEST(StoryClocks, ACapWithoutALowerClockAndALowClockWithoutAReasonAreNone) {
  for (const auto& [clock, reasons] :
       {std::pair(1965.0, 4.0), std::pair(1500.0, 0.0), std::pair(1500.0, 1.0)}) {
    const RunStory story = clocks_story(clock, reasons);
    EXPECT_EQ(line_of(story.bottlenecks, Line::kBottleneck, StoryTopic::kThrottling), nullptr);
    EXPECT_EQ(line_of(story.phases[0].lines, Line::kThrottled), nullptr) << clock;
  }
}

RunStory decode_runs(const std::vector<int64_t>& gaps, int64_t first_kernel = 10) {
  StoryTrace t;
  int64_t at = 0;
  for (const int64_t gap : gaps) {
    t.add(annotation("decode", at, gap + 100));
    t.run("a", at, at == 0 ? first_kernel : 10);
    t.run("b", at + first_kernel + gap, 10);
    at += gap + 2 * first_kernel + 1000;
  }
  return story_of(t.open());
}

TEST(StoryRuns, AColdFirstRunOfTwoDoesNotMoveTheMedian) {
  const RunStory story = decode_runs({4000, 40});
  ASSERT_EQ(story.phases.size(), 1u);
  const std::vector<StoryLine>& lines = story.phases[0].lines;
  const StoryLine* runs = line_of(lines, Line::kPhaseRuns);
  EXPECT_EQ(runs->number("median"), 60) << sentence(runs);
  EXPECT_EQ(runs->number("steady"), 1);
  EXPECT_EQ(runs->number("runs"), 2);
  const StoryLine* first = line_of(lines, Line::kFirstRun);
  ASSERT_NE(first, nullptr);
  EXPECT_NEAR(*first->number("ratio"), 4020.0 / 60, 0.1);
  EXPECT_NE(sentence(first).find("warm-up"), std::string::npos);
  // Idle time is of the same run as the median.
  EXPECT_EQ(line_of(lines, Line::kIdleInPhase)->number("run"), 60);
}

TEST(StoryRuns, RunsOfLikeLengthAreToldTogether) {
  const RunStory story = decode_runs({50, 40});
  const StoryLine* runs = line_of(story.phases.at(0).lines, Line::kPhaseRuns);
  EXPECT_FALSE(runs->number("steady").has_value());
  EXPECT_EQ(runs->number("median"), 65);
  EXPECT_EQ(line_of(story.phases[0].lines, Line::kFirstRun), nullptr);
}

TEST(StoryRuns, AFirstRunWithMoreGpuWorkIsNoWarmUp) {
  const RunStory story = decode_runs({40, 40, 40}, 2000);
  const StoryLine* first = line_of(story.phases.at(0).lines, Line::kFirstRun);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(sentence(first).find("warm-up"), std::string::npos) << sentence(first);
}

TEST(SetupSpans, NamesOfCompilersAndAutotunersAreKnownAndLookAlikesAreNot) {
  EXPECT_EQ(setup_kind("CachingAutotuner.benchmark_all_configs (dynamo_timed)"),
            SetupKind::kAutotuning);
  EXPECT_EQ(setup_kind("triton/testing.py(132): do_bench"), SetupKind::kAutotuning);
  EXPECT_EQ(setup_kind("CUDAGraphNode.record (dynamo_timed)"), SetupKind::kCapture);
  EXPECT_EQ(setup_kind("GraphLowering.run (dynamo_timed)"), SetupKind::kCompilation);
  EXPECT_EQ(setup_kind("nvrtcCompileProgram"), SetupKind::kCompilation);
  for (const std::string_view name :
       {"benchmark", "compile", "Torch-Compiled Region: 0/0", "my_benchmark_step", "autotune",
        "TorchDynamo Cache Lookup", "## Call CompiledFxGraph fksm ##", "cudaGraphLaunch"})
    EXPECT_FALSE(setup_kind(name).has_value()) << name;
}

// Products of an autotuner, or of a range of another name, then a step.
Trace tuned(std::string_view around) {
  StoryTrace t;
  constexpr std::string_view kSmall =
      R"("Input Dims":[[4,2048],[2048,2048]],"Input type":["c10::BFloat16","c10::BFloat16"])";
  constexpr std::string_view kSmaller =
      R"("Input Dims":[[3,2048],[2048,2048]],"Input type":["c10::BFloat16","c10::BFloat16"])";
  t.add(annotation("decode", 0, 20'500));
  t.add(cpu_op(around, 0, 20'200));
  for (int64_t i = 0; i < 200; ++i)
    t.op("aten::mm", i % 2 == 0 ? kSmall : kSmaller, "candidate", 100 + i * 100, 50);
  t.op("aten::neg", R"("Input Dims":[[20000000]],"Input type":["float"])", "step", 20'400, 40);
  return t.open();
}

TEST(StorySetup, WorkOfAnAutotunerIsNamedAndGetsNoAdvice) {
  const RunStory story = story_of(tuned("CachingAutotuner.benchmark_all_configs (dynamo_timed)"));
  ASSERT_EQ(story.phases.size(), 2u);
  EXPECT_EQ(story.phases[0].kind, PhaseKind::kSetup);
  EXPECT_EQ(story.phases[0].busy, test::micros(200 * 50));
  EXPECT_EQ(story.phases[1].kind, PhaseKind::kDecode);
  ASSERT_FALSE(story.hotspots.empty());
  EXPECT_EQ(story.hotspots[0].name(0), "aten::neg");
  EXPECT_NE(line_of(story.bottlenecks, Line::kBottleneck, StoryTopic::kSetup), nullptr);
  for (const StoryLine& action : story.actions)
    EXPECT_EQ(action.name(0).find("GEMM"), std::string_view::npos) << action.name(0);
}

TEST(StorySetup, TheSameWorkInARangeOfAnotherNameIsAPhase) {
  const RunStory story = story_of(tuned("model"));
  ASSERT_EQ(story.phases.size(), 1u);
  EXPECT_EQ(story.phases[0].kind, PhaseKind::kDecode);
  EXPECT_EQ(story.hotspots[0].name(0), "aten::mm");
  EXPECT_TRUE(std::ranges::any_of(story.actions, [](const StoryLine& action) {
    return action.name(0).find("small GEMMs") != std::string_view::npos;
  }));
}

// A loop in which copies to the device come before a kernel and its results go back after the last.
TEST(KernelCopies, ResultsThatGoBackBelongToTheKernelBeforeThem) {
  StoryTrace t;
  for (int64_t i = 0; i < 5; ++i) {
    const int64_t at = i * 1000;
    t.copy("Memcpy HtoD (Pinned -> Device)", at, 100);
    t.run("first", at + 100, 50);
    t.run("last", at + 200, 50);
    t.copy("Memcpy DtoH (Device -> Pinned)", at + 300, 400);
  }
  const Trace trace = t.open();
  const Scope scope;
  const SheetInput input(trace.store, trace.tree, scope);
  const auto contexts = launch_contexts(input, nullptr, kMostContexts);
  ASSERT_EQ(contexts.size(), 2u);
  for (const KernelContext& kernel : contexts)
    EXPECT_EQ(kernel.value("copies_around_us"), kernel.name == "first" ? 100 : 400) << kernel.name;
}

TEST(StorySentences, AGainOfCopiesIsOfTheKernelTogetherWithThem) {
  StoryLine line{Line::kAdvice,
                 StoryMark::kConfirmed,
                 StoryTopic::kNone,
                 {"copies", "Copy once."},
                 {{"least", 1.5, "×"}, {"most", 2, "×"}},
                 {}};
  EXPECT_EQ(sentence(&line),
            "Copy once. Expect 1.50–2.00 × for this kernel together with its copies.");
  line.names[0] = "dram_bandwidth";
  EXPECT_EQ(sentence(&line), "Copy once. Expect 1.50–2.00 × for this kernel.");
}

// Kernels far apart, launched one by one.
Trace slow_launches(std::string_view kernel_name) {
  StoryTrace t;
  for (int64_t i = 0; i < 20; ++i) t.run(kernel_name, i * 1000, 20);
  return t.open();
}

TEST(StoryAdvice, AProgramWithoutPyTorchGetsNoAdviceAboutIt) {
  for (const auto& [name, is_pytorch] :
       {std::pair("void my::scale<float>(float*)", false),
        std::pair("void at::native::vectorized_elementwise_kernel<4>(int)", true)}) {
    const RunStory story = story_of(slow_launches(name));
    ASSERT_FALSE(story.actions.empty());
    EXPECT_EQ(sentence(&story.actions[0]).find("torch.compile") != std::string::npos, is_pytorch)
        << sentence(&story.actions[0]);
  }
}

TEST(StoryLines, KernelsWithoutADurationDoNotShortenTheMean) {
  StoryTrace t;
  t.run("k", 0, 30);
  t.run("k", 100, 50);
  t.run("k", 200, 0);
  const RunStory story = story_of(t.open());
  const StoryLine* line = line_of(story.phases.at(0).events.at(0).lines, Line::kKernel);
  ASSERT_NE(line, nullptr);
  EXPECT_EQ(line->number("mean"), 40);
  EXPECT_EQ(sentence(line), "k 100 %: 2 × 40.0 µs, 1 more without a duration");
}

TEST(StoryMissing, AGpuThatIsNamedIsNotUnknownAndRecordedStacksAreSaid) {
  StoryTrace few, many;
  for (int64_t i = 0; i < 20; ++i) {
    few.run("k", i * 1000, 20);
    many.run("k", i * 1000, 20);
    many.add(test::event_text("python_function", "model.py(1): forward", i * 1000, 900));
    for (int64_t frame = 0; frame < 8; ++frame)
      many.add(
          test::event_text("python_function", "layer.py(1): call", i * 1000 + 1 + 10 * frame, 9));
  }
  EXPECT_EQ(line_of(story_of(few.open()).missing, Line::kMissing, StoryTopic::kStacks), nullptr);
  EXPECT_NE(line_of(story_of(many.open()).missing, Line::kMissing, StoryTopic::kStacks), nullptr);
  const StoryLine unknown{Line::kMissing,
                          StoryMark::kMeasured,
                          StoryTopic::kPlatform,
                          {"--platform NAME", "AMD Instinct MI350X"},
                          {},
                          {}};
  EXPECT_EQ(sentence(&unknown),
            "No rates are known of AMD Instinct MI350X: no peaks to compare with. Give them with "
            "--platform NAME");
}

}  // namespace
}  // namespace fathom
