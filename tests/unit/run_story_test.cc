// Stories of small traces, line by line.
#include "report/trace/run_story.h"

#include <fmt/format.h>

#include <algorithm>

#include "checks.h"
#include "session/story.h"
#include "story/run/kernel_evidence.h"
#include "story/run/work_labels.h"
#include "story/run/work_shares.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::annotation;
using test::kernel;
using test::launch_call;

using Kind = StoryLineKind;

std::string as_it_is(std::string_view text) { return std::string(text); }

RunStory told(const Trace& trace, const StorySelection& selection = {}) {
  StoryOptions options;
  options.selection = selection;
  Result<RunStory> story = tell_story(trace, {}, options);
  EXPECT_TRUE(story.ok()) << story.error().message;
  return story.ok() ? story.take() : RunStory{};
}

const StoryLine* find_line(const std::vector<StoryLine>& lines, Kind kind) {
  const auto found = std::ranges::find(lines, kind, &StoryLine::kind);
  return found == lines.end() ? nullptr : &*found;
}

// Runs of an annotated phase, each of kernels that follow each other after `gap` µs.
class RunBuilder {
 public:
  void run(std::string_view phase, int64_t begin, const std::vector<std::string>& names,
           int64_t duration, int64_t gap) {
    int64_t at = begin;
    for (const std::string& name : names) {
      ++id_;
      // Launched when the last one has ended, where there is a gap.
      events_.push_back(launch_call(at, 1, id_));
      events_.push_back(kernel(name, at + gap, duration, id_));
      at += gap + duration;
    }
    events_.push_back(annotation(phase, begin, at - begin));
  }
  Trace open() const { return test::open_events(events_); }

 private:
  std::vector<std::string> events_;
  int64_t id_ = 0;
};

TEST(RunStory, PhasesIdleTimeAndTotalAddUp) {
  RunBuilder b;
  b.run("prefill", 0, {"a", "b"}, 100, 5);
  b.run("decode", 300, {"a", "b", "c"}, 2, 30);
  b.run("decode", 500, {"a", "b", "c"}, 2, 30);
  const RunStory story = told(b.open());
  ASSERT_EQ(story.phases.size(), 2u);
  EXPECT_EQ(story.phases[0].kind, PhaseKind::kPrefill);
  EXPECT_EQ(story.phases[0].busy, test::micros(200));
  EXPECT_EQ(story.phases[0].idle, test::micros(5));
  EXPECT_EQ(story.phases[1].runs, 2u);
  EXPECT_EQ(story.phases[1].busy, test::micros(12));
  EXPECT_EQ(story.phases[1].idle, test::micros(120));
  // From 210 to 330, and from 396 to 530.
  EXPECT_EQ(story.between, test::micros(120 + 134));
  EXPECT_EQ(story.total, test::micros(596 - 5));
}

TEST(RunStory, AHostBoundPhaseSaysSoAndABusyOneDoesNot) {
  RunBuilder b;
  b.run("prefill", 0, {"a", "b", "c", "d"}, 100, 1);
  b.run("decode", 1000, {"a", "b", "c", "d"}, 2, 30);
  const RunStory story = told(b.open());
  ASSERT_EQ(story.phases.size(), 2u);
  EXPECT_EQ(find_line(story.phases[0].lines, Kind::kIdleInPhase), nullptr);
  const StoryLine* idle = find_line(story.phases[1].lines, Kind::kIdleInPhase);
  ASSERT_NE(idle, nullptr);
  EXPECT_EQ(idle->topic, StoryTopic::kHost);
  EXPECT_NEAR(*idle->number("share"), 100.0 * 90 / 98, 0.01);
  ASSERT_EQ(story.transitions.size(), 1u);
  const StoryLine* why = find_line(story.transitions[0].lines, Kind::kWhyLaunches);
  ASSERT_NE(why, nullptr);
  EXPECT_EQ(why->mark, StoryMark::kDerived);
  EXPECT_NEAR(*why->number("kernel"), 2, 1e-9);
  ASSERT_FALSE(story.bottlenecks.empty());
  EXPECT_EQ(story.bottlenecks[0].topic, StoryTopic::kHost);
}

