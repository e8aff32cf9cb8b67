#include "analyze/blocking_launches.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/finding_parts.h"
#include "analyze/place.h"
#include "analyze/priority.h"
#include "base/count_text.h"

namespace fathom {

std::optional<Finding> find_blocking_launches(const Assessment& a) {
  // Of the step: a launch of a kernel of this length has returned long before the kernel ends.
  constexpr Nanos kLong{20'000};
  constexpr size_t kSeveral = 16;
  constexpr double kNearlyAll = 0.9, kNoticed = 0.05;
  const EventStore& store = a.input().store;
  const CallTree& tree = a.input().tree;
  if (!tree.has_launches() || a.length().count <= 0) return {};
  size_t kernels = 0, blocking = 0;
  for (const EventId work : a.input().selection.linked()) {
    if (store.kind(work) != EventKind::kKernel || store.duration(work) < kLong) continue;
    const CallId launch = tree.launch(work);
    if (!launch.valid()) continue;
    ++kernels;
    blocking += store.end(tree.event(launch)) >= store.end(work);
  }
  if (kernels < kSeveral ||
      static_cast<double>(blocking) < kNearlyAll * static_cast<double>(kernels))
    return {};
  const Nanos busy = a.base().mean_device().busy, idle = a.base().mean_device().idle;
  Finding f;
  f.kind = FindingKind::kSynchronization;
  f.time = std::min(busy, idle);
  f.share = ratio(f.time, a.length());
  if (f.share < kNoticed) return {};
  for (const IdleBlame& blame : a.idle().blamed[static_cast<size_t>(IdleCause::kHost)])
    f.covered.push_back({blame.event, blame.time});
  find_places(a.places(), f);
  // The replay of the critical path has no launches that wait.
  f.covered.push_back({EventId{}, {}});
  f.subject = "launch calls";
  f.title = fmt::format("Launch calls wait until their kernels have ended ({} of the wall time)",
                        percent_text(f.share));
  f.issue = fmt::format(
      "{} of {} kernels over 20 µs end before the call that launches them returns: "
      "host and GPU take turns, and neither runs ahead.",
      number_text(blocking), number_text(kernels));
  f.change_code =
      "Unset CUDA_LAUNCH_BLOCKING (AMD: HIP_LAUNCH_BLOCKING, AMD_SERIALIZE_KERNEL), which is for "
      "debugging.";
  f.confidence = Confidence::kHigh;
  // With h of the host and b of the GPU a step takes h + b, and max(h, b) without: half at most.
  // The profiler lengthens h.
  constexpr double kForCertain = 0.3, kLengthened = 1.8;
  const double b = seconds_of(busy), h = seconds_of(idle) / kLengthened;
  const double most = std::max(f.share, std::min(b, h) / (b + h)) * seconds_of(a.length());
  f.saving_at_most = nanos_from(most);
  f.saving_at_least = nanos_from(kForCertain * std::min(most, seconds_of(f.time)));
  f.projections = {{"host and GPU at the same time (upper bound)", f.time - f.saving_at_least,
                    ratio(f.saving_at_most, a.length())}};
  rate_part_of_whole(f);
  return f;
}

}  // namespace fathom
