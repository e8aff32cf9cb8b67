// Steps and devices divide a trace's GPU work: each part is in one of them, and none is lost.
#include <algorithm>
#include <set>

#include "invariants/every_trace.h"
#include "tree/steps.h"

namespace fathom {
namespace {

class StepLaws : public test::LawOfTraces {
 protected:
  size_t steps() const { return Steps(trace().store, kProfilerSteps).all().size(); }

  std::vector<EventId> selected(const Scope& scope) const {
    return all_selected(SheetInput(trace().store, trace().tree, scope));
  }

  double kernels_shown(const Scope& scope) const {
    const SheetInput input(trace().store, trace().tree, scope);
    return test::real_sum(kernel_summary_sheet(input, find_launchers(input)),
                          "Kernel duration (µs)_count");
  }

  // Whether any step's annotation is open when the work is launched; without a launch, when it
  // begins on the device.
  bool is_in_a_step(EventId gpu_event) const {
    const EventStore& store = trace().store;
    const CallId launch = trace().tree.launch(gpu_event);
    const Nanos time = store.start(launch.valid() ? trace().tree.event(launch) : gpu_event);
    const EventKind kind = launch.valid() ? EventKind::kAnnotation : EventKind::kGpuAnnotation;
    for (size_t i = 0; i < store.size(); ++i) {
      const EventId e(i);
      if (store.kind(e) == kind && store.name(e).starts_with("ProfilerStep#") &&
          store.start(e) <= time && time < store.end(e)) {
        return true;
      }
    }
    return false;
  }
};

Scope one_step(size_t step) {
  Scope scope;
  scope.steps = Scope::StepRange{step, step + 1};
  return scope;
}

TEST_P(StepLaws, StepsAndWhatIsOutsideThemAreTheWhole) {
  std::vector<int> seen(trace().store.size());
  double kernels_in_steps = 0;
  for (size_t i = 0; i < steps(); ++i) {
    for (EventId e : selected(one_step(i))) ++seen[e.index];
    kernels_in_steps += kernels_shown(one_step(i));
  }
  double kernels_outside = 0;
  for (EventId e : selected({})) {
    const bool inside = steps() > 0 && is_in_a_step(e);
    ASSERT_EQ(seen[e.index], inside ? 1 : 0) << "event " << e.index;
    kernels_outside += !inside && trace().store.kind(e) == EventKind::kKernel;
  }
  EXPECT_EQ(kernels_in_steps + kernels_outside, kernels_shown({}));
}

TEST_P(StepLaws, ARangeOfStepsIsTheUnionOfItsSteps) {
  if (steps() == 0) return;
  Scope all;
  all.steps = Scope::StepRange{0, steps()};
  std::vector<EventId> one_by_one;
  for (size_t i = 0; i < steps(); ++i) {
    const std::vector<EventId> events = selected(one_step(i));
    one_by_one.insert(one_by_one.end(), events.begin(), events.end());
  }
  std::vector<EventId> at_once = selected(all);
  std::ranges::sort(one_by_one);
  std::ranges::sort(at_once);
  EXPECT_EQ(one_by_one, at_once);
}

TEST_P(StepLaws, DevicesDivideTheWork) {
  std::set<int32_t> devices;
  size_t without = 0;
  for (EventId e : selected({})) {
    const std::optional<int32_t> device = trace().store.gpu_work(e).device;
    device ? void(devices.insert(*device)) : void(++without);
  }
  size_t sum = without;
  for (int32_t device : devices) {
    Scope scope;
    scope.device = device;
    sum += selected(scope).size();
  }
  EXPECT_EQ(sum, selected({}).size());
}

FATHOM_FOR_EVERY_TRACE(StepLaws);

}  // namespace
}  // namespace fathom
