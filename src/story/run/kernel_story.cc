// All that is known of one kernel.
#include <fmt/format.h>

#include <algorithm>

#include "base/text_parts.h"
#include "story/run/hardware_state.h"
#include "story/run/kernel_evidence.h"

namespace fathom {

using K = StoryLineKind;

namespace {

std::string dims_of(const KernelLaunch& launch) {
  const auto text = [](const std::optional<Dim3>& d) {
    return d ? fmt::format("{}×{}×{}", d->x, d->y, d->z) : std::string("unknown");
  };
  return fmt::format("grid {}, block {}", text(launch.grid), text(launch.block));
}

void add_number(StoryLine& line, const KernelContext& kernel, std::string_view as,
                std::string_view value, std::string_view unit) {
  const auto known = kernel.value(value);
  if (!known) return;
  line.numbers.push_back({as, *known, unit});
  line.evidence.metrics.push_back(value_header(value));
}

StoryLine launch_line(const KernelContext& kernel, const EventStore& store) {
  StoryLine line(K::kLaunch, StoryMark::kMeasured, StoryTopic::kNone, {dims_of(kernel.launch)},
                 {{"count", static_cast<double>(kernel.count), ""}},
                 evidence_of_kernel(kernel, store, {}));
  if (kernel.is_timed()) line.numbers.push_back({"time", kernel.time.micros(), "µs"});
  if (const auto median = kernel.value("trace_duration_us"))
    line.numbers.push_back({"median", *median, "µs"});
  if (const auto registers = kernel.value("registers"))
    line.numbers.push_back({"registers", *registers, ""});
  if (const auto shared = kernel.value("shared_bytes"))
    line.numbers.push_back({"shared", *shared, "B"});
  return line;
}

std::optional<StoryLine> occupancy_line(const KernelContext& kernel, const EventStore& store) {
  StoryLine line(K::kOccupancy, StoryMark::kDerived, StoryTopic::kNone,
                 {std::string(limiter_text(kernel.limiter))}, {},
                 evidence_of_kernel(kernel, store, {}));
  add_number(line, kernel, "theoretical", "theoretical_occupancy", "%");
  add_number(line, kernel, "achieved", "occupancy", "%");
  add_number(line, kernel, "waves", "waves", "");
  if (line.numbers.empty()) return {};
  if (!line.number("theoretical")) line.names = {""};
  line.evidence.formula = "limits of the multiprocessor, registers, shared memory and block size";
  return line;
}

std::optional<StoryLine> hardware_line(const KernelContext& kernel, const EventStore& store) {
  if (kernel.file.empty() || !kernel.is_trusted) return {};
  StoryLine line(K::kHardware, StoryMark::kMeasured, StoryTopic::kNone, {}, {},
                 evidence_of_kernel(kernel, store, {}));
  add_number(line, kernel, "sm", "sm_throughput", "%");
  if (!line.number("sm")) add_number(line, kernel, "sm", "sm_active", "%");
  add_number(line, kernel, "tensor", "tensor", "%");
  add_number(line, kernel, "dram", "dram_throughput", "%");
  constexpr std::string_view kNames[] = {"stall_1", "stall_2", "stall_3"};
  for (size_t i = 0; i < std::min<size_t>(3, kernel.stalls.size()); ++i) {
    line.names.push_back(kernel.stalls[i].first);
    line.numbers.push_back({kNames[i], kernel.stalls[i].second, "%"});
    line.evidence.metrics.push_back("stall " + kernel.stalls[i].first);
  }
  if (line.numbers.empty()) return {};
  return line;
}

std::optional<StoryLine> roofline_line(const KernelContext& kernel, const EventStore& store) {
  const auto intensity = kernel.value("intensity"), rate = kernel.value("flop_rate");
  const auto bandwidth = kernel.value("peak_bandwidth");
  const bool uses_tensor = kernel.value("tensor").value_or(0) > 0;
  const auto top = kernel.value(uses_tensor ? "peak_matrix" : "peak_vector");
  if (!intensity || !rate || !bandwidth || !top || *bandwidth <= 0 || *intensity <= 0) return {};
  const double ridge = *top / *bandwidth, roof = std::min(*top, *intensity * *bandwidth);
  StoryLine line(K::kRoofline, StoryMark::kMeasured,
                 *intensity < ridge ? StoryTopic::kMemory : StoryTopic::kCompute, {},
                 {{"intensity", *intensity, "FLOP/B"},
                  {"ridge", ridge, "FLOP/B"},
                  {"flop_rate", *rate, "FLOP/s"},
                  {"of_roof", 100 * std::min(1.0, *rate / roof), "%"}},
                 evidence_of_kernel(kernel, store, {"Counted GFLOP", "DRAM (MB)"}));
  line.evidence.formula = "counted FLOP ÷ counted bytes; roof: min(peak, intensity × bandwidth)";
  return line;
}

}  // namespace

std::vector<StoryLine> HardwareIndex::kernel_lines(const KernelContext& kernel) const {
  const EventStore& store = facts_.input.store;
  std::vector<StoryLine> out = {launch_line(kernel, store)};
  const auto add = [&out](std::optional<StoryLine> line) {
    if (line) out.push_back(std::move(*line));
  };
  add(source_line(kernel));
  if (facts_.code_steps) {
    for (const CodeStep& step : facts_.code_steps(kernel)) {
      StoryLine line(K::kCodeStep, step.mark, StoryTopic::kNone, {step.what, step.place});
      line.evidence.source = step.place;
      out.push_back(std::move(line));
    }
  }
  add(occupancy_line(kernel, store));
  add(hardware_line(kernel, store));
  add(untrusted_line(kernel, store));
  if (kernel.is_trusted) {
    add(roofline_line(kernel, store));
    StoryLine caches(K::kCacheRates, StoryMark::kMeasured, StoryTopic::kNone, {}, {},
                     evidence_of_kernel(kernel, store, {}));
    add_number(caches, kernel, "l1", "l1_hit", "%");
    add_number(caches, kernel, "l2", "l2_hit", "%");
    if (!caches.numbers.empty()) out.push_back(std::move(caches));
  }
  const std::vector<EventId> one = {kernel.first};
  std::vector<StoryLine> modelled;
  add_modelled(state(one), false, modelled);
  for (StoryLine& line : modelled) out.push_back(std::move(line));
  if (kernel.count > 0) add_small_grid(kernel.first, out);
  add_hot_lines(kernel, 3, out);
  for (const TestedHypothesis& tested : kernel.tested) {
    if (tested.verdict != Verdict::kConfirmed) continue;
    out.push_back(explained_line(kernel, tested, store));
    if (!tested.hypothesis->advice.empty()) out.push_back(advice_line(kernel, tested, store));
  }
  for (const TestedHypothesis& tested : kernel.tested) {
    if (tested.verdict != Verdict::kRejected) continue;
    StoryLine line = explained_line(kernel, tested, store);
    line.kind = K::kRejected;
    line.mark = StoryMark::kMeasured;
    out.push_back(std::move(line));
  }
  // One command may get the values of several.
  std::map<std::string, std::vector<const TestedHypothesis*>> untested;
  for (const TestedHypothesis& tested : kernel.tested)
    if (tested.verdict == Verdict::kUntested) untested[tested.command].push_back(&tested);
  for (const auto& [command, tests] : untested) {
    StoryLine line(K::kUntested, StoryMark::kMeasured, StoryTopic::kNone, {"", command},
                   {{"count", static_cast<double>(tests.size()), ""}},
                   evidence_of_kernel(kernel, store, {}));
    for (const TestedHypothesis* tested : tests) {
      line.names[0] += (line.names[0].empty() ? "" : "; ") + std::string(tested->hypothesis->title);
      for (const std::string_view missing : tested->missing) {
        const std::string header = value_header(missing);
        if (!contains(line.evidence.metrics, header)) line.evidence.metrics.push_back(header);
      }
    }
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace fathom
