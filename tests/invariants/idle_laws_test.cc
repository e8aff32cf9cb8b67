// The causes of idle time add up to it, for each GPU, each step and the whole.
#include "analyze/idle_gaps.h"
#include "analyze/idle_sheets.h"
#include "analyze/start_up.h"
#include "checks.h"
#include "invariants/every_trace.h"
#include "sheets/op_groups.h"

namespace fathom {
namespace {

std::vector<Scope> idle_scopes(const Trace& trace) {
  std::vector<Scope> scopes(1);
  const size_t steps = Steps(trace.store, kProfilerSteps).all().size();
  if (steps > 1) {
    scopes.emplace_back().steps = Scope::StepRange{1, 2};
    scopes.emplace_back().steps = Scope::StepRange{0, steps};
  }
  scopes.emplace_back().step_pattern = "no such step";
  // Without a start-up: where there is one, and for the middle half of any trace.
  const SheetInput whole(trace.store, trace.tree, scopes.front());
  if (const auto steady = find_steady_state(whole)) scopes.emplace_back().steady = steady;
  const TimeBase base = find_time_base(whole, work_by_device(whole));
  const Nanos quarter{base.wall().count / 4};
  Scope middle;
  middle.steady = Scope::SteadyState{
      {base.begin() + quarter, base.end() - quarter}, {base.begin(), base.end()}, {}};
  if (!all_selected(SheetInput(trace.store, trace.tree, middle)).empty()) scopes.push_back(middle);
  return scopes;
}

// Counted another way: each moment at which something of a device begins or ends, in order.
Nanos busy_within(const EventStore& store, const std::vector<EventId>& work, Nanos begin,
                  Nanos end) {
  std::vector<std::pair<Nanos, int>> edges;
  for (const EventId e : work) {
    if (store.end(e) <= begin || store.start(e) >= end) continue;
    edges.emplace_back(std::max(begin, store.start(e)), 1);
    edges.emplace_back(std::min(end, store.end(e)), -1);
  }
  std::ranges::sort(edges);
  Nanos busy;
  int open = 0;
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    open += edges[i].second;
    if (open > 0) busy += edges[i + 1].first - edges[i].first;
  }
  return busy;
}

class IdleLaws : public test::LawOfTraces {};

TEST_P(IdleLaws, CausesAddUpToTheIdleTimeOfEachGpuAndStep) {
  for (const Scope& scope : idle_scopes(trace())) {
    const SheetInput input(trace().store, trace().tree, scope);
    const std::vector<DeviceWork> devices = work_by_device(input);
    const TimeBase base = find_time_base(input, devices);
    const IdleTime idle = explain_idle_time(input, base, devices);
    ASSERT_EQ(base.devices.size(), devices.size());
    ASSERT_EQ(idle.devices.size(), devices.size());
    for (size_t i = 1; i < base.steps.size(); ++i)
      EXPECT_EQ(base.steps[i - 1].end.count, base.steps[i].begin.count);
    for (size_t d = 0; d < devices.size(); ++d) {
      const DeviceIdle& device = idle.devices[d];
      Nanos sum;
      for (const Nanos part : device.by_cause) {
        EXPECT_GE(part.count, 0);
        sum += part;
      }
      EXPECT_EQ(sum.count, base.devices[d].idle.count);
      const Nanos busy = busy_within(trace().store, devices[d].work, base.begin(), base.end());
      EXPECT_EQ(base.devices[d].busy.count, busy.count);
      EXPECT_EQ((busy + sum).count, base.wall().count);
      if (!device.is_explained) continue;
      for (size_t s = 0; s < base.steps.size(); ++s) {
        Nanos step;
        for (const Nanos part : device.by_step[s]) step += part;
        const Nanos in_step =
            busy_within(trace().store, devices[d].work, base.steps[s].begin, base.steps[s].end);
        EXPECT_EQ((step + in_step).count, (base.steps[s].end - base.steps[s].begin).count);
        EXPECT_EQ(device.busy_by_step[s].count, in_step.count);
      }
    }
  }
}

TEST_P(IdleLaws, SheetsHaveAllOfIt) {
  const Scope scope;
  const SheetInput input(trace().store, trace().tree, scope);
  const MeasuredOps ops(input, find_launchers(input));
  const Assessment assessment(input, ops, nullptr);
  const std::vector<Table> sheets = idle_sheets(assessment);
  if (assessment.base().steps.empty()) {
    EXPECT_TRUE(sheets.empty());
    return;
  }
  Nanos idle;
  for (const DeviceTime& device : assessment.base().devices) idle += device.idle;
  ASSERT_EQ(sheets.at(0).name(), "idle_causes");
  EXPECT_EQ(test::exact_sum(sheets.at(0), "time ms").count, idle.count);
  ASSERT_EQ(sheets.at(1).name(), "steps");
  const auto explained = static_cast<int64_t>(assessment.idle().explained);
  EXPECT_EQ(test::exact_sum(sheets.at(1), "wall ms").count,
            assessment.base().wall().count * explained);
}

// The gaps that stories tell of are those of the work given, each explained in full.
TEST_P(IdleLaws, PartsOfEachGapAddUpToIt) {
  const Scope scope;
  const SheetInput input(trace().store, trace().tree, scope);
  Nanos before{INT64_MIN};
  for (const IdleGap& gap : find_idle_gaps(input, all_selected(input)).gaps) {
    Nanos sum;
    for (const Nanos part : gap.parts) sum += part;
    EXPECT_EQ(sum.count, (gap.gap.end - gap.gap.begin).count);
    EXPECT_GE(gap.gap.begin, before);
    before = gap.gap.end;
  }
}

FATHOM_FOR_EVERY_TRACE(IdleLaws);

}  // namespace
}  // namespace fathom
