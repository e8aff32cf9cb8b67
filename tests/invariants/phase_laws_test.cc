// Phases divide a trace's GPU work: each event is in one run of one phase.
#include <algorithm>

#include "invariants/every_trace.h"
#include "test_files.h"
#include "tree/phases.h"

namespace fathom {
namespace {

std::vector<EventId> gpu_work_of(const EventStore& store) {
  std::vector<EventId> work;
  for (size_t i = 0; i < store.size(); ++i) {
    if (is_gpu_work(store.kind(EventId(i)))) work.emplace_back(i);
  }
  return work;
}

void expect_divided(const Trace& trace, const std::vector<EventId>& work) {
  const EventStore& store = trace.store;
  std::vector<int> seen(store.size());
  for (const Phase& phase : find_phases(store, trace.tree, work)) {
    ASSERT_FALSE(phase.runs.empty());
    EXPECT_TRUE(std::ranges::is_sorted(phase.runs, {}, &PhaseRun::gpu_begin));
    EXPECT_EQ(phase.kind == PhaseKind::kOther, !phase.example.valid());
    for (const PhaseRun& run : phase.runs) {
      ASSERT_FALSE(run.work.empty());
      Nanos end = store.end(run.work.front());
      for (EventId e : run.work) {
        ++seen[e.index];
        end = std::max(end, store.end(e));
      }
      EXPECT_TRUE(std::ranges::is_sorted(run.work, {}, [&](EventId e) { return store.start(e); }));
      EXPECT_EQ(run.gpu_begin, store.start(run.work.front()));
      EXPECT_EQ(run.gpu_end, end);
      EXPECT_EQ(run.host_begin.has_value(), run.host_end.has_value());
    }
  }
  for (EventId e : work) ASSERT_EQ(seen[e.index], 1) << "event " << e.index;
  EXPECT_EQ(std::ranges::count(seen, 1), static_cast<std::ptrdiff_t>(work.size()));
}

std::string describe_phases(const std::vector<Phase>& phases) {
  std::string text;
  for (const Phase& phase : phases) {
    text += std::to_string(static_cast<int>(phase.kind)) + phase.name + ":";
    for (const PhaseRun& run : phase.runs) text += std::to_string(run.work.size()) + " ";
  }
  return text;
}

class PhaseLaws : public test::LawOfTraces {};

TEST_P(PhaseLaws, EachGpuEventIsInOneRun) { expect_divided(trace(), gpu_work_of(trace().store)); }

TEST_P(PhaseLaws, OfAPartOfTheWorkToo) {
  std::vector<EventId> some;
  for (EventId e : gpu_work_of(trace().store)) {
    if (e.index % 3 != 0) some.push_back(e);
  }
  expect_divided(trace(), some);
  expect_divided(trace(), {});
}

TEST_P(PhaseLaws, TheOrderOfTheInputChangesNothing) {
  std::vector<EventId> work = gpu_work_of(trace().store);
  const std::string forward = describe_phases(find_phases(trace().store, trace().tree, work));
  std::ranges::reverse(work);
  EXPECT_EQ(describe_phases(find_phases(trace().store, trace().tree, work)), forward);
}

FATHOM_FOR_EVERY_TRACE(PhaseLaws);

TEST(PhaseLawsOfCaptures, EachGpuEventIsInOneRun) {
  size_t captures = 0;
  for (const char* folder : {"examples/captures", "tests/gpu/faults/recorded"}) {
    for (const auto& entry : std::filesystem::directory_iterator(test::source_dir() / folder)) {
      if (entry.path().extension() != ".capture") continue;
      const Trace trace = open_trace(entry.path().string()).take();
      expect_divided(trace, gpu_work_of(trace.store));
      ++captures;
    }
  }
  EXPECT_GT(captures, 20u);
}

}  // namespace
}  // namespace fathom
