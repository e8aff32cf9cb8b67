// The wall time that shares relate to: steps with the host's part, for each GPU.
#include "sheets/time_base.h"

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

TimeBase base_of(const std::vector<std::string>& events, const Scope& scope = {}) {
  const Trace trace = test::open_events(events);
  const SheetInput input(trace.store, trace.tree, scope);
  return find_time_base(input, work_by_device(input));
}

// Steps of 100 µs: the host is busy for 60, then launches work of 30.
std::vector<std::string> host_bound_steps(std::string_view category = "user_annotation") {
  std::vector<std::string> events;
  for (int64_t i = 0; i < 3; ++i) {
    events.push_back(test::event_text(category, fmt::format("ProfilerStep#{}", i), 100 * i, 100));
    events.push_back(cpu_op("aten::mm", 100 * i + 60, 10));
    events.push_back(launch_call(100 * i + 62, 2, i + 1));
    events.push_back(kernel("gemm", 100 * i + 65, 30, i + 1));
  }
  return events;
}

TEST(TimeBase, IsTheStepsWithTheHostsTime) {
  const TimeBase base = base_of(host_bound_steps());
  EXPECT_EQ(base.kind, TimeBaseKind::kSteps);
  ASSERT_EQ(base.steps.size(), 3u);
  EXPECT_EQ(base.wall(), micros(300));
  ASSERT_EQ(base.devices.size(), 1u);
  EXPECT_EQ(base.devices[0].busy, micros(90));
  EXPECT_EQ(base.devices[0].idle, micros(210));
  EXPECT_EQ(base.devices[0].span, micros(230)) << "what the GPU alone shows";
}

TEST(TimeBase, OldTracesHaveStepsAsOperators) {
  const TimeBase base = base_of(host_bound_steps("Operator"));
  EXPECT_EQ(base.kind, TimeBaseKind::kSteps);
  EXPECT_EQ(base.wall(), micros(300));
  std::vector<std::string> other = {cpu_op("aten::mm", 0, 100), launch_call(62, 2, 1),
                                    kernel("gemm", 65, 30, 1)};
  EXPECT_EQ(base_of(other).kind, TimeBaseKind::kRecording) << "an op of another name is no step";
}

// The host launches all steps at once; the GPU works through them. A step takes as long as its
// work.
TEST(TimeBase, AStepBeginsWhenTheWorkBeforeItHasEnded) {
  std::vector<std::string> events;
  for (int64_t i = 0; i < 4; ++i) {
    events.push_back(annotation(fmt::format("ProfilerStep#{}", i), 10 * i, 10));
    events.push_back(launch_call(10 * i + 2, 2, i + 1));
    events.push_back(kernel("gemm", 5 + 1000 * i, 1000, i + 1));
  }
  const TimeBase all = base_of(events);
  ASSERT_EQ(all.steps.size(), 4u);
  EXPECT_EQ(all.wall(), micros(4005));
  EXPECT_EQ(all.steps[1].end - all.steps[1].begin, micros(1000));
  Scope scope;
  scope.steps = Scope::StepRange{1, 3};
  const TimeBase two = base_of(events, scope);
  EXPECT_EQ(two.steps.size(), 2u);
  EXPECT_EQ(two.wall(), micros(2000));
  EXPECT_EQ(two.devices[0].idle, micros(0)) << "work of other steps keeps the GPU busy";
}

// A kernel on another stream runs on from step to step: one that was there before the recording,
// and one that the first step launched.
TEST(TimeBase, WorkBesideAStepsOwnDoesNotMoveIt) {
  for (const bool has_launch : {false, true}) {
    std::vector<std::string> events = host_bound_steps();
    if (has_launch) events.push_back(launch_call(70, 2, 99));
    events.push_back(kernel("resident", has_launch ? 75 : -50, 220, has_launch ? 99 : 98, 20));
    const TimeBase base = base_of(events);
    ASSERT_EQ(base.steps.size(), 3u);
    EXPECT_EQ(base.wall(), micros(300));
    for (const BaseStep& step : base.steps) EXPECT_EQ(step.end - step.begin, micros(100));
  }
}

