#include "analyze/diff/diff.h"

#include <fmt/format.h>

#include "checks.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::annotation;
using test::cpu_op;
using test::kernel;
using test::launch_call;
using test::micros;
using test::open_events;

constexpr const char* kShape8 = R"("Input Dims":[[8,8],[8,8]],"Input type":["float","float"])";
constexpr const char* kShape16 = R"("Input Dims":[[16,8],[8,8]],"Input type":["float","float"])";
constexpr const char* kHalfShape8 =
    R"("Input Dims":[[8,8],[8,8]],"Input type":["c10::Half","c10::Half"])";

// Ops one after the other, each with one kernel; around them, what is asked for.
class Builder {
 public:
  Builder& op(std::string_view name, int64_t kernel_time, std::string_view args = kShape8,
              std::string_view kernel_name = "gemm") {
    ++correlation_;
    events_.push_back(cpu_op(name, at_, 8, args));
    events_.push_back(launch_call(at_ + 1, 2, correlation_));
    events_.push_back(kernel(kernel_name, gpu_at_, kernel_time, correlation_));
    gpu_at_ += kernel_time;
    at_ += 10;
    return *this;
  }
  // Around the ops since the last one.
  Builder& around(std::string_view name) {
    events_.push_back(cpu_op(name, begin_, at_ - begin_));
    begin_ = at_;
    return *this;
  }
  Builder& step(std::string_view name) {
    events_.push_back(annotation(name, begin_, at_ - begin_));
    begin_ = at_;
    return *this;
  }
  Builder& idle(int64_t time) {
    gpu_at_ += time;
    return *this;
  }
  Trace open() const { return open_events(events_); }

 private:
  std::vector<std::string> events_;
  int64_t at_ = 0, begin_ = 0, gpu_at_ = 1000, correlation_ = 0;
};

Diff diff_of(const Builder& a, const Builder& b, const Scope& scope = {}) {
  const Trace trace_a = a.open(), trace_b = b.open();
  return diff_traces({trace_a.store, trace_a.tree, scope}, {trace_b.store, trace_b.tree, scope});
}

