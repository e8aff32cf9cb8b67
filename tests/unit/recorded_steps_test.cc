// Steps and waits in recordings of an H200 (tests/faults): loops without marks, events with ids.
#include "analyze/critical/critical_path.h"
#include "checks.h"
#include "session/trace.h"
#include "test_files.h"

namespace fathom::test {
namespace {

Trace recorded(const char* name) {
  const auto path = source_dir() / "tests/faults/recorded" / (std::string(name) + ".json.gz");
  return open_trace(path.string()).take();
}

TimeBase base_of(const Trace& trace) {
  const Scope scope;
  const SheetInput input(trace.store, trace.tree, scope);
  return find_time_base(input, work_by_device(input));
}

TEST(RecordedSteps, TheSameModulesComeAgain) {
  const TimeBase base = base_of(recorded("kv_cache_cat_nosteps"));
  EXPECT_EQ(base.kind, TimeBaseKind::kRepetition);
  EXPECT_EQ(base.steps.size(), 4u) << "of three layers each";
}

TEST(RecordedSteps, EachReplayOfAGraphIsAStep) {
  const TimeBase base = base_of(recorded("clean_graph_decode_nosteps"));
  EXPECT_EQ(base.kind, TimeBaseKind::kRepetition);
  EXPECT_EQ(base.steps.size(), 5u);
}

// A prefetcher's copy waits for the step before, the step for the copy. This version of the
// profiler names the call that waits, but not which event it waits for.
TEST(RecordedWaits, StreamsWaitForEachOther) {
  const Trace trace = recorded("copies_in_turns_waits");
  size_t with_call = 0;
  for (const RecordedWait& wait : trace.store.waits()) {
    with_call += wait.call.has_value();
    EXPECT_FALSE(wait.record) << "written as -1";
  }
  EXPECT_EQ(with_call, 7u);
  const Scope scope;
  const SheetInput input(trace.store, trace.tree, scope);
  const CriticalPath path(input, find_time_base(input, work_by_device(input)));
  size_t copies = 0, kernels = 0;
  for (const GraphEdge& edge : path.graph().edges) {
    const NodeKind waits = path.graph().kind[edge.node], source = path.graph().kind[edge.before];
    if (edge.kind != GraphEdge::Kind::kWait || !is_on_gpu(waits) || !is_on_gpu(source)) continue;
    copies += waits == NodeKind::kCopy && source == NodeKind::kKernel;
    kernels += waits != NodeKind::kCopy && source == NodeKind::kCopy;
  }
  EXPECT_GE(copies, 1u);
  EXPECT_GE(kernels, 1u);
}

}  // namespace
}  // namespace fathom::test
