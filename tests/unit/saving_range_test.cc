// Savings of findings by the critical path of a step without the profiler.
#include "analyze/saving_range.h"

#include "analyze/critical/step_model.h"
#include "analyze/pipeline.h"
#include "checks.h"
#include "sheets/launchers.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::cpu_op;
using test::kernel;
using test::launch_call;
using test::micros;

// 20 ops of 10 µs with a kernel each; a finding about all kernels that promises 100 µs.
Finding bounded(int64_t kernel_time, FindingKind kind, size_t covered = 20) {
  std::vector<std::string> events;
  for (int i = 0; i < 20; ++i) {
    events.push_back(cpu_op("aten::add", i * 10, 9));
    events.push_back(launch_call(i * 10 + 1, 5, i + 1));
    events.push_back(kernel("k", 7 + i * std::max<int64_t>(10, kernel_time), kernel_time, i + 1));
  }
  const Trace trace = test::open_events(events);
  const Scope scope;
  const SheetInput input(trace.store, trace.tree, scope);
  const MeasuredOps ops(input, find_launchers(input));
  const Assessment a(input, ops, nullptr);
  const CriticalPath path(input, a.base());
  std::vector<Finding> findings(1);
  Finding& f = findings.front();
  f.kind = kind;
  f.saving_at_least = micros(50);
  f.saving_at_most = micros(100);
  f.projections.push_back({"100 % of achievable", {}, 0.5});
  for (const EventId e : trace.tree.linked())
    if (f.covered.size() < covered) f.covered.push_back({e, trace.store.duration(e)});
  SavingRanges(a, path).bound(findings);
  return findings.front();
}

TEST(PathBound, AFasterKernelSavesNothingBehindTheHost) {
  const Finding hidden = bounded(3, FindingKind::kLowEfficiency);
  EXPECT_LE(hidden.saving_at_most, micros(5)) << "the last kernel";
  EXPECT_LE(hidden.saving_at_least, hidden.saving_at_most);
  EXPECT_LT(hidden.projections.front().gain, 0.03);
  // The same kernels where the GPU is what takes time.
  const Finding shown = bounded(30, FindingKind::kLowEfficiency);
  EXPECT_EQ(shown.saving_at_most, micros(100));
  EXPECT_EQ(shown.saving_at_least, micros(50));
  EXPECT_EQ(shown.projections.front().gain, 0.5);
}

TEST(PathBound, WorkThatIsFusedNeedsNoLaunchEither) {
  EXPECT_EQ(bounded(3, FindingKind::kFusibleChain).saving_at_most, micros(100))
      << "ops of 180 µs go with their kernels";
}

TEST(PathBound, AFindingWithoutEventsIsLeftAlone) {
  EXPECT_EQ(bounded(3, FindingKind::kLowEfficiency, 0).saving_at_most, micros(100));
}

// Of a step whose ops compute for so long and are waited for each, the most that the waits save.
double saved_by_waits(int64_t work) {
  std::vector<std::string> events;
  int64_t at = 0;
  for (int i = 0; i < 10; ++i) {
    events.push_back(cpu_op("aten::solve", at, work + 60));
    events.push_back(launch_call(at + 2, 4, 2 * i + 1));
    events.push_back(kernel("solve", at + 8, work, 2 * i + 1));
    events.push_back(launch_call(at + 8, work + 20, 1000 + i, "1", "cudaStreamSynchronize"));
    at += work + 160;
    events.push_back(cpu_op("aten::add", at, 10));
    events.push_back(launch_call(at + 2, 4, 2 * i + 2));
    events.push_back(kernel("add", at + 8, 40, 2 * i + 2));
    at += 12;
  }
  const Trace trace = test::open_events(events);
  const Scope scope;
  const SheetInput input(trace.store, trace.tree, scope);
  const MeasuredOps ops(input, find_launchers(input));
  const Assessment a(input, ops, nullptr);
  const CriticalPath path(input, a.base());
  std::vector<Finding> findings = find_all(a);
  std::erase_if(findings, [](const Finding& f) { return f.kind != FindingKind::kSynchronization; });
  if (findings.empty()) return 0;
  SavingRanges(a, path).bound(findings);
  return ratio(findings.front().saving_at_most, a.length());
}

TEST(PathBound, AnOpThatIsWaitedForStaysWhereItComputesForLong) {
  EXPECT_GT(saved_by_waits(60), 0.5) << "a check of a few values goes with its wait";
  const double of_long = saved_by_waits(4000);
  EXPECT_GT(of_long, 0);
  EXPECT_LT(of_long, 0.2);
}

std::string python(std::string_view name, int64_t start, int64_t duration) {
  return test::event_text("python_function", name, start, duration);
}

struct Repaired {
  explicit Repaired(std::vector<std::string> events, StepModel::HostLeft left = {1, 1, 1})
      : trace(test::open_events(events)),
        input(trace.store, trace.tree, scope),
        path(input, find_time_base(input, work_by_device(input))),
        model(input, path, left) {
    model.begin_repair();
  }
  EventId event(std::string_view name) const { return test::find_event(trace.store, name); }
  double saved() { return model.saved(Outlook::kOptimistic); }