// One row as a line: name, what it is, how matched, A and B in µs.
std::vector<std::string> rows(const Diff& diff) {
  std::vector<std::string> lines;
  for (const OpChange& op : diff.ops) {
    lines.push_back(fmt::format("{}: {}, {}, {} {}", op.name, describe(op.kind(diff.per)),
                                describe(op.matched), op.time().a.count / 1000,
                                op.time().b.count / 1000));
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(Diff, SlowerFasterAddedRemovedBySizeOfTheDifference) {
  const Diff diff = diff_of(Builder().op("slow", 10).op("fast", 20).op("gone", 5).op("same", 7),
                            Builder().op("slow", 50).op("fast", 18).op("same", 7).op("new", 6));
  EXPECT_EQ(rows(diff),
            (Lines{"slow: slower, path, name, arguments, 10 50", "new: added, not matched, 0 6",
                   "gone: removed, not matched, 5 0", "fast: faster, path, name, arguments, 20 18",
                   "same: same, path, name, arguments, 7 7"}));
  EXPECT_EQ(diff.work(), (Change{micros(42), micros(81)}));
  EXPECT_FALSE(nothing_differs(diff));
}

TEST(Diff, AnOpIsTheSameOnlyWithTheSameShapesAndTypes) {
  const Diff diff = diff_of(Builder().op("mm", 10, kShape8).op("mm", 20, kShape16),
                            Builder().op("mm", 21, kShape16).op("mm", 14, kShape8));
  EXPECT_EQ(rows(diff), (Lines{"mm: slower, path, name, arguments, 10 14",
                               "mm: slower, path, name, arguments, 20 21"}));
  EXPECT_EQ(diff.ops[0].a->dims, "[[8,8],[8,8]]");
  EXPECT_EQ(diff.ops[1].b->dims, "[[16,8],[8,8]]");
}

TEST(Diff, OtherShapesAtTheSamePlaceMatchByThePath) {
  const Diff diff = diff_of(Builder().op("mm", 10, kShape8), Builder().op("mm", 30, kShape16));
  EXPECT_EQ(rows(diff), (Lines{"mm: slower, path, name, 10 30"}));
  EXPECT_EQ(
      diff_of(Builder().op("mm", 10, kShape8), Builder().op("mm", 30, kHalfShape8)).ops[0].matched,
      MatchedBy::kPath)
      << "the types count too";
}

// Compiled code hands a product its result; the type of an operand still counts.
TEST(Diff, ACallWithItsResultMatchesByTheFirstOperands) {
  constexpr const char* kWithOut =
      R"("Input Dims":[[8,8],[8,8],[8,8]],"Input type":["float","float","float"])";
  constexpr const char* kHalfWithOut =
      R"("Input Dims":[[8,8],[8,8],[8,8]],"Input type":["c10::Half","c10::Half","c10::Half"])";
  const auto compiled = [](const char* args) {
    return rows(diff_of(Builder().op("mm", 10, kShape8).around("linear"),
                        Builder().op("mm", 12, args).around("Torch-Compiled Region: 0/0")));
  };
  EXPECT_EQ(compiled(kWithOut), (Lines{"mm: slower, name, first operands, 10 12"}));
  EXPECT_EQ(compiled(kHalfWithOut),
            (Lines{"mm: added, not matched, 0 12", "mm: removed, not matched, 10 0"}));
}

TEST(Diff, ARenamedParentMatchesByTheArguments) {
  const Diff diff = diff_of(Builder().op("mm", 10).around("linear"),
                            Builder().op("mm", 12).around("fused_linear"));
  EXPECT_EQ(rows(diff), (Lines{"mm: slower, name, arguments, 10 12"}));
  EXPECT_EQ(diff.ops[0].a->path, "linear");
  EXPECT_EQ(diff.ops[0].b->path, "fused_linear");
}

TEST(Diff, TheSurestMatchGoesFirst) {
  // B has the op where A has it, and once more elsewhere.
  const Diff diff = diff_of(Builder().op("mm", 10).around("linear"),
                            Builder().op("mm", 30).around("other").op("mm", 11).around("linear"));
  EXPECT_EQ(rows(diff),
            (Lines{"mm: added, not matched, 0 30", "mm: slower, path, name, arguments, 10 11"}));
}

TEST(Diff, AsManyOnBothSidesArePairedInOrderElseTheyAreSummed) {
  const Builder two = Builder().op("mm", 1).around("p").op("mm", 100).around("q");
  EXPECT_EQ(rows(diff_of(two, Builder().op("mm", 2).around("x").op("mm", 104).around("y"))),
            (Lines{"mm: slower, name, arguments, 100 104", "mm: slower, name, arguments, 1 2"}));
  const Diff merged = diff_of(two, Builder().op("mm", 7).around("z"));
  EXPECT_EQ(rows(merged), (Lines{"mm: fewer calls, name, arguments, 101 7"}));
  EXPECT_EQ(merged.ops[0].a->merged, 2);
  EXPECT_EQ(merged.ops[0].b->merged, 1);
}

TEST(Diff, NearTwinsDoNotMatch) {
  EXPECT_EQ(rows(diff_of(Builder().op("mm", 10), Builder().op("mm_", 11))),
            (Lines{"mm_: added, not matched, 0 11", "mm: removed, not matched, 10 0"}));
  // Neither the place nor the arguments are the same.
  EXPECT_EQ(rows(diff_of(Builder().op("mm", 10, kShape8).around("p"),
                         Builder().op("mm", 11, kShape16).around("q"))),
            (Lines{"mm: added, not matched, 0 11", "mm: removed, not matched, 10 0"}));
  EXPECT_EQ(rows(diff_of(Builder().op("a", 3).around("b"), Builder().op("b", 4).around("a"))),
            (Lines{"b: added, not matched, 0 4", "a: removed, not matched, 3 0"}));
}

TEST(Diff, TheSameOpWithOtherKernelsShowsBothSets) {
  const Diff diff = diff_of(Builder().op("mm", 10, kShape8, "sgemm").op("mm", 4, kShape8, "sgemm"),
                            Builder().op("mm", 9, kShape8, "tf32").op("mm", 2, kShape8, "sgemm"));
  ASSERT_EQ(diff.ops.size(), 1);
  EXPECT_TRUE(diff.ops[0].other_kernels);
  ASSERT_EQ(diff.ops[0].kernels.size(), 2);
  EXPECT_EQ(diff.ops[0].kernels[0].name, "sgemm");
  EXPECT_EQ(diff.ops[0].kernels[0].time, (Change{micros(14), micros(2)}));
  EXPECT_EQ(diff.ops[0].kernels[0].count_a, 2);
  EXPECT_EQ(diff.ops[0].kernels[1].name, "tf32");
  EXPECT_EQ(diff.ops[0].kernels[1].time, (Change{{}, micros(9)}));
  EXPECT_EQ(diff.ops[0].kernels[1].count_a, 0);
  EXPECT_FALSE(diff_of(Builder().op("mm", 1), Builder().op("mm", 2)).ops[0].other_kernels);
}

TEST(Diff, DifferentNumbersOfStepsAreComparedPerStep) {
  const Builder a =
      Builder().op("mm", 10).step("ProfilerStep#3").op("mm", 10).step("ProfilerStep#4");
  const Builder b = Builder()
                        .op("mm", 12)
                        .step("ProfilerStep#7")
                        .op("mm", 12)
                        .step("ProfilerStep#8")
                        .op("mm", 12)
                        .step("ProfilerStep#9");
  const Diff diff = diff_of(a, b);
  EXPECT_TRUE(diff.per.steps);
  EXPECT_EQ(rows(diff), (Lines{"mm: slower, path, name, arguments, 20 36"}));
  EXPECT_EQ(diff.ops[0].a->path, "ProfilerStep#*") << "the number of a step is no part of a path";
  EXPECT_DOUBLE_EQ(difference(diff.ops[0].time(), diff.per), 2000);
  EXPECT_DOUBLE_EQ(*percent_more(diff.ops[0].time(), diff.per), 20);
  EXPECT_DOUBLE_EQ(*diff.ops[0].difference_of_calls(diff.per), 0);
  EXPECT_EQ(diff.a.outside_steps, Nanos{});
}

TEST(Diff, WhatNoStepLaunchedIsKnown) {
  const Builder a = Builder().op("mm", 10).step("ProfilerStep#3").op("mm", 30);
  const Diff diff = diff_of(a, a);
  EXPECT_EQ(diff.a.outside_steps, micros(30));
  EXPECT_EQ(diff.a.work, micros(40));
}

TEST(Diff, TotalsWhereOneTraceHasNoSteps) {
  const Diff diff = diff_of(Builder().op("mm", 10).step("ProfilerStep#3"), Builder().op("mm", 12));
  EXPECT_FALSE(diff.per.steps);
  EXPECT_EQ(rows(diff), (Lines{"mm: slower, name, arguments, 10 12"}));
}

TEST(Diff, MoreCallsAreNotASlowerOp) {
  EXPECT_EQ(rows(diff_of(Builder().op("mm", 10), Builder().op("mm", 10).op("mm", 10))),
            (Lines{"mm: more calls, path, name, arguments, 10 20"}));
  EXPECT_EQ(rows(diff_of(Builder().op("mm", 10).op("mm", 10), Builder().op("mm", 11))),
            (Lines{"mm: fewer calls, path, name, arguments, 20 11"}));
  EXPECT_EQ(rows(diff_of(Builder().op("mm", 10), Builder().op("mm", 40).op("mm", 40))),
            (Lines{"mm: slower, path, name, arguments, 10 80"}));
}

TEST(Diff, IdleTimeMayBeWhatDiffers) {
  const Diff diff =
      diff_of(Builder().op("mm", 10).op("mm", 10), Builder().op("mm", 10).idle(100).op("mm", 10));
  EXPECT_FALSE(nothing_differs(diff));
  EXPECT_EQ(explain(diff).ops, 0);
  for (const TimelineChange& part : timeline_changes(diff)) {
    const bool grew = part.name == "idle" || part.name == "total";
    EXPECT_EQ(difference(part.time, diff.per), grew ? 100'000 : 0) << part.name;
  }
}

TEST(Diff, ATraceDoesNotDifferFromItself) {
  const Builder a = Builder().op("mm", 10).around("p").op("mm", 3, kShape16);
  EXPECT_TRUE(nothing_differs(diff_of(a, a)));
  EXPECT_FALSE(
      nothing_differs(diff_of(a, Builder().op("mm", 10).around("q").op("mm", 3, kShape16))))
      << "another call path is a difference, if not of time";
}

TEST(Diff, TwoTracesWithoutGpuWorkDoNotDiffer) {
  EXPECT_TRUE(nothing_differs(diff_of(Builder(), Builder())));
}

TEST(Diff, CommunicationAndUnlinkedWorkAreRowsToo) {
  const std::vector<std::string> events = {cpu_op("c10d::allreduce_", 0, 10), launch_call(1, 2, 1),
                                           kernel("ncclDevKernel_AllReduce", 20, 30, 1),
                                           kernel("orphan", 60, 5, 99)};
  const Trace trace = open_events(events);
  Scope scope;
  EXPECT_EQ(rows(diff_traces({trace.store, trace.tree, scope}, {trace.store, trace.tree, scope})),
            (Lines{"c10d::allreduce_: same, path, name, arguments, 30 30"}));
  scope.include_unlinked = true;
  const Diff both = diff_traces({trace.store, trace.tree, scope}, {trace.store, trace.tree, scope});
  EXPECT_EQ(rows(both), (Lines{"c10d::allreduce_: same, path, name, arguments, 30 30",
                               "orphan: same, path, name, arguments, 5 5"}));
  EXPECT_EQ(both.a.work, micros(35));
}

TEST(Diff, TheFirstOpsThatExplainTheDifference) {
  const Diff most = diff_of(Builder().op("x", 10).op("y", 10).op("z", 10),
                            Builder().op("x", 100).op("y", 15).op("z", 11));
  EXPECT_EQ(explain(most).ops, 1);
  EXPECT_TRUE(explain(most).of_difference);
  EXPECT_NEAR(explain(most).share, 90.0 / 96, 1e-9);
  // What grew and what shrank cancel out: no op explains the rest.
  const Diff cancel =
      diff_of(Builder().op("x", 10).op("y", 110), Builder().op("x", 111).op("y", 10));
  EXPECT_FALSE(explain(cancel).of_difference);
  EXPECT_EQ(explain(cancel).ops, 2);
  EXPECT_DOUBLE_EQ(explain(cancel).share, 1);
  EXPECT_DOUBLE_EQ(explain(cancel).more, 101'000);
  EXPECT_DOUBLE_EQ(explain(cancel).less, -100'000);
}

TEST(Diff, OverALimitMeansMoreThanIt) {
  const Divisors per{2, 4, true};
  EXPECT_FALSE(exceeds({Nanos{200}, Nanos{412}}, per, 3));
  EXPECT_TRUE(exceeds({Nanos{200}, Nanos{413}}, per, 3));
  EXPECT_FALSE(exceeds({Nanos{200}, Nanos{400}}, per, 0));
  EXPECT_TRUE(exceeds({Nanos{0}, Nanos{1}}, per, 50)) << "from nothing, any is more";
  EXPECT_FALSE(exceeds({Nanos{0}, Nanos{0}}, per, 0));
}

TEST(Diff, PathsHoldModulesAndAnnotations) {
  const Trace trace = open_events(
      {annotation("train", 0, 100),
       test::event_text("python_function", "nn.Module: Block_1", 1, 90, R"("Python id":1)"),
       test::event_text("python_function", "block.py(3): forward", 2, 80,
                        R"("Python id":2,"Python parent id":1)"),
       test::event_text("python_function", "nn.Module: Linear_7", 3, 70,
                        R"("Python id":3,"Python parent id":2)"),
       cpu_op("aten::linear", 10, 50), cpu_op("custom::mm", 12, 30), launch_call(14, 2, 1),
       kernel("gemm", 50, 9, 1)});
  const Scope scope;
  const Diff diff = diff_traces({trace.store, trace.tree, scope}, {trace.store, trace.tree, scope});
  ASSERT_EQ(diff.ops.size(), 1);
  EXPECT_EQ(diff.ops[0].name, "custom::mm");
  EXPECT_EQ(diff.ops[0].a->path, "train > Block > Linear > aten::linear");
}

TEST(Diff, OfADeepPathTheMiddleIsLeftOut) {
  std::vector<std::string> events;
  for (int i = 0; i < 60; ++i) events.push_back(cpu_op(fmt::format("level{}", i), i, 1000 - 2 * i));
  events.push_back(cpu_op("leaf", 100, 10));
  events.push_back(launch_call(101, 2, 1));
  events.push_back(kernel("k", 2000, 5, 1));
  const Trace trace = open_events(events);
  const Scope scope;
  const Diff diff = diff_traces({trace.store, trace.tree, scope}, {trace.store, trace.tree, scope});
  const std::string& path = diff.ops[0].a->path;
  EXPECT_TRUE(path.starts_with("level0 > level1 > ")) << path;
  EXPECT_NE(path.find("level7 > … > level44 > "), std::string::npos) << path;
  EXPECT_TRUE(path.ends_with(" > level59")) << path;
}

}  // namespace
}  // namespace fathom
