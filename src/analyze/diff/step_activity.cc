#include "analyze/diff/step_activity.h"

#include <algorithm>

#include "sheets/time_base.h"

namespace fathom {
namespace {

constexpr size_t kMostParts = 4096;

const BaseStep* step_of_median_length(const TimeBase& base) {
  if (base.steps.empty()) return nullptr;
  std::vector<const BaseStep*> steps;
  for (const BaseStep& step : base.steps) steps.push_back(&step);
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::ranges::nth_element(steps, middle, [](const BaseStep* x, const BaseStep* y) {
    return std::pair(x->end - x->begin, x->begin) < std::pair(y->end - y->begin, y->begin);
  });
  return *middle;
}

}  // namespace

Nanos median_step(const SheetInput& input) {
  const TimeBase base = find_time_base(input, work_by_device(input));
  const BaseStep* step = step_of_median_length(base);
  return step != nullptr ? step->end - step->begin : Nanos{};
}

StepActivity step_activity(const SheetInput& input, Nanos part) {
  const std::vector<DeviceWork> devices = work_by_device(input);
  const TimeBase base = find_time_base(input, devices);
  const BaseStep* step = step_of_median_length(base);
  StepActivity activity;
  if (step == nullptr || part.count <= 0 || step->end <= step->begin) return activity;
  if (step->annotation.valid()) activity.name = input.store.name(step->annotation);
  activity.length = step->end - step->begin;
  const size_t parts = std::min<size_t>(
      kMostParts, static_cast<size_t>((activity.length.count - 1) / part.count) + 1);
  activity.busy.resize(parts);
  size_t used = 0;
  for (const DeviceWork& device : devices) {
    Nanos done = step->begin;  // up to where it is counted: work of several streams overlaps
    bool is_used = false;
    for (const EventId e : device.work) {
      const Nanos begin = std::max(input.store.start(e), done);
      const Nanos end = std::min(input.store.end(e), step->end);
      if (end <= begin) continue;
      is_used = true;
      done = end;
      for (int64_t at = (begin - step->begin).count; at < (end - step->begin).count;) {
        const auto index = static_cast<size_t>(at / part.count);
        if (index >= parts) break;
        // Not (index + 1) * part: the last part of a step of centuries would end past int64.
        const int64_t until =
            at + std::min((end - step->begin).count - at, part.count - at % part.count);
        activity.busy[index] += static_cast<double>(until - at);
        at = until;
      }
    }
    if (is_used) ++used;
  }
  for (size_t i = 0; i < parts; ++i) {
    const int64_t from = static_cast<int64_t>(i) * part.count;
    const int64_t length = std::min(part.count, activity.length.count - from);
    activity.busy[i] /=
        static_cast<double>(length) * static_cast<double>(std::max<size_t>(1, used));
  }
  return activity;
}

}  // namespace fathom
