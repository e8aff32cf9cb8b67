// Savings of findings against what the critical path allows.
#include "analyze/path_bound.h"

#include <gtest/gtest.h>

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
  const CriticalPath path(input, find_time_base(input, work_by_device(input)));
  std::vector<Finding> findings(1);
  Finding& f = findings.front();
  f.kind = kind;
  f.saving_at_least = micros(50);
  f.saving_at_most = micros(100);
  f.projections.push_back({"100 % of achievable", {}, 0.5});
  for (const EventId e : trace.tree.linked())
    if (f.covered.size() < covered) f.covered.push_back({e, trace.store.duration(e)});
  bound_savings(input, path, Nanos{path.graph().length}, findings);
  return findings.front();
}

TEST(PathBound, AFasterKernelSavesNothingBehindTheHost) {
  const Finding hidden = bounded(3, FindingKind::kLowEfficiency);
  EXPECT_LE(hidden.saving_at_most, micros(3)) << "the last kernel";
  EXPECT_LE(hidden.saving_at_least, hidden.saving_at_most);
  EXPECT_LT(hidden.projections.front().gain, 0.02);
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

}  // namespace
}  // namespace fathom