TEST(TimeBase, ARangeThatRepeatsAroundAllLaunches) {
  const auto run = [](std::string_view name, bool inside) {
    std::vector<std::string> events;
    for (int64_t i = 0; i < 4; ++i) {
      events.push_back(annotation(fmt::format("{}{}", name, i), 100 * i, 40));
      events.push_back(launch_call(100 * i + (inside ? 10 : 50), 2, i + 1));
      events.push_back(kernel("gemm", 100 * i + 60, 30, i + 1));
    }
    return base_of(events);
  };
  const TimeBase base = run("iteration ", true);
  EXPECT_EQ(base.kind, TimeBaseKind::kAnnotation);
  EXPECT_EQ(base.name, "iteration ");
  EXPECT_EQ(base.steps.size(), 4u);
  EXPECT_EQ(base.wall(), micros(390)) << "the time between ranges counts";
  EXPECT_EQ(run("iteration ", false).kind, TimeBaseKind::kRecording) << "launches are elsewhere";
  EXPECT_EQ(run("Optimizer.step#", true).kind, TimeBaseKind::kRecording) << "a library's range";
}

TEST(TimeBase, StepsInsideOneRangeOfTheirNameAreTheSteps) {
  std::vector<std::string> events = host_bound_steps();
  events.push_back(annotation("ProfilerStep#0", 0, 310));
  const TimeBase nested = base_of(events);
  EXPECT_EQ(nested.steps.size(), 3u);
  EXPECT_EQ(nested.wall(), micros(300));
  // A range inside each step: the outer ones are the steps, and each counts once.
  events = host_bound_steps();
  for (int64_t i = 0; i < 3; ++i)
    events.push_back(annotation("ProfilerStep#inner", 100 * i + 50, 40));
  EXPECT_EQ(base_of(events).steps.size(), 3u);
  EXPECT_EQ(base_of(events).wall(), micros(300));
}

TEST(TimeBase, AnEventAtZeroFarFromAllOthersHasNoTime) {
  const int64_t late = 1'700'000'000'000'000;  // µs since 1970
  const auto events = [](int64_t at) {
    return std::vector<std::string>{cpu_op("aten::mm", at, 10),     launch_call(at + 2, 2, 1),
                                    kernel("gemm", at + 5, 30, 1),  launch_call(at + 20, 2, 2),
                                    kernel("gemm", at + 40, 30, 2), kernel("lost", 0, 30, 3),
                                    cpu_op("aten::lost", 0, 20)};
  };
  const TimeBase base = base_of(events(late));
  EXPECT_EQ(base.wall(), micros(70));
  const Trace trace = test::open_events(events(late));
  EXPECT_EQ(trace.store.diagnostics().count(Flaw::kMissingTime), 2);
  // Times that begin near 0 are times after the beginning of the recording.
  const Trace relative = test::open_events(events(100));
  EXPECT_EQ(relative.store.diagnostics().count(Flaw::kMissingTime), 0);
  EXPECT_EQ(base_of(events(100)).wall(), micros(140)) << "from the end of what ran before";
}

// One event that never ended, beside others: what it would add is years. Long ranges of a long
// recording stay.
TEST(TimeBase, DurationsThatAddUpToCenturiesAreDropped) {
  const int64_t month = 2'600'000'000'000, century = 3'200'000'000'000'000;  // µs
  const auto read = [](int64_t last, int64_t all) {
    return test::open_events({annotation("run", 0, all), cpu_op("aten::mm", 10, 10),
                              launch_call(12, 2, 1), kernel("gemm", 20, 30, 1),
                              launch_call(15, 2, 2), kernel("gemm", 50, last, 2),
                              launch_call(18, 2, 3), kernel("gemm", 60, last, 3, 8)});
  };
  for (const int64_t all : {month, century}) {
    const Trace trace = read(century, all);
    Nanos sum;
    for (EventId e(0); e.index < trace.store.size(); ++e.index) sum += trace.store.duration(e);
    EXPECT_EQ(sum, micros(46 + (all == month ? month : 0)));
    EXPECT_EQ(trace.store.diagnostics().count(Flaw::kMissingDuration), all == month ? 2 : 3);
  }
  EXPECT_EQ(read(month, month).store.diagnostics().count(Flaw::kMissingDuration), 0);
}

// Steps of a loop without marks: an embedding, three layers of two kernels, a head, 100 µs in all.
std::vector<std::string> unmarked_loop(int64_t steps, bool has_head = true,
                                       bool each_layer_has_its_module = false,
                                       bool modules = false) {
  std::vector<std::string> events;
  int64_t id = 0;
  const auto launch = [&](std::string_view name, int64_t at, std::string_view module) {
    ++id;
    if (modules)
      events.push_back(test::event_text("python_function", fmt::format("nn.Module: {}", module), at,
                                        5, fmt::format(R"("Python id":{})", id)));
    events.push_back(launch_call(at + 1, 2, id));
    events.push_back(kernel(name, at + 5, 5, id));
  };
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t at = 100 * step;
    if (has_head) launch("embedding", at, "Embedding_0");
    for (int64_t layer = 0; layer < 3; ++layer) {
      const int64_t number = each_layer_has_its_module ? 3 * step + layer : layer;
      launch("attention", at + 20 + 20 * layer, fmt::format("Attention_{}", number));
      launch("gemm", at + 30 + 20 * layer, fmt::format("Linear_{}", number));
    }
    if (has_head) launch("head", at + 85, "Linear_head");
  }
  return events;
}

