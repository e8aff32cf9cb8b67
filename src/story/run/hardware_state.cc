#include "story/run/hardware_state.h"

#include <algorithm>

#include "story/run/work_shares.h"

namespace fathom {

std::optional<double> HardwareState::intensity() const {
  return bytes > 0 ? std::optional(flops / bytes) : std::nullopt;
}
std::optional<double> HardwareState::flop_rate() const {
  return modelled > 0 ? std::optional(flops / modelled * 1e9) : std::nullopt;
}
std::optional<double> HardwareState::byte_rate() const {
  return modelled > 0 ? std::optional(bytes / modelled * 1e9) : std::nullopt;
}
HardwareIndex::HardwareIndex(const RunFacts& facts, const WorkLabels& labels)
    : facts_(facts), labels_(labels), clocks_(facts.input.store) {
  for (const KernelContext& context : facts.contexts) {
    contexts_[context.launch] = &context;
    has_counters_ = has_counters_ || !context.file.empty();
  }
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
    const KernelContext* known = has_counters_ ? context(e) : nullptr;
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

}  // namespace fathom
