// What counters and PC samples show of GPU work.
#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "story/run/hardware_state.h"
#include "story/run/kernel_evidence.h"

namespace fathom {

using K = StoryLineKind;

namespace {

constexpr size_t kTopStalls = 2;
constexpr std::string_view kStallNames[kTopStalls] = {"stall_1", "stall_2"};
constexpr double kLeastStall = 5;  // percent of warp states
constexpr double kMainStall = 30;  // likewise, as Nsight Compute reports one
constexpr double kHotLine = 10;    // percent of a kernel's samples

// Percent of a kernel's samples and the reason, the most frequent first.
std::vector<std::pair<double, std::string_view>> stalls_of_samples(const StalledKernel& kernel) {
  std::map<std::string_view, uint64_t> reasons;
  for (const StalledPlace& place : kernel.places)
    for (const StalledPlace::Reason& reason : place.reasons) reasons[reason.name] += reason.samples;
  std::vector<std::pair<double, std::string_view>> sorted;
  for (const auto& [name, count] : reasons)
    sorted.emplace_back(100 * static_cast<double>(count) / static_cast<double>(kernel.samples),
                        name);
  std::ranges::sort(sorted, [](const auto& x, const auto& y) {
    return std::tie(y.first, x.second) < std::tie(x.first, y.second);
  });
  return sorted;
}

}  // namespace

const StalledKernel* HardwareIndex::stalled(const KernelContext& kernel) const {
  const std::string_view name = facts_.input.store.name(kernel.first);
  for (const StalledKernel& s : stalled_)
    if (s.name == name && s.samples > 0) return &s;
  return nullptr;
}

std::optional<std::pair<double, std::string_view>> HardwareIndex::main_stall(
    const KernelContext& kernel) const {
  const StalledKernel* samples = stalled(kernel);
  if (samples == nullptr) return {};
  const auto sorted = stalls_of_samples(*samples);
  if (sorted.empty() || sorted.front().first < kMainStall) return {};
  return sorted.front();
}

// Stalls of the kernel by PC samples, where no counters tell them.
bool HardwareIndex::add_sampled(const KernelContext& kernel, std::vector<StoryLine>& out) const {
  const StalledKernel* samples = stalled(kernel);
  if (samples == nullptr) return false;
  const auto sorted = stalls_of_samples(*samples);
  StoryLine line(K::kHardware, StoryMark::kMeasured, StoryTopic::kNone);
  for (size_t i = 0; i < std::min(sorted.size(), kTopStalls); ++i) {
    const double share = sorted[i].first;
    if (share < kLeastStall) break;
    line.names.emplace_back(sorted[i].second);
    line.numbers.push_back({kStallNames[i], share, "%"});
  }
  if (line.numbers.empty()) return false;
  line.evidence.sheet = "stall_samples";
  line.evidence.row = cut_to_bytes(kernel.name, 200);
  line.evidence.formula = "samples of the reason ÷ samples of the kernel";
  add_observed(line, out);
  out.insert(out.end() - (out.empty() || out.back().kind != K::kObserved ? 0 : 1), std::move(line));
  return true;
}

// What the measured state means, where no hypothesis is confirmed.
void HardwareIndex::add_observed(const StoryLine& hardware, std::vector<StoryLine>& out) {
  constexpr double kFar = 40, kNearPeakOfUnit = 60;  // percent, as Nsight Compute's rules
  StoryLine line(K::kObserved, StoryMark::kDerived, StoryTopic::kNone, {}, {}, hardware.evidence);
  line.evidence.formula =
      "largest of them; from 60 % of peak on it is the limit, all under 40 %: latency";
  const auto dram = hardware.number("dram"), tensor = hardware.number("tensor"),
             sm = hardware.number("sm"), stall = hardware.number("stall_1");
  for (const StoryNumber& number : hardware.numbers)
    if (number.name == "dram" || number.name == "tensor" || number.name == "sm")
      line.numbers.push_back(number);
  if (stall && *stall >= kMainStall) {
    line.names = {hardware.names.front()};
    line.numbers.push_back({"stall", *stall, "%"});
  }
  const double units = std::max(tensor.value_or(0), sm.value_or(0));
  if (dram && *dram >= kFar && *dram >= units && (sm || *dram >= kNearPeakOfUnit)) {
    line.topic = StoryTopic::kMemory;
  } else if (units >= kFar) {
    line.topic = StoryTopic::kCompute;
  } else if (dram && sm && *dram < kFar && tensor.value_or(0) < kFar && *sm < kFar) {
    line.topic = StoryTopic::kLatency;  // SM throughput that was not counted may be anything
  } else if (!line.names.empty()) {
    line.topic = StoryTopic::kStalls;
  }
  if (line.topic != StoryTopic::kNone) out.push_back(std::move(line));
}

bool HardwareIndex::add_measured(const HardwareState& s, std::vector<StoryLine>& out) {
  if (s.counted <= 0 || s.counted < kEnough * s.kernel_time) return false;
  StoryLine line(K::kHardware, StoryMark::kMeasured, StoryTopic::kNone);
  const auto add = [&line](std::string_view name, const WeightedMean& mean,
                           std::string_view metric) {
    const auto value = mean.mean();
    if (!value) return;
    line.numbers.push_back({name, *value, "%"});
    line.evidence.metrics.push_back(value_header(metric));
  };
  add("sm", s.sm, "sm_throughput");
  add("tensor", s.tensor, "tensor");
  add("dram", s.dram, "dram_throughput");
  add("occupancy", s.occupancy, "occupancy");
  std::vector<std::pair<double, std::string>> stalls;
  for (const auto& [reason, mean] : s.stalls) {
    // A kernel without this reason has none of it.
    const double share = mean.sum / s.counted;
    if (share >= kLeastStall) stalls.emplace_back(-share, reason);
  }
  std::ranges::sort(stalls);
  for (size_t i = 0; i < std::min(stalls.size(), kTopStalls); ++i) {
    line.names.push_back(stalls[i].second);
    line.numbers.push_back({kStallNames[i], -stalls[i].first, "%"});
    line.evidence.metrics.push_back("stall " + stalls[i].second);
  }
  if (line.numbers.empty()) return false;
  line.numbers.push_back({"coverage", 100 * s.counted / s.kernel_time, "%"});
  line.evidence.file = s.file;
  line.evidence.sheet = "kernels";
  line.evidence.formula =
      "mean over the kernels with counters, weighted by their time in the trace";
  out.push_back(std::move(line));
  return true;
}

void HardwareIndex::add_hot_lines(const KernelContext& kernel, size_t most,
                                  std::vector<StoryLine>& out) const {
  const StalledKernel* samples = stalled(kernel);
  if (samples == nullptr) return;
  for (size_t i = 0; i < std::min(most, samples->places.size()); ++i) {
    const StalledPlace& place = samples->places[i];
    const double share =
        100 * static_cast<double>(place.stalled) / static_cast<double>(samples->samples);
    if (share < kHotLine) break;
    std::string reasons;
    for (size_t r = 0; r < std::min<size_t>(2, place.reasons.size()); ++r) {
      reasons += fmt::format(
          "{}{} {:.0f} %", r > 0 ? ", " : "", place.reasons[r].name,
          100 * static_cast<double>(place.reasons[r].samples) / static_cast<double>(place.stalled));
    }
    StoryLine line(K::kHotLine, StoryMark::kMeasured, StoryTopic::kNone,
                   {cut_to_bytes(place.text(), 300), reasons}, {{"share", share, "%"}});
    line.evidence.sheet = "stall_samples";
    line.evidence.row = cut_to_bytes(kernel.name, 200);
    line.evidence.source = line.names[0];
    out.push_back(std::move(line));
  }
}

}  // namespace fathom
