#include "story/run/hardware_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "story/run/work_shares.h"

namespace fathom {

using K = StoryLineKind;

struct HardwareIndex::Main {
  const KernelContext* context = nullptr;
  EventId first;
  double time = 0;              // ns in the block
  size_t count = 0, timed = 0;  // timed: whose duration is known
};

std::optional<double> HardwareState::intensity() const {
  return bytes > 0 ? std::optional(flops / bytes) : std::nullopt;
}
std::optional<double> HardwareState::flop_rate() const {
  return modelled > 0 ? std::optional(flops / modelled * 1e9) : std::nullopt;
}
std::optional<double> HardwareState::byte_rate() const {
  return modelled > 0 ? std::optional(bytes / modelled * 1e9) : std::nullopt;
}

namespace {

constexpr double kEnough = 0.5;  // of a block's time, for a line to speak of the block
constexpr size_t kTopStalls = 2;
constexpr double kLeastStall = 5;  // percent of warp states
constexpr double kMainStall = 30;  // likewise, as Nsight Compute reports one
constexpr double kHotLine = 10;    // percent of a kernel's samples

constexpr std::string_view kSmallGridId = "small_grid";  // of data/hypotheses
constexpr std::string_view kModelFormula = "cost model of the op ÷ time of its kernels";

std::string shown_name(std::string_view name) { return cut_to_bytes(name, 400); }

}  // namespace

HardwareIndex::HardwareIndex(const RunFacts& facts, const WorkLabels& labels)
    : facts_(facts), labels_(labels), clocks_(facts.input.store) {
  for (const KernelContext& context : facts.contexts) contexts_[context.launch] = &context;
  if (const StallSamples* samples = facts.input.kernels.samples())
    stalled_ = stalled_kernels(facts.input, *samples);
}

const KernelContext* HardwareIndex::context(EventId kernel) const {
  if (facts_.input.store.kind(kernel) != EventKind::kKernel) return nullptr;
  const auto found = contexts_.find(kernel_launch(facts_.input.store, kernel));
  return found == contexts_.end() ? nullptr : found->second;
}

ModelLimit model_limit(const Bound& bound, double needed, double time) {
  constexpr double kNear = 0.6, kImpossible = 1.25;
  if (needed < kNear * time) return ModelLimit::kNeither;
  if (needed > kImpossible * time) return ModelLimit::kUnknown;
  return bound.is_compute() ? ModelLimit::kCompute : ModelLimit::kMemory;
}

const HardwareIndex::OpLimits& HardwareIndex::limits_of(const AssessedOp& op) const {
  const std::vector<AssessedOp>& ops = facts_.assessment.ops();
  limits_.resize(ops.size());
  OpLimits& limits = limits_[static_cast<size_t>(&op - ops.data())];
  if (!limits.known) {
    limits.known = true;
    limits.peak = bound_of(*op.group->cost, platform(), RateBasis::kPeak);
    if (op.bound) limits.rate = rate_name_of(*op.group->cost, *platform());
  }
  return limits;
}

HardwareState HardwareIndex::state(std::span<const EventId> events) const {
  const EventStore& store = facts_.input.store;
  HardwareState s;
  for (const EventId e : events) {
    double time = static_cast<double>(std::max<int64_t>(0, store.duration(e).count));
    // Counters of unknown duration weigh the same.
    if (!facts_.has_timeline && time <= 0) time = 1;
    if (is_copy_work(store, e)) {
      if (const auto bytes = store.gpu_work(e).bytes; bytes && *bytes > 0) {
        ++s.copies;
        s.copied_bytes += static_cast<double>(*bytes);
        s.copy_time += time;
      }
      continue;
    }
    s.kernel_time += time;
    const KernelContext* known = context(e);
    if (known != nullptr && !known->file.empty() && !known->is_trusted) s.untrusted += time;
    if (known != nullptr && !known->file.empty() && known->is_trusted) {
      s.counted += time;
      if (s.file.empty()) s.file = known->file;
      const auto add = [&](WeightedMean& to, std::string_view name) {
        if (const auto value = known->value(name)) to.add(*value, time);
      };
      add(s.sm, "sm_throughput");
      if (s.sm.weight == 0) add(s.sm, "sm_active");
      add(s.tensor, "tensor");
      add(s.dram, "dram_throughput");
      add(s.occupancy, "occupancy");
      for (const auto& [reason, share] : known->stalls) s.stalls[reason].add(share, time);
    }
    const AssessedOp* op = labels_.op(e);
    if (op == nullptr || !op->group->cost || time <= 0) continue;
    const Cost& cost = *op->group->cost;
    const double part = labels_.part_of_call(e);
    s.modelled += time;
    s.flops += cost.flops * part;
    s.bytes += cost.bytes * part;
    const OpLimits& limits = limits_of(*op);
    if (limits.peak) {
      s.peak_compute += 1e9 * limits.peak->compute_seconds * part;
      s.peak_memory += 1e9 * limits.peak->memory_seconds * part;
    }
    if (op->bound) {
      s.limited += time;
      const double needed = 1e9 * op->bound->seconds() * part;
      s.limit += needed;
      switch (model_limit(*op->bound, needed, time)) {
        case ModelLimit::kMemory:
          s.near_memory += time;
          break;
        case ModelLimit::kCompute:
          s.near_compute += time;
          break;
        case ModelLimit::kNeither:
          s.far += time;
          break;
        case ModelLimit::kUnknown:
          break;
      }
      s.specs[limits.rate] += cost.flops * part;
    }
  }
  return s;
}

std::optional<double> HardwareIndex::ridge(const HardwareState& state) const {
  if (platform() == nullptr || !platform()->memory_bandwidth.peak) return {};
  std::string_view main;
  double most = 0;
  for (const auto& [spec, flops] : state.specs) {
    if (flops <= most || spec.empty()) continue;
    most = flops;
    main = spec;
  }
  const Rate* rate = main.empty() ? nullptr : platform()->find(main);
  if (rate == nullptr || !rate->peak || *platform()->memory_bandwidth.peak <= 0) return {};
  return *rate->peak / *platform()->memory_bandwidth.peak;
}

StoryEvidence evidence_of_kernel(const KernelContext& kernel, const EventStore& store,
                                 std::vector<std::string> metrics) {
  StoryEvidence e;
  e.events = {store.uid(kernel.first)};
  e.sheet = kernel.file.empty() ? "kernel_summary" : "kernels";
  e.row = cut_to_bytes(kernel.name, 200);
  e.file = kernel.file;
  e.metrics = std::move(metrics);
  return e;
}

bool explains_kernel(const KernelContext& kernel, const TestedHypothesis& tested) {
  if (tested.verdict != Verdict::kConfirmed) return false;
  const std::vector<std::string_view>& values = tested.hypothesis->evidence;
  const auto rests_on = [&values](std::string_view name) {
    return std::ranges::find(values, name) != values.end();
  };
  // Waiting before a kernel is told as idle time, a collective's as exposed time.
  if (rests_on("idle_before_us") || rests_on("exposed_share")) return false;
  // A unit near its peak leaves no room for what the hypothesis predicts.
  constexpr double kNearPeak = 60;
  for (const std::string_view unit : {"sm_throughput", "tensor", "dram_throughput"}) {
    const double used = kernel.value(unit).value_or(0);
    if (used >= kNearPeak && !rests_on(unit) && tested.best && *tested.best < used / 100 - 0.02)
      return false;
  }
  return true;
}

StoryLine explained_line(const KernelContext& kernel, const TestedHypothesis& tested,
                         const EventStore& store) {
  const Hypothesis& h = *tested.hypothesis;
  std::vector<std::string> metrics;
  for (const std::string_view name : h.evidence) metrics.push_back(value_header(name));
  StoryLine line{K::kExplained,
                 StoryMark::kConfirmed,
                 StoryTopic::kNone,
                 {std::string(h.id), std::string(h.title), evidence_text(kernel, tested)},
                 {},
                 evidence_of_kernel(kernel, store, std::move(metrics))};
  return line;
}

StoryLine advice_line(const KernelContext& kernel, const TestedHypothesis& tested,
                      const EventStore& store) {
  StoryLine line = explained_line(kernel, tested, store);
  line.kind = K::kAdvice;
  line.names = {std::string(tested.hypothesis->id), std::string(tested.hypothesis->advice)};
  if (tested.best && *tested.best < 1) {
    line.numbers = {{"least", *tested.least_gain(), "×"}, {"most", *tested.most_gain(), "×"}};
    line.evidence.formula =
        "2 ÷ (1 + b) to 1 ÷ b, b: part of the kernel's time that is left at best";
  }
  return line;
}

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
  StoryLine line{
      K::kKernel,
      StoryMark::kMeasured,
      StoryTopic::kNone,
      {shown_name(name), known},
      {{"share", 100 * std::min(1.0, kernel.time / block_time), "%"},
       {"count", static_cast<double>(kernel.count), ""},
       {"mean", kernel.time / static_cast<double>(std::max<size_t>(1, kernel.timed)) / 1e3, "µs"}},
      {}};
  if (kernel.timed < kernel.count)
    line.numbers.push_back({"timed", static_cast<double>(kernel.timed), ""});

