// Clocks that power or heat holds below their maximum.
#include <algorithm>

#include "story/run/hardware_state.h"

namespace fathom {

std::optional<StoryLine> HardwareIndex::throttled_line(std::span<const EventId> work) const {
  constexpr double kOften = 0.1;     // of the time that reasons are known for
  constexpr double kAtMost = 0.97;   // of the highest clock: above that it is jitter
  constexpr double kKnownFor = 0.1;  // of the work's time; samples are 100 ms apart
  if (clocks_.empty() || work.empty()) return {};
  std::vector<EventId> kernels;
  for (const EventId e : work)
    if (facts_.input.store.kind(e) == EventKind::kKernel) kernels.push_back(e);
  if (kernels.empty()) return {};
  const ClockMeans means = clocks_.during(kernels);
  const auto clock = means.mean(0), slowed = means.share(means.slowed);
  const auto gpu = facts_.input.store.gpu_work(kernels.front()).device.value_or(0);
  std::optional<double> highest = clocks_.highest_clock(gpu);
  const bool is_known = platform() != nullptr && platform()->boost_clock;
  if (is_known) highest = std::max(*platform()->boost_clock / 1e6, highest.value_or(0));
  if (!clock || !slowed || !highest || means.known_share() < kKnownFor) return {};
  if (*slowed < kOften || *clock > kAtMost * *highest) return {};
  // A slowdown without a reason is the board's own.
  const std::string_view reason = means.power_capped >= means.too_hot && means.power_capped > 0
                                      ? "power cap"
                                  : means.too_hot > 0 ? "thermal slowdown"
                                                      : "hardware slowdown";
  StoryLine line(StoryLineKind::kThrottled, StoryMark::kMeasured, StoryTopic::kThrottling,
                 {std::string(reason)},
                 {{"active", 100 * *slowed, "%"},
                  {"sm_clock", *clock, "MHz"},
                  {"highest", *highest, "MHz"},
                  {"most", *highest / *clock, "×"}});
  if (const auto power = means.mean(2)) line.numbers.push_back({"power", *power, "W"});
  line.evidence.sheet = "kernel_clocks";
  line.evidence.events = {facts_.input.store.uid(kernels.front())};
  line.evidence.formula =
      is_known ? "mean clock while kernels ran; highest: boost clock of the GPU"
               : "mean clock while kernels ran; highest: the highest that was sampled";
  return line;
}

}  // namespace fathom
