// A block of GPU work: its kernel, what the hardware did, what that means, what to try.
#include <algorithm>

#include "base/kernel_traits.h"
#include "base/utf8.h"
#include "story/run/hardware_state.h"
#include "story/run/kernel_evidence.h"

namespace fathom {

using K = StoryLineKind;

struct HardwareIndex::Main {
  const KernelContext* context = nullptr;
  EventId first;
  double time = 0;              // ns in the block
  size_t count = 0, timed = 0;  // timed: whose duration is known
};
namespace {

constexpr std::string_view kSmallGridId = "small_grid";  // of data/hypotheses
constexpr std::string_view kModelFormula = "cost model of the op ÷ time of its kernels";

std::string shown_name(std::string_view name) { return cut_to_bytes(name, 400); }

}  // namespace

HardwareIndex::Main HardwareIndex::main_kernel(const std::vector<EventId>& events) const {
  const EventStore& store = facts_.input.store;
  std::unordered_map<KernelLaunch, Main, KernelLaunchHash> all;
  Main best;
  for (const EventId e : events) {
    if (store.kind(e) != EventKind::kKernel) continue;
    Main& kernel = all[kernel_launch(store, e)];
    if (kernel.count++ == 0) kernel.first = e;
    kernel.time += static_cast<double>(std::max<int64_t>(0, store.duration(e).count));
    kernel.timed += store.duration(e).count > 0;
  }
  for (const auto& [launch, kernel] : all) {
    const bool is_more = kernel.time > best.time ||
                         (kernel.time == best.time && best.count > 0 && kernel.first < best.first);
    if (best.count == 0 || is_more) best = kernel;
  }
  if (best.count > 0) best.context = context(best.first);
  return best;
}

void HardwareIndex::add_kernel_line(const Main& kernel, double block_time,
                                    std::vector<StoryLine>& out) const {
  if (kernel.count == 0 || block_time <= 0) return;
  const EventStore& store = facts_.input.store;
  const std::string_view name = store.name(kernel.first).substr(0, 2000);
  const KernelTraits traits = kernel_traits(name);
  std::string known = traits.tile;
  for (const std::string* part : {&traits.dtype, &traits.layout})
    if (!part->empty()) known += (known.empty() ? "" : " ") + *part;
  StoryLine line(
      K::kKernel, StoryMark::kMeasured, StoryTopic::kNone, {shown_name(name), known},
      {{"share", 100 * std::min(1.0, kernel.time / block_time), "%"},
       {"count", static_cast<double>(kernel.count), ""},
       {"mean", kernel.time / static_cast<double>(std::max<size_t>(1, kernel.timed)) / 1e3, "µs"}});
  if (kernel.timed < kernel.count)
    line.numbers.push_back({"timed", static_cast<double>(kernel.timed), ""});

  line.evidence.events = {store.uid(kernel.first)};
  line.evidence.sheet = "kernel_summary";
  line.evidence.row = cut_to_bytes(name, 200);
  out.push_back(std::move(line));
  if (kernel.context == nullptr) return;
  if (auto source = source_line(*kernel.context)) out.push_back(std::move(*source));
}

void HardwareIndex::add_modelled(const HardwareState& s, bool is_measured,
                                 std::vector<StoryLine>& out) const {
  if (s.copy_time > 0 && s.kernel_time <= 0) {
    StoryLine line(K::kRates, StoryMark::kDerived, StoryTopic::kCopies, {},
                   {{"byte_rate", s.copied_bytes / s.copy_time * 1e9, "B/s"},
                    {"copies", static_cast<double>(s.copies), ""},
                    {"mean_bytes", s.copied_bytes / static_cast<double>(s.copies), "B"}});
    line.evidence.sheet = "kernel_summary";
    line.evidence.formula = "bytes of the copies ÷ their time";
    out.push_back(std::move(line));
    return;
  }
  if (s.modelled < kEnough * s.kernel_time || s.modelled <= 0 || s.bytes <= 0) return;
  StoryEvidence evidence;
  evidence.sheet = "unified_perf_summary";
  evidence.formula = kModelFormula;
  const double of_peak_bytes = s.peak_memory / s.modelled, of_peak = s.peak_compute / s.modelled;
  const bool has_peaks = s.peak_memory > 0;
  if (!is_measured) {
    StoryLine line(K::kRates, StoryMark::kEstimated, StoryTopic::kNone, {},
                   {{"flop_rate", *s.flop_rate(), "FLOP/s"}, {"byte_rate", *s.byte_rate(), "B/s"}},
                   evidence);
    if (has_peaks && of_peak <= 1) line.numbers.push_back({"of_peak_flop", 100 * of_peak, "%"});
    if (has_peaks && of_peak_bytes <= 1)
      line.numbers.push_back({"of_peak_bytes", 100 * of_peak_bytes, "%"});
    line.numbers.push_back({"coverage", 100 * s.modelled / s.kernel_time, "%"});
    if (s.limited >= kEnough * s.modelled && s.limit > 0 && of_peak_bytes <= 1) {
      // Of ops at different limits none speaks for the block.
      const double enough = kEnough * s.limited;
      if (s.far >= enough) {
        line.topic = StoryTopic::kLatency;
      } else if (s.near_memory >= enough) {
        line.topic = StoryTopic::kMemory;
      } else if (s.near_compute >= enough) {
        line.topic = StoryTopic::kCompute;
      }
      line.numbers.push_back({"of_limit", 100 * std::min(1.0, s.limit / s.limited), "%"});
      line.numbers.push_back({"intensity", *s.intensity(), "FLOP/B"});
      if (const auto crossing = ridge(s)) line.numbers.push_back({"ridge", *crossing, "FLOP/B"});
    }
    out.push_back(std::move(line));
  }
  if (has_peaks && of_peak_bytes > 1.05) {
    out.push_back({K::kFromCache,
                   StoryMark::kDerived,
                   StoryTopic::kNone,
                   {},
                   {{"byte_rate", *s.byte_rate(), "B/s"}, {"ratio", of_peak_bytes, "×"}},
                   evidence});
    return;
  }
}

// The confirmed hypothesis that is about the most time. Waiting before a kernel is told as idle
// time.
bool HardwareIndex::add_explained(const std::vector<EventId>& events,
                                  std::vector<StoryLine>& out) const {
  struct Found {
    const KernelContext* kernel = nullptr;
    const TestedHypothesis* tested = nullptr;
    double time = 0, longest = 0;
  };
  std::map<std::string_view, Found> found;
  double all = 0;
  std::unordered_map<const KernelContext*, double> times;
  for (const EventId e : events) {
    const KernelContext* kernel = context(e);
    const double time = static_cast<double>(facts_.input.store.duration(e).count);
    all += time;
    if (kernel != nullptr) times[kernel] += time;
  }
  for (const auto& [kernel, time] : times) {
    for (const TestedHypothesis& tested : kernel->tested) {
      if (!explains_kernel(*kernel, tested)) continue;
      Found& f = found[tested.hypothesis->id];
      f.time += time;
      const bool is_more = time > f.longest || (time == f.longest && f.kernel != nullptr &&
                                                kernel->first < f.kernel->first);
      if (f.kernel != nullptr && !is_more) continue;
      f.longest = time;
      f.kernel = kernel;
      f.tested = &tested;
    }
  }
  const Found* best = nullptr;
  for (const auto& [id, f] : found) {
    // Of equals the one with more to gain: its advice is worth more.
    const auto gain = [](const Found& x) { return x.tested->best ? 1 - *x.tested->best : 0; };
    if (best == nullptr || f.time * gain(f) > best->time * gain(*best) ||
        (f.time * gain(f) == best->time * gain(*best) && f.time > best->time))
      best = &f;
  }
  if (best == nullptr || best->time < kEnough * all) return false;
  StoryLine line = explained_line(*best->kernel, *best->tested, facts_.input.store);
  line.numbers = {{"share", 100 * std::min(1.0, best->time / all), "%"}};
  out.push_back(std::move(line));
  // Of a limit that leaves nothing to gain there is nothing to try.
  if (best->tested->best && !best->tested->hypothesis->advice.empty())
    out.push_back(advice_line(*best->kernel, *best->tested, facts_.input.store));
  return true;
}

void HardwareIndex::add_small_grid(EventId kernel, std::vector<StoryLine>& out) const {
  // Collectives use few multiprocessors on purpose.
  if (platform() == nullptr || !platform()->compute_units ||
      facts_.input.selection.is_communication(kernel))
    return;
  const auto& grid = facts_.input.store.gpu_work(kernel).grid;
  if (!grid || grid->x == 0 || grid->y == 0 || grid->z == 0) return;
  const double blocks = static_cast<double>(grid->x) * grid->y * grid->z;
  const double units = static_cast<double>(*platform()->compute_units);
  if (blocks >= units) return;
  StoryLine line(
      K::kSmallGrid, StoryMark::kDerived, StoryTopic::kNone,
      {shown_name(facts_.input.store.name(kernel).substr(0, 2000)), platform()->unit_name},
      {{"blocks", blocks, ""}, {"units", units, ""}, {"share", 100 * blocks / units, "%"}});
  line.evidence.events = {facts_.input.store.uid(kernel)};
  line.evidence.formula = "blocks of the grid ÷ multiprocessors of the GPU";
  out.push_back(std::move(line));
}

std::vector<StoryLine> HardwareIndex::block_lines(const std::vector<EventId>& events) const {
  std::vector<StoryLine> out, observed;
  const HardwareState s = state(events);
  const Main kernel = main_kernel(events);
  if (s.kernel_time > 0) add_kernel_line(kernel, s.kernel_time, out);
  const bool is_counted = add_measured(s, out);
  if (is_counted) {
    add_observed(out.back(), observed);
  } else if (kernel.context != nullptr) {
    if (auto line = untrusted_line(*kernel.context, facts_.input.store))
      out.push_back(std::move(*line));
    add_sampled(*kernel.context, out);
  }
  add_modelled(s, is_counted, out);
  const size_t explained_at = out.size();
  const bool is_explained = add_explained(events, out);
  if (!is_explained)
    for (StoryLine& line : observed) out.push_back(std::move(line));
  // A grid that leaves units without work is a fact beside other explanations.
  const bool is_told = is_explained && out[explained_at].name(0) == kSmallGridId;
  if (!is_told && kernel.count > 0) add_small_grid(kernel.first, out);
  if (kernel.context != nullptr) add_hot_lines(*kernel.context, 1, out);
  return out;
}

}  // namespace fathom