  line.evidence.events = {store.uid(kernel.first)};
  line.evidence.sheet = "kernel_summary";
  line.evidence.row = cut_to_bytes(name, 200);
  out.push_back(std::move(line));
  if (kernel.context == nullptr || kernel.context->source.empty()) return;
  StoryLine source{
      K::kSource,
      StoryMark::kCodeFact,
      StoryTopic::kNone,
      {cut_to_bytes(kernel.context->source, 300), cut_to_bytes(kernel.context->code_facts, 300)},
      {},
      {}};
  source.evidence.source = cut_to_bytes(kernel.context->source, 300);
  out.push_back(std::move(source));
}

namespace {

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

std::optional<std::pair<double, std::string_view>> HardwareIndex::main_stall(
    const KernelContext& kernel) const {
  const StalledKernel* samples = stalled(kernel);
  if (samples == nullptr) return {};
  const auto sorted = stalls_of_samples(*samples);
  if (sorted.empty() || sorted.front().first < kMainStall) return {};
  return sorted.front();
}

// Stalls of the kernel by PC samples, where no counters tell them.
bool HardwareIndex::add_sampled(const Main& kernel, std::vector<StoryLine>& out) const {
  const StalledKernel* samples = kernel.context == nullptr ? nullptr : stalled(*kernel.context);
  if (samples == nullptr) return false;
  const auto sorted = stalls_of_samples(*samples);
  StoryLine line{K::kHardware, StoryMark::kMeasured, StoryTopic::kNone, {}, {}, {}};
  constexpr std::string_view kNames[] = {"stall_1", "stall_2"};
  for (size_t i = 0; i < std::min(sorted.size(), kTopStalls); ++i) {
    const double share = sorted[i].first;
    if (share < kLeastStall) break;
    line.names.emplace_back(sorted[i].second);
    line.numbers.push_back({kNames[i], share, "%"});
  }
  if (line.numbers.empty()) return false;
  line.evidence.sheet = "stall_samples";
  line.evidence.row = cut_to_bytes(kernel.context->name, 200);
  line.evidence.formula = "samples of the reason ÷ samples of the kernel";
  add_observed(line, out);
  out.insert(out.end() - (out.empty() || out.back().kind != K::kObserved ? 0 : 1), std::move(line));
  return true;
}

// What the measured state means, where no hypothesis is confirmed.
void HardwareIndex::add_observed(const StoryLine& hardware, std::vector<StoryLine>& out) {
  constexpr double kFar = 40, kNearPeakOfUnit = 60;  // percent, as Nsight Compute's rules
  StoryLine line{K::kObserved, StoryMark::kDerived, StoryTopic::kNone, {}, {}, hardware.evidence};
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

bool HardwareIndex::add_measured(const HardwareState& s, const Main& kernel,
                                 std::vector<StoryLine>& out) const {
  if (s.counted > 0 && s.counted >= kEnough * s.kernel_time) {
    StoryLine line{K::kHardware, StoryMark::kMeasured, StoryTopic::kNone, {}, {}, {}};
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
      const double share = s.counted > 0 ? mean.sum / s.counted : 0;
      if (share >= kLeastStall) stalls.emplace_back(-share, reason);
    }
    std::ranges::sort(stalls);
    constexpr std::string_view kStallNames[] = {"stall_1", "stall_2"};
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
  if (kernel.context != nullptr && !kernel.context->file.empty() && !kernel.context->is_trusted) {
    out.push_back({K::kUntrusted,
                   StoryMark::kMeasured,
                   StoryTopic::kNone,
                   {kernel.context->file},
                   {},
                   evidence_of_kernel(*kernel.context, facts_.input.store, {"duration"})});
  }
  return false;
}

void HardwareIndex::add_modelled(const HardwareState& s, bool is_measured,
                                 std::vector<StoryLine>& out) const {
  if (s.copy_time > 0 && s.kernel_time <= 0) {
    StoryLine line{K::kRates,
                   StoryMark::kDerived,
                   StoryTopic::kCopies,
                   {},
                   {{"byte_rate", s.copied_bytes / s.copy_time * 1e9, "B/s"},
                    {"copies", static_cast<double>(s.copies), ""},
                    {"mean_bytes", s.copied_bytes / static_cast<double>(s.copies), "B"}},
                   {}};
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
    StoryLine line{K::kRates,
                   StoryMark::kEstimated,
                   StoryTopic::kNone,
                   {},
                   {{"flop_rate", *s.flop_rate(), "FLOP/s"}, {"byte_rate", *s.byte_rate(), "B/s"}},
                   evidence};
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

void HardwareIndex::add_small_grid(const Main& kernel, std::vector<StoryLine>& out) const {
  // Collectives use few multiprocessors on purpose.
  if (kernel.count == 0 || platform() == nullptr || !platform()->compute_units ||
      facts_.input.selection.is_communication(kernel.first))
    return;
  const auto& grid = facts_.input.store.gpu_work(kernel.first).grid;
  if (!grid || grid->x == 0 || grid->y == 0 || grid->z == 0) return;
  const double blocks = static_cast<double>(grid->x) * grid->y * grid->z;
  const double units = static_cast<double>(*platform()->compute_units);
  if (blocks >= units) return;
  StoryLine line{
      K::kSmallGrid,
      StoryMark::kDerived,
      StoryTopic::kNone,
      {shown_name(facts_.input.store.name(kernel.first).substr(0, 2000)), platform()->unit_name},
      {{"blocks", blocks, ""}, {"units", units, ""}, {"share", 100 * blocks / units, "%"}},
      {}};
  line.evidence.events = {facts_.input.store.uid(kernel.first)};
  line.evidence.formula = "blocks of the grid ÷ multiprocessors of the GPU";
  out.push_back(std::move(line));
}

std::vector<StoryLine> HardwareIndex::block_lines(const std::vector<EventId>& events) const {
  std::vector<StoryLine> out, observed;
  const HardwareState s = state(events);
  const Main kernel = main_kernel(events);
  if (s.kernel_time > 0) add_kernel_line(kernel, s.kernel_time, out);
  const bool is_counted = add_measured(s, kernel, out);
  if (is_counted) add_observed(out.back(), observed);
  if (!is_counted) add_sampled(kernel, out);
  add_modelled(s, is_counted, out);
  const size_t explained_at = out.size();
  const bool is_explained = add_explained(events, out);
  if (!is_explained)
    for (StoryLine& line : observed) out.push_back(std::move(line));
  // A grid that leaves units without work is a fact beside other explanations.
  const bool is_told = is_explained && out[explained_at].name(0) == kSmallGridId;
  if (!is_told) add_small_grid(kernel, out);
  if (kernel.context != nullptr) add_hot_lines(*kernel.context, 1, out);
  return out;
}

const StalledKernel* HardwareIndex::stalled(const KernelContext& kernel) const {
  const std::string_view name = facts_.input.store.name(kernel.first);
  for (const StalledKernel& s : stalled_)
    if (s.name == name && s.samples > 0) return &s;
  return nullptr;
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
    StoryLine line{K::kHotLine,
                   StoryMark::kMeasured,
                   StoryTopic::kNone,
                   {cut_to_bytes(place.text(), 300), reasons},
                   {{"share", share, "%"}},
                   {}};
    line.evidence.sheet = "stall_samples";
    line.evidence.row = cut_to_bytes(kernel.name, 200);
    line.evidence.source = line.names[0];
    out.push_back(std::move(line));
  }
}

}  // namespace fathom
