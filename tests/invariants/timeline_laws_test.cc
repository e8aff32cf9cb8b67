// Where the GPU's time went: the parts are the whole, to the nanosecond.
#include <algorithm>
#include <array>
#include <random>

#include "invariants/every_trace.h"
#include "tree/steps.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

class TimelineLaws : public test::LawOfTraces {
 protected:
  // The whole trace, with and without unlinked work; each device; each step.
  std::vector<Scope> scopes() const {
    std::vector<Scope> all(2);
    all[1].include_unlinked = true;
    for (int32_t device : devices()) {
      all.emplace_back().device = device;
    }
    const size_t steps = Steps(trace().store, kProfilerSteps).all().size();
    for (size_t i = 0; i < steps; ++i) all.emplace_back().steps = Scope::StepRange{i, i + 1};
    return all;
  }

  std::vector<int32_t> devices() const {
    std::vector<int32_t> all;
    for (EventId e : trace().tree.linked()) {
      const std::optional<int32_t> device = trace().store.gpu_work(e).device;
      if (device && std::ranges::find(all, *device) == all.end()) all.push_back(*device);
    }
    return all;
  }

  std::vector<EventId> events_of(const SheetInput& input) const {
    return input.scope.include_unlinked ? all_selected(input) : input.selection.linked();
  }
};

TEST_P(TimelineLaws, ThePartsAndTheIdleTimeAreTheWhole) {
  for (const Scope& scope : scopes()) {
    const GpuTimeline t = measure_timeline(SheetInput(trace().store, trace().tree, scope));
    EXPECT_EQ((t.computation + t.exposed_communication + t.exposed_copies + t.idle).count,
              t.total.count);
    EXPECT_EQ((t.busy + t.idle).count, t.total.count);
  }
}

TEST_P(TimelineLaws, NoPartIsNegativeAndNoneExceedsWhatItIsAPartOf) {
  for (const Scope& scope : scopes()) {
    const GpuTimeline t = measure_timeline(SheetInput(trace().store, trace().tree, scope));
    for (Nanos part : {t.computation, t.exposed_communication, t.exposed_copies, t.idle}) {
      EXPECT_GE(part.count, 0);
    }
    EXPECT_LE(t.exposed_communication, t.communication);
    EXPECT_LE(t.exposed_copies, t.copies);
    for (Nanos part : {t.computation, t.communication, t.copies}) EXPECT_LE(part, t.busy);
    EXPECT_LE(t.busy, t.total);
  }
}

// Counted another way: walking over all starts and ends with the number of events that are open.
TEST_P(TimelineLaws, BusyIsTheTimeInWhichAnythingRuns) {
  for (const Scope& scope : scopes()) {
    const SheetInput input(trace().store, trace().tree, scope);
    std::vector<std::pair<Nanos, int>> edges;
    for (EventId e : events_of(input)) {
      edges.emplace_back(trace().store.start(e), 1);
      edges.emplace_back(trace().store.end(e), -1);
    }
    std::ranges::sort(edges);
    Nanos busy;
    int open = 0;
    for (size_t i = 0; i + 1 < edges.size(); ++i) {
      open += edges[i].second;
      if (open > 0) busy += edges[i + 1].first - edges[i].first;
    }
    const GpuTimeline t = measure_timeline(input);
    EXPECT_EQ(t.busy.count, busy.count);
    if (!edges.empty()) {
      EXPECT_EQ(t.total.count, (edges.back().first - edges.front().first).count);
    }
  }
}

TEST_P(TimelineLaws, TheSheetSaysWhatWasMeasured) {
  for (const Scope& scope : scopes()) {
    const SheetInput input(trace().store, trace().tree, scope);
    const GpuTimeline t = measure_timeline(input);
    const Table sheet = gpu_timeline_sheet(input);
    const Column& type = test::column(sheet, "type");
    const std::map<std::string, Nanos> expected = {{"computation_time", t.computation},
                                                   {"exposed_comm_time", t.exposed_communication},
                                                   {"exposed_memcpy_time", t.exposed_copies},
                                                   {"busy_time", t.busy},
                                                   {"idle_time", t.idle},
                                                   {"total_time", t.total},
                                                   {"total_comm_time", t.communication},
                                                   {"total_memcpy_time", t.copies}};
    EXPECT_EQ(sheet.rows(), expected.size());
    for (size_t row = 0; row < sheet.rows(); ++row) {
      const Nanos time = test::exact_time(test::column(sheet, "time ms"), row);
      EXPECT_EQ(time.count, expected.at(std::string(type.text(row))).count) << type.text(row);
      if (t.total > Nanos{}) {
        EXPECT_NEAR(test::column(sheet, "percent").number(row), ratio(time, t.total) * 100, 1e-9);
      }
    }
  }
}

FATHOM_FOR_EVERY_TRACE(TimelineLaws);

// Schedules in which everything overlaps everything, which no real trace of ours has, against
// counting microsecond by microsecond.
TEST(TimelineOfRandomSchedules, AgreesWithCounting) {
  constexpr size_t kLength = 80;
  std::mt19937 random(5);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<std::string> events = {test::launch_call(0, 1, 1)};
    std::vector<std::array<bool, kLength>> covered(3);  // by computation, communication, copies
    const size_t count = 1 + random() % 12;
    for (size_t i = 0; i < count; ++i) {
      const size_t kind = random() % 4, start = random() % 60, duration = random() % 15;
      const char* const categories[] = {"kernel", "kernel", "gpu_memcpy", "gpu_memset"};
      const char* const names[] = {"gemm", "ncclAllReduce", "Memcpy DtoD", "Memset"};
      events.push_back(test::event_text(categories[kind], names[kind], static_cast<int64_t>(start),
                                        static_cast<int64_t>(duration), R"("correlation":1)", "0",
                                        std::to_string(random() % 3)));
      for (size_t at = start; at < start + duration; ++at) covered[kind % 3][at] = true;
    }
    int64_t computing = 0, communicating = 0, copying = 0;
    for (size_t at = 0; at < kLength; ++at) {
      computing += covered[0][at];
      communicating += covered[1][at] && !covered[0][at];
      copying += covered[2][at] && !covered[0][at] && !covered[1][at];
    }
    const Trace trace = test::open_events(events);
    const Scope scope;
    const GpuTimeline t = measure_timeline(SheetInput(trace.store, trace.tree, scope));
    EXPECT_EQ(t.computation, test::micros(computing));
    EXPECT_EQ(t.exposed_communication, test::micros(communicating));
    EXPECT_EQ(t.exposed_copies, test::micros(copying));
    EXPECT_EQ(t.busy, test::micros(computing + communicating + copying));
    EXPECT_EQ(t.busy + t.idle, t.total);
  }
}

}  // namespace
}  // namespace fathom