  Trace trace;
  Scope scope;
  SheetInput input;
  CriticalPath path;
  StepModel model;
};

// A call of 100 µs, then one of 100 µs whose kernel takes 50 µs.
std::vector<std::string> two_calls() {
  return {cpu_op("aten::first", 0, 100),    launch_call(90, 5, 1),  kernel("k1", 96, 4, 1),
          cpu_op("aten::second", 100, 100), launch_call(190, 5, 2), kernel("k2", 200, 50, 2)};
}

TEST(StepModel, WorkThatIsShorterAndCallsThatGo) {
  Repaired r(two_calls());
  r.model.keep_work(r.event("k2"), 0.5);
  EXPECT_NEAR(r.saved(), 0.1, 0.01);
  r.model.begin_repair();
  r.model.remove_call(r.trace.tree.call(r.event("aten::first")));
  EXPECT_NEAR(r.saved(), 0.4, 0.02);
  r.model.begin_repair();
  EXPECT_EQ(r.saved(), 0) << "a repair begins anew";
}

TEST(StepModel, WithoutTheProfilerCallsAreShorterSoThatWorkIsMoreOfTheStep) {
  Repaired recorded(two_calls()), quick(two_calls(), {0.5, 0.5, 0.5});
  for (Repaired* r : {&recorded, &quick}) r->model.keep_work(r->event("k2"), 0);
  EXPECT_GT(quick.saved(), recorded.saved() + 0.02);
  EXPECT_EQ(recorded.model.lengthened(), 1);
  EXPECT_GT(quick.model.lengthened(), 1.1);
}

// What goes may be lengthened by the profiler less than what stays.
TEST(StepModel, TheMostThatIsSaved) {
  std::vector<std::string> events = {cpu_op("aten::first", 0, 30), launch_call(20, 5, 1),
                                     kernel("k1", 26, 2, 1),       cpu_op("aten::second", 30, 30),
                                     launch_call(50, 5, 2),        kernel("k2", 56, 2, 2)};
  Repaired r(events, {0.35, 0.52, 0.7});
  r.model.remove_call(r.trace.tree.call(r.event("aten::first")));
  EXPECT_NEAR(r.saved(), 0.5, 0.05);
  EXPECT_NEAR(r.model.saved_at_most(), 0.67, 0.06);
  Repaired known(events);
  known.model.remove_call(known.trace.tree.call(known.event("aten::first")));
  EXPECT_NEAR(known.model.saved_at_most(), known.saved(), 0.001) << "nothing is lengthened";
}

// Work that is launched in time follows the work before it, however long its launch takes to reach
// the GPU.
TEST(StepModel, ALaunchsLatencyIsNoGapBetweenKernels) {
  std::vector<std::string> events;
  for (int i = 0; i < 20; ++i) {
    events.push_back(cpu_op("aten::add", i * 50, 48));
    events.push_back(launch_call(i * 50 + 20, 5, i + 1));
    events.push_back(kernel("k", i * 50 + 41, 3, i + 1));
  }
  Repaired r(events);
  r.model.keep_calls(0.1);
  EXPECT_GT(r.model.saved(Outlook::kPessimistic), 0.8);
}

TEST(StepModel, CodeBetweenCalls) {
  std::vector<std::string> events = {
      cpu_op("aten::first", 0, 10),    launch_call(2, 5, 1),
      kernel("k1", 8, 4, 1),           python("model.py(3): pack", 20, 500),
      cpu_op("aten::second", 520, 10), launch_call(522, 5, 2),
      kernel("k2", 530, 70, 2)};
  Repaired r(events);
  const EventId frame = r.event("model.py(3): pack");
  const EventStore& store = r.trace.store;
  r.model.remove_code({store.track_id(frame), {store.start(frame), store.end(frame)}}, false);
  EXPECT_NEAR(r.saved(), 0.85, 0.02);
  // The profiler's own code between steps is no part of a step, so that nothing is saved by it.
  events[3] = python("torch/profiler/profiler.py(884): step", 20, 500);
  Repaired own(events);
  const EventId step = own.event("torch/profiler/profiler.py(884): step");
  own.model.remove_code(
      {own.trace.store.track_id(step), {own.trace.store.start(step), own.trace.store.end(step)}},
      false);
  EXPECT_LT(own.saved(), 0.01);
}

TEST(StepModel, FreeingMemoryWaitsForTheGpu) {
  const auto saved_without = [](const char* call) {
    Repaired r({cpu_op("aten::first", 0, 10), launch_call(2, 5, 1), kernel("k1", 8, 200, 1),
                test::event_text("cuda_runtime", call, 20, 200), cpu_op("aten::second", 230, 20),
                launch_call(235, 5, 2), kernel("k2", 245, 100, 2)},
               {0.5, 0.5, 0.5});
    r.model.remove_call(r.trace.tree.call(r.event(call)));
    return r.saved();
  };
  EXPECT_GT(saved_without("cudaFree"), 0.03);
  EXPECT_LT(saved_without("cudaFreeAsync"), 0.02) << "the GPU works on meanwhile";
}

}  // namespace
}  // namespace fathom