TEST(TimeBase, WorkThatRepeatsIsStepsWhereSomethingTells) {
  const TimeBase loop = base_of(unmarked_loop(5));
  EXPECT_EQ(loop.kind, TimeBaseKind::kRepetition);
  ASSERT_EQ(loop.steps.size(), 5u);
  EXPECT_EQ(loop.steps[2].end - loop.steps[2].begin, micros(100));
  // One pass over fifteen layers of one kind: they repeat, and nothing tells layers from steps.
  const TimeBase layers = base_of(unmarked_loop(5, false));
  EXPECT_EQ(layers.kind, TimeBaseKind::kRecording);
  EXPECT_GE(layers.repeats, 5u) << "and the report says so";
  // The modules tell: the same ones again, or others.
  EXPECT_EQ(base_of(unmarked_loop(5, true, false, true)).kind, TimeBaseKind::kRepetition);
  EXPECT_EQ(base_of(unmarked_loop(5, false, true, true)).kind, TimeBaseKind::kRecording);
}

TEST(TimeBase, TwoRunsAreNoRepetition) {
  EXPECT_EQ(base_of(unmarked_loop(2)).kind, TimeBaseKind::kRecording);
}

TEST(TimeBase, StepsThatLaunchAPartOfTheWorkAreNoBase) {
  std::vector<std::string> events = host_bound_steps();
  events.push_back(launch_call(400, 2, 9));
  events.push_back(kernel("after the steps", 410, 500, 9));
  const TimeBase base = base_of(events);
  EXPECT_EQ(base.kind, TimeBaseKind::kRecording);
  EXPECT_EQ(base.steps_found, 3u);
  EXPECT_NEAR(base.outside_steps, 500.0 / 590, 1e-9);
  EXPECT_EQ(base.wall(), micros(910));
}

TEST(TimeBase, WithoutHostEventsItIsTheGpusSpan) {
  const TimeBase base = base_of({kernel("a", 100, 50, 1), kernel("b", 200, 50, 2)});
  EXPECT_EQ(base.kind, TimeBaseKind::kGpuSpan);
  EXPECT_EQ(base.wall(), micros(150));
}

TEST(TimeBase, EachGpuHasItsOwnIdleTime) {
  // One computes while the other waits: together they are never idle.
  const TimeBase base = base_of({launch_call(0, 1, 1), launch_call(1, 1, 2),
                                 kernel("a", 0, 50, 1, 7, 0), kernel("b", 50, 50, 2, 7, 1)});
  ASSERT_EQ(base.devices.size(), 2u);
  EXPECT_EQ(base.devices[0].busy, micros(50));
  EXPECT_EQ(base.devices[1].busy, micros(50));
  EXPECT_EQ(base.mean_device().busy, micros(50));
  EXPECT_EQ(base.mean_device().idle, micros(50));
}

TEST(TimeBase, WorkWithoutALaunchIsNoIdleTime) {
  std::vector<std::string> events = host_bound_steps();
  events.push_back(kernel("no launch in the file", 100, 60, 99));
  const TimeBase base = base_of(events);
  EXPECT_EQ(base.wall(), micros(300));
  EXPECT_EQ(base.devices[0].busy, micros(150));
}

// The host runs ahead: the GPU has yet to finish steps that were launched before the recording.
TEST(TimeBase, WorkLaunchedBeforeTheRecordingIsNoStepsTime) {
  std::vector<std::string> events = {kernel("earlier", 0, 1000, 98),
                                     kernel("earlier", 1000, 500, 99)};
  for (int64_t i = 0; i < 2; ++i) {
    events.push_back(annotation(fmt::format("ProfilerStep#{}", i), 100 + 10 * i, 10));
    events.push_back(launch_call(102 + 10 * i, 2, i + 1));
    events.push_back(kernel("gemm", 1500 + 1000 * i, 1000, i + 1));
  }
  const TimeBase base = base_of(events);
  EXPECT_EQ(base.wall(), micros(2000));
  EXPECT_EQ(base.devices[0].busy, micros(2000));
}

}  // namespace
}  // namespace fathom
