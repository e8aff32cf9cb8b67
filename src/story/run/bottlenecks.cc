#include "story/run/bottlenecks.h"

#include <algorithm>
#include <map>

#include "base/utf8.h"
#include "measure/hypotheses.h"
#include "story/run/kernel_evidence.h"

namespace fathom {
namespace {

constexpr std::string_view kThrottlingId = "throttling";  // of data/hypotheses

class BottleneckFinder {
  using K = StoryLineKind;
  using Mark = StoryMark;
  using T = StoryTopic;

 public:
  explicit BottleneckFinder(const BottleneckInput& in) : in_(in) {}

  std::vector<Bottleneck> find() const {
    std::vector<Bottleneck> all;
    if (in_.facts.has_idle_time()) add_idle(all);
    if (in_.facts.has_idle_time()) add_setup(all);
    if (in_.facts.has_idle_time() && !in_.is_part) add_transfer(all);
    add_kernel(all);
    std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return b.time < a.time; });
    return all;
  }

 private:
  const EventStore& store() const { return in_.facts.input.store; }

  void add_idle(std::vector<Bottleneck>& out) const {
    Nanos by_cause[static_cast<size_t>(IdleCause::kCount)];
    EventId example[static_cast<size_t>(IdleCause::kCount)];
    const auto add = [&](const IdleTimes& gaps) {
      for (size_t c = 0; c < static_cast<size_t>(IdleCause::kCount); ++c) {
        by_cause[c] += gaps.by_cause[c];
        if (gaps.by_cause[c].count > 0 && !example[c].valid()) example[c] = gaps.example;
      }
    };
    for (const PhaseProfile& p : in_.profiles.profiles)
      if (p.phase->kind != PhaseKind::kSetup) add(p.gaps);
    for (const auto& [phases, gaps] : in_.profiles.between) add(gaps);
    for (size_t c = 0; c < static_cast<size_t>(IdleCause::kCount); ++c) {
      if (by_cause[c].count <= 0) continue;
      StoryLine line = bottleneck_line(in_.whole, Mark::kDerived,
                                       topic_of(static_cast<IdleCause>(c)), by_cause[c]);
      line.evidence.events = {store().uid(example[c])};
      line.evidence.sheet = "gpu_timeline";
      line.evidence.formula = "gaps over all streams, by what the host did in them";
      out.push_back({by_cause[c], std::move(line)});
    }
  }

  void add_setup(std::vector<Bottleneck>& out) const {
    for (const PhaseProfile& p : in_.profiles.profiles) {
      if (p.phase->kind != PhaseKind::kSetup || p.time().count <= 0) continue;
      StoryLine line = bottleneck_line(in_.whole, Mark::kMeasured, T::kSetup, p.time());
      line.evidence.events = {store().uid(p.work.front())};
      if (p.phase->example.valid()) line.evidence.events.push_back(store().uid(p.phase->example));
      line.evidence.sheet = "gpu_timeline";
      line.evidence.formula = "GPU work launched by compilers and autotuners, with the gaps in it";
      out.push_back({p.time(), std::move(line)});
    }
  }

  void add_transfer(std::vector<Bottleneck>& out) const {
    const GpuTimeline& t = in_.facts.assessment.timeline();
    for (const auto& [topic, time] : {std::pair(T::kCopies, t.exposed_copies),
                                      std::pair(T::kCommunication, t.exposed_communication)}) {
      if (time.count <= 0) continue;
      StoryLine line = bottleneck_line(in_.whole, Mark::kMeasured, topic, time);
      line.evidence.sheet = "gpu_timeline";
      out.push_back({time, std::move(line)});
    }
  }

  // A clock that is held down, for the part of the kernels' time in which it is.
  bool add_clock(std::vector<Bottleneck>& out) const {
    std::optional<StoryLine> line = in_.hardware.throttled_line(in_.told);
    if (!line) return false;
    double time = 0;
    for (const EventId e : in_.told)
      if (store().kind(e) == EventKind::kKernel)
        time += static_cast<double>(in_.profiles.owned[e.index].count);
    const Nanos slowed{static_cast<int64_t>(time * line->number("active").value_or(0) / 100)};
    line->kind = K::kBottleneck;
    for (const StoryNumber& n :
         bottleneck_line(in_.whole, Mark::kMeasured, T::kThrottling, slowed).numbers)
      line->numbers.push_back(n);
    out.push_back({slowed, std::move(*line)});
    return true;
  }