TEST(RunStory, AFirstRunThatIsSlowerIsWarmUpAndOneThatIsNotHasNoLine) {
  RunBuilder slow, even;
  for (int64_t i = 0; i < 5; ++i) {
    slow.run("decode", i * 1000, {"a", "b"}, i == 0 ? 200 : 20, 5);
    even.run("decode", i * 1000, {"a", "b"}, 20, 5);
  }
  const RunStory with = told(slow.open()), without = told(even.open());
  ASSERT_EQ(with.phases.size(), 1u);
  const StoryLine* first = find_line(with.phases[0].lines, Kind::kFirstRun);
  ASSERT_NE(first, nullptr);
  EXPECT_NEAR(*first->number("ratio"), 405.0 / 45, 0.01);
  EXPECT_EQ(find_line(with.phases[0].lines, Kind::kSlowestRun), nullptr);
  ASSERT_EQ(without.phases.size(), 1u);
  EXPECT_EQ(find_line(without.phases[0].lines, Kind::kFirstRun), nullptr);
}

TEST(RunStory, LayersAreToldOnceWithTheirNumber) {
  RunBuilder b;
  std::vector<std::string> names = {"embed"};
  for (int i = 0; i < 6; ++i) {
    names.emplace_back("qkv");
    names.emplace_back("attend");
  }
  names.emplace_back("head");
  b.run("decode", 0, names, 10, 0);
  const RunStory story = told(b.open());
  ASSERT_EQ(story.phases.size(), 1u);
  const std::vector<StoryEvent>& events = story.phases[0].events;
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].what.names[0], "embed");
  EXPECT_EQ(*events[0].what.number("repeats"), 1);
  EXPECT_EQ(events[1].what.names[0], "qkv");
  EXPECT_EQ(*events[1].what.number("repeats"), 6);
  EXPECT_EQ(events[1].at, test::micros(10));
  EXPECT_NEAR(*events[1].what.number("time"), 60, 1e-9);
  EXPECT_EQ(events[2].what.names[0], "attend");
  EXPECT_EQ(events[3].what.names[0], "head");
}

TEST(RunStory, ARepeatedUnitIsTheShortestThatExplainsMost) {
  const auto unit = [](const std::vector<uint32_t>& tokens) { return find_repeated_unit(tokens); };
  std::vector<uint32_t> layers = {9};
  for (int i = 0; i < 8; ++i) layers.insert(layers.end(), {1, 2, 1, 3});
  layers.push_back(8);
  EXPECT_EQ(unit(layers).length, 4u);
  EXPECT_EQ(unit(layers).times, 8u);
  EXPECT_EQ(unit(layers).begin, 1u);
  // Near-twins: nothing repeats; what repeats is less than half.
  EXPECT_EQ(unit({1, 2, 3, 4, 5, 6}).times, 0u);
  EXPECT_EQ(unit({1, 2, 1, 2, 10, 11, 12, 13, 14, 15, 16}).times, 0u);
  EXPECT_EQ(unit({}).times, 0u);
}

TEST(RunStory, OverlappedCommunicationCountsOnlyWhereItIsExposed) {
  const Trace trace = test::open_events({
      launch_call(0, 1, 1),
      launch_call(1, 1, 2),
      kernel("compute", 10, 100, 1, 7),
      kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)", 60, 100, 2, 8),
  });
  const SheetInput input(trace.store, trace.tree, Scope{});
  const WorkShares shares = share_time(input, timeline_events(input));
  ASSERT_EQ(shares.work.size(), 2u);
  EXPECT_EQ(shares.owned[0], test::micros(100));
  EXPECT_EQ(shares.owned[1], test::micros(50));
}

TEST(RunStory, WorkOfEqualRankBelongsToTheLatest) {
  const Trace trace = test::open_events({
      launch_call(0, 1, 1),
      launch_call(1, 1, 2),
      kernel("long", 10, 100, 1, 7),
      kernel("short", 30, 20, 2, 8),
      // Of no length: it owns nothing.
      launch_call(2, 1, 3),
      kernel("empty", 40, 0, 3, 9),
  });
  const SheetInput input(trace.store, trace.tree, Scope{});
  const WorkShares shares = share_time(input, timeline_events(input));
  ASSERT_EQ(shares.work.size(), 3u);
  EXPECT_EQ(shares.owned[0], test::micros(80));
  EXPECT_EQ(shares.owned[1], test::micros(20));
  EXPECT_EQ(shares.owned[2], Nanos{});
}

TEST(RunStory, ASelectionOfNothingListsTheNearestNames) {
  RunBuilder b;
  b.run("decode", 0, {"softmax_kernel", "gemm_kernel"}, 10, 1);
  const Trace trace = b.open();
  const auto error_of = [&trace](StorySelection selection) {
    StoryOptions options;
    options.selection = std::move(selection);
    const Result<RunStory> story = tell_story(trace, {}, options);
    return story.ok() ? std::string() : story.error().message;
  };
  EXPECT_NE(error_of({{}, {}, "sofmax_kernel", {}}).find("softmax_kernel"), std::string::npos);
  EXPECT_NE(error_of({"decod*x", {}, {}, {}}).find("decode"), std::string::npos);
  EXPECT_NE(error_of({{}, {}, {}, "Attention"}).find("no modules"), std::string::npos);
  EXPECT_EQ(error_of({{}, {}, "SOFTMAX", {}}), "");
  EXPECT_EQ(error_of({"dec", {}, "gemm*", {}}), "");
}

TEST(RunStory, AKernelIsToldWithItsLaunch) {
  RunBuilder b;
  b.run("decode", 0, {"softmax_kernel", "gemm_kernel"}, 10, 1);
  const RunStory story = told(b.open(), {{}, {}, "gemm", {}});
  ASSERT_EQ(story.kernels.size(), 1u);
  EXPECT_EQ(story.kernels[0].name, "gemm_kernel");
  EXPECT_NE(find_line(story.kernels[0].lines, Kind::kLaunch), nullptr);
  EXPECT_NE(find_line(story.kernels[0].lines, Kind::kUntested), nullptr);
  ASSERT_EQ(story.phases.size(), 1u);
  EXPECT_EQ(story.phases[0].busy, test::micros(10));
}

// A kernel with these values, by which hypotheses are tested.
KernelContext context_with(HardwareValues values) {
  KernelContext kernel;
  kernel.values = std::move(values);
  add_derived_values(kernel.values);
  kernel.tested = test_hypotheses(kernel.values);
  return kernel;
}

bool explains(const KernelContext& kernel, std::string_view id) {
  return std::ranges::any_of(kernel.tested, [&](const TestedHypothesis& tested) {
    return tested.hypothesis->id == id && explains_kernel(kernel, tested);
  });
}

TEST(RunStory, AUnitNearItsPeakLeavesNoRoomForAnotherExplanation) {
  const HardwareValues values = {
      {"stall_barrier", 40}, {"issue", 0.1}, {"dram_throughput", 10}, {"lsu_data", 10},
      {"l2_sectors", 10},    {"tensor", 30}, {"sm_throughput", 30},   {"trace_duration_us", 50}};
  EXPECT_TRUE(explains(context_with(values), "barrier_wait"));
  HardwareValues busy = values;
  busy["tensor"] = 92;
  EXPECT_FALSE(explains(context_with(busy), "barrier_wait"));
}

StoryLine line_of(Kind kind, StoryTopic topic, std::vector<std::string> names,
                  std::vector<StoryNumber> numbers) {
  return {kind, StoryMark::kMeasured, topic, std::move(names), std::move(numbers), {}};
}