  // Kernels by what confirmed hypotheses say, else by their ops' cost models.
  void add_kernel(std::vector<Bottleneck>& out) const {
    const bool is_throttled = in_.facts.has_timeline && add_clock(out);
    std::map<std::string_view, Bottleneck> confirmed;
    std::map<const KernelContext*, Nanos> told;
    std::map<T, std::vector<EventId>> modelled;
    for (const EventId e : in_.steps) {
      const Nanos time = in_.profiles.owned[e.index];
      const KernelContext* kernel = in_.hardware.context(e);
      if (kernel != nullptr) told[kernel] += time;
      if (const T limit = limit_of(e); limit != T::kNone) modelled[limit].push_back(e);
    }
    Nanos explained;
    std::map<T, ObservedKernels> observed;
    for (const auto& [kernel, time] : told) {
      bool is_explained = false;
      for (const TestedHypothesis& tested : kernel->tested) {
        if (!explains_kernel(*kernel, tested)) continue;
        // The clocks of this run come before those of the counted one.
        if (is_throttled && tested.hypothesis->id == kThrottlingId) continue;
        is_explained = true;
        Bottleneck& c = confirmed[tested.hypothesis->id];
        const bool is_first = c.time.count == 0;
        c.time += time;
        if (is_first || kernel->time > longest_of(c)) {
          c.line = explained_line(*kernel, tested, store());
          c.line.kind = K::kBottleneck;
          c.line.topic = T::kKernel;
          c.line.numbers = {{"kernel_time", kernel->time.micros(), "µs"}};
        }
      }
      if (is_explained) explained += time;
      if (!is_explained) observed[observed_limit(*kernel)].add(*kernel, time);
    }
    add_observed(observed, out);
    for (auto& [id, c] : confirmed) {
      c.line.numbers = bottleneck_line(in_.whole, Mark::kConfirmed, T::kKernel, c.time).numbers;
      out.push_back(std::move(c));
    }
    add_stall(told, out);
    for (auto& [topic, events] : modelled) {
      // Of counted kernels the counters tell more than a model.
      if (explained.count > 0) std::erase_if(events, [&](EventId e) { return is_counted(e); });
      if (events.empty()) continue;
      Nanos time;
      for (const EventId e : events) time += in_.profiles.owned[e.index];
      StoryLine line = bottleneck_line(in_.whole, Mark::kEstimated, topic, time);
      const HardwareState s = in_.hardware.state(events);
      if (s.modelled > 0 && s.peak_memory > 0) {
        const auto share = [&s](double needed) { return 100 * std::min(1.0, needed / s.modelled); };
        line.numbers.push_back({"of_peak_bytes", share(s.peak_memory), "%"});
        line.numbers.push_back({"of_peak_flop", share(s.peak_compute), "%"});
      }
      line.evidence.sheet = "unified_perf_summary";
      line.evidence.events = {store().uid(events.front())};
      line.evidence.formula = topic == T::kLatency
                                  ? "ops at less than 60 % of the GPU's achievable rates"
                                  : "ops at 60 % of the achievable rate or above, whose limit is " +
                                        std::string(topic == T::kMemory ? "bytes" : "FLOP");
      out.push_back({time, std::move(line)});
    }
  }

  bool is_counted(EventId e) const {
    const KernelContext* kernel = in_.hardware.context(e);
    return kernel != nullptr && !kernel->file.empty() && kernel->is_trusted;
  }

  // What the cost model of the event's op makes its limit; none: nothing is known of it.
  T limit_of(EventId e) const {
    const AssessedOp* op = in_.labels.op(e);
    const double time = static_cast<double>(store().duration(e).count);
    if (op == nullptr || !op->bound || time <= 0) return T::kNone;
    switch (
        model_limit(*op->bound, 1e9 * op->bound->seconds() * in_.labels.part_of_call(e), time)) {
      case ModelLimit::kMemory:
        return T::kMemory;
      case ModelLimit::kCompute:
        return T::kCompute;
      case ModelLimit::kNeither:
        return T::kLatency;
      case ModelLimit::kUnknown:
        break;
    }
    return T::kNone;
  }