TEST(StorySentences, StateUnitsAndCounts) {
  EXPECT_EQ(story_sentence(line_of(Kind::kHardware, StoryTopic::kNone, {"long_scoreboard"},
                                   {{"sm", 68, "%"},
                                    {"tensor", 35, "%"},
                                    {"dram", 72, "%"},
                                    {"stall_1", 42, "%"},
                                    {"coverage", 100, "%"}}),
                           as_it_is),
            "SM 68 %   tensor 35 %   DRAM 72 %   stalls: long scoreboard 42 %");
  EXPECT_EQ(
      story_sentence(
          line_of(
              Kind::kPhaseRuns, StoryTopic::kNone, {},
              {{"runs", 1, ""}, {"median", 1234, "µs"}, {"kernels", 1, ""}, {"busy", 9.94, "%"}}),
          as_it_is),
      "1 run of 1.23 ms; 1 GPU event, GPU busy 9.9 %");
  EXPECT_EQ(story_sentence(line_of(Kind::kWhyIntensity, StoryTopic::kMemory, {},
                                   {{"before", 233, ""}, {"after", 3.94, ""}, {"ridge", 206, ""}}),
                           as_it_is),
            "why: intensity 233 → 3.94 FLOP/B crosses the ridge of 206: bytes set the time");
  // The near-twin stays on one side.
  EXPECT_EQ(story_sentence(line_of(Kind::kWhyIntensity, StoryTopic::kMemory, {},
                                   {{"before", 105, ""}, {"after", 0.5, ""}, {"ridge", 206, ""}}),
                           as_it_is),
            "why: intensity 105 → 0.5 FLOP/B against a ridge of 206: bytes set the time");
  EXPECT_EQ(story_sentence(line_of(Kind::kSmallGrid, StoryTopic::kNone, {"k", "SM"},
                                   {{"blocks", 1, ""}, {"units", 132, ""}, {"share", 0.76, "%"}}),
                           as_it_is),
            "1 block for 132 SMs: at most 0.8 % of them have work");
}

TEST(StorySentences, TextOfTheTraceIsInert) {
  RunBuilder b;
  const std::string evil = "k\\u001b[31m<script>`|*" + std::string(100'000, 'x');
  b.run("decode", 0, {evil, evil, "other"}, 10, 5);
  const RunStory story = told(b.open());
  const std::string text = story_text(story, {false, false, 80}, true);
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_LT(text.size(), 30'000u);
  const std::string markdown = story_markdown(story, true);
  EXPECT_EQ(markdown.find('\033'), std::string::npos);
  EXPECT_LT(markdown.size(), 60'000u);
  EXPECT_LT(story_json(story).size(), 100'000u);
  EXPECT_EQ(story_json(story).find('\033'), std::string::npos);
}

TEST(RunStory, ATraceWithoutGpuWorkIsToldFromItsOps) {
  const Trace trace = test::open_events({
      test::cpu_op("aten::mm", 0, 100),
      test::cpu_op("aten::add", 120, 10),
  });
  const RunStory story = told(trace);
  EXPECT_TRUE(story.phases.empty());
  ASSERT_FALSE(story.hotspots.empty());
  EXPECT_EQ(story.hotspots[0].names[0], "aten::mm");
  ASSERT_FALSE(story.missing.empty());
  EXPECT_EQ(story.missing[0].topic, StoryTopic::kGpuWork);
}

// Durations whose sum is no 64-bit number, at one time: shares stay shares.
TEST(RunStory, DurationsOfCenturiesStayShares) {
  std::vector<std::string> events;
  for (int64_t i = 1; i <= 200; ++i) {
    events.push_back(launch_call(i, 1, i));
    events.push_back(kernel("", 1000 + i, 5'000'000'000'000, i, i));
  }
  const RunStory story = told(test::open_events(events));
  ASSERT_EQ(story.phases.size(), 1u);
  const StoryLine* hidden = find_line(story.phases[0].lines, Kind::kOverlapped);
  ASSERT_NE(hidden, nullptr);
  EXPECT_GT(*hidden->number("time"), 0);
  EXPECT_GT(*hidden->number("share"), 99);
  EXPECT_LE(*hidden->number("share"), 100);
  EXPECT_NE(story_text(story, {}, false).find("(no name)"), std::string::npos);
}

TEST(RunStory, KernelsOfNoLengthAndAtOneTimeAreTold) {
  RunBuilder b;
  b.run("decode", 0, {"a", "b", "c"}, 0, 0);
  const RunStory story = told(b.open());
  EXPECT_EQ(story.total, Nanos{});
  EXPECT_FALSE(story_text(story, {}, false).empty());
}

}  // namespace
}  // namespace fathom