  // Counted kernels that no hypothesis explains, by how near their units are to their peaks.
  struct ObservedKernels {
    Nanos time, longest;
    WeightedMean sm, tensor, dram;
    const KernelContext* kernel = nullptr;  // the one with the most time

    void add(const KernelContext& one, Nanos of) {
      time += of;
      const double weight = static_cast<double>(of.count);
      const auto add_value = [&](WeightedMean& to, std::string_view name) {
        if (const auto value = one.value(name)) to.add(*value, weight);
      };
      add_value(sm, "sm_throughput");
      add_value(tensor, "tensor");
      add_value(dram, "dram_throughput");
      if (kernel == nullptr || of > longest) {
        kernel = &one;
        longest = of;
      }
    }
  };

  static T observed_limit(const KernelContext& kernel) {
    constexpr double kNearPeak = 60, kFar = 40;  // percent, as Nsight Compute's rules
    if (kernel.file.empty() || !kernel.is_trusted) return T::kNone;
    const auto sm = kernel.value("sm_throughput"), dram = kernel.value("dram_throughput");
    const double units = std::max(sm.value_or(0), kernel.value("tensor").value_or(0));
    if (dram && *dram >= kNearPeak && *dram >= units) return T::kMemory;
    if (units >= kNearPeak) return T::kCompute;
    return sm && dram && units < kFar && *dram < kFar ? T::kLatency : T::kNone;
  }

  void add_observed(const std::map<T, ObservedKernels>& observed,
                    std::vector<Bottleneck>& out) const {
    for (const auto& [topic, kernels] : observed) {
      if (topic == T::kNone || kernels.time.count <= 0) continue;
      StoryLine line = bottleneck_line(in_.whole, Mark::kDerived, topic, kernels.time);
      const auto add = [&line](std::string_view name, const WeightedMean& mean) {
        if (mean.mean()) line.numbers.push_back({name, *mean.mean(), "%"});
      };
      add("sm", kernels.sm);
      add("tensor", kernels.tensor);
      add("dram", kernels.dram);
      line.names = {cut_text(kernels.kernel->name)};
      line.evidence = evidence_of_kernel(*kernels.kernel, store(), {});
      line.evidence.formula =
          "from 60 % of a unit's peak on it is the limit; all under 40 %: latency";
      out.push_back({kernels.time, std::move(line)});
    }
  }

  // Kernels by what PC samples show them to wait for.
  void add_stall(const std::map<const KernelContext*, Nanos>& told,
                 std::vector<Bottleneck>& out) const {
    struct Stalled {
      Nanos time, longest;
      double percent = 0;
      const KernelContext* kernel = nullptr;
    };
    std::map<std::string_view, Stalled> reasons;
    for (const auto& [kernel, time] : told) {
      const auto stall = in_.hardware.main_stall(*kernel);
      if (!stall) continue;
      Stalled& s = reasons[stall->second];
      s.time += time;
      if (s.kernel != nullptr && time <= s.longest) continue;
      s.longest = time;
      s.percent = stall->first;
      s.kernel = kernel;
    }
    for (const auto& [reason, s] : reasons) {
      StoryLine line = bottleneck_line(in_.whole, Mark::kDerived, T::kStalls, s.time);
      line.names = {std::string(reason), cut_text(s.kernel->name)};
      line.numbers.push_back({"stall", s.percent, "%"});
      line.evidence.events = {store().uid(s.kernel->first)};
      line.evidence.sheet = "stall_samples";
      line.evidence.row = cut_to_bytes(s.kernel->name, 200);
      line.evidence.formula = "kernels whose most frequent stall is this";
      out.push_back({s.time, std::move(line)});
    }
  }

  static Nanos longest_of(const Bottleneck& c) {
    return Nanos{static_cast<int64_t>(1e3 * c.line.number("kernel_time").value_or(0))};
  }

  const BottleneckInput& in_;
};

}  // namespace

std::vector<Bottleneck> find_bottlenecks(const BottleneckInput& in) {
  return BottleneckFinder(in).find();
}

StoryLine bottleneck_line(Nanos whole, StoryMark mark, StoryTopic topic, Nanos time) {
  return {StoryLineKind::kBottleneck,
          mark,
          topic,
          {},
          {{"share", 100 * std::min(1.0, ratio(time, whole)), "%"}, {"time", time.micros(), "µs"}},
          {}};
}

}  // namespace fathom
