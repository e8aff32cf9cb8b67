#include <algorithm>
#include <cmath>

#include "story/run/chapters.h"

namespace fathom {

using K = StoryLineKind;
using Mark = StoryMark;

namespace {

constexpr double kShift = 1.25;  // times, for a rate to count as changed
constexpr double kPoints = 5;    // percentage points, likewise of shares

std::pair<std::string, double> main_family(const PhaseProfile& p) {
  std::pair<std::string, double> best;
  double all = 0;
  for (const auto& [name, time] : p.families) {
    all += time;
    if (time > best.second) best = {name, time};
  }
  best.second = all > 0 ? 100 * best.second / all : 0;
  return best;
}

bool differs(double a, double b) {
  const double low = std::min(a, b), high = std::max(a, b);
  return high > 0 && (low <= 0 || high / low >= kShift);
}

class TransitionTeller {
 public:
  TransitionTeller(const RunFacts& facts, const HardwareIndex& hardware, const PhaseProfile& from,
                   const PhaseProfile& to)
      : facts_(facts), hardware_(hardware), from_(from), to_(to) {}

  void add_gap(const IdleTimes* between) {
    if (between == nullptr || between->all.count <= 0) return;
    StoryLine line = shift(K::kGapBetween, Mark::kMeasured, "last event before, first event after");
    line.topic = topic_of(between->main_cause());
    line.numbers = {{"time", between->all.micros(), "µs"}};
    if (between->example.valid()) line.evidence.events = {facts_.input.store.uid(between->example)};
    out_.push_back(std::move(line));
  }

  void add_tokens() {
    if (!from_.gemm_rows || !to_.gemm_rows || *from_.gemm_rows == *to_.gemm_rows) return;
    StoryLine line = shift(K::kShiftTokens, Mark::kMeasured, {});
    line.numbers = {{"before", *from_.gemm_rows, ""}, {"after", *to_.gemm_rows, ""}};
    line.evidence.events = {facts_.input.store.uid(from_.gemm_event),
                            facts_.input.store.uid(to_.gemm_event)};
    out_.push_back(std::move(line));
  }

  void add_families() {
    const auto [before, before_share] = main_family(from_);
    const auto [after, after_share] = main_family(to_);
    if (before.empty() || after.empty()) return;
    if (before == after && std::fabs(before_share - after_share) < kPoints) return;
    StoryLine line =
        shift(K::kShiftFamilies, Mark::kMeasured, "time by class of work ÷ GPU busy time");
    line.names = {before, after};
    line.numbers = {{"before", before_share, "%"}, {"after", after_share, "%"}};
    line.evidence.sheet = "ops_summary_by_category";
    out_.push_back(std::move(line));
  }

  void add_kernels() {
    if (from_.median_kernel <= 0 || to_.median_kernel <= 0 ||
        !differs(from_.median_kernel, to_.median_kernel))
      return;
    StoryLine line =
        shift(K::kShiftKernels, Mark::kMeasured, "median over the kernels of all runs");
    line.numbers = {{"before", from_.median_kernel / 1e3, "µs"},
                    {"after", to_.median_kernel / 1e3, "µs"},
                    {"kernels_before", static_cast<double>(from_.kernels), ""},
                    {"kernels_after", static_cast<double>(to_.kernels), ""}};
    line.evidence.sheet = "kernel_summary";
    out_.push_back(std::move(line));
  }

  void add_busy() {
    const double before = 100 * from_.busy_share(), after = 100 * to_.busy_share();
    if (std::fabs(before - after) < kPoints) return;
    StoryLine line = shift(K::kShiftBusy, Mark::kMeasured, "busy time ÷ time of the typical run");
    line.numbers = {{"before", before, "%"}, {"after", after, "%"}};
    line.evidence.sheet = "gpu_timeline";
    out_.push_back(std::move(line));
  }

  void add_hardware() {
    const HardwareState &a = from_.hardware, &b = to_.hardware;
    if (a.counted <= 0 || b.counted <= 0) return;
    StoryLine line = shift(K::kShiftHardware, Mark::kMeasured,
                           "mean over the kernels with counters, weighted by their time");
    const auto add = [&line](std::string_view before, std::string_view after, const WeightedMean& x,
                             const WeightedMean& y) {
      if (!x.mean() || !y.mean()) return;
      line.numbers.push_back({before, *x.mean(), "%"});
      line.numbers.push_back({after, *y.mean(), "%"});
    };
    add("sm_before", "sm_after", a.sm, b.sm);
    add("tensor_before", "tensor_after", a.tensor, b.tensor);
    add("dram_before", "dram_after", a.dram, b.dram);
    if (line.numbers.empty()) return;
    line.numbers.push_back({"coverage_before", 100 * a.counted / a.kernel_time, "%"});
    line.numbers.push_back({"coverage_after", 100 * b.counted / b.kernel_time, "%"});
    line.evidence.file = a.file;
    line.evidence.sheet = "kernels";
    out_.push_back(std::move(line));
  }

  void add_rates() {
    const HardwareState &a = from_.hardware, &b = to_.hardware;
    if (!has_model(a) || !has_model(b)) return;
    if (!differs(a.flops / a.modelled, b.flops / b.modelled) &&
        !differs(a.bytes / a.modelled, b.bytes / b.modelled))
      return;
    StoryLine line =
        shift(K::kShiftRates, Mark::kEstimated, "cost models of the ops ÷ time of their kernels");
    line.numbers = {{"flop_before", *a.flop_rate(), "FLOP/s"},
                    {"flop_after", *b.flop_rate(), "FLOP/s"},
                    {"byte_before", *a.byte_rate(), "B/s"},
                    {"byte_after", *b.byte_rate(), "B/s"}};
    line.evidence.sheet = "unified_perf_summary";
    out_.push_back(std::move(line));
  }

  void add_why() {
    const HardwareState &a = from_.hardware, &b = to_.hardware;
    if (has_model(a) && has_model(b) && a.bytes > 0 && b.bytes > 0) {
      // A phase with hardly any arithmetic runs against no rate: the ridge is the other's.
      std::optional<double> ridge = hardware_.ridge(a.flops >= b.flops ? a : b);
      const double before = *a.intensity(), after = *b.intensity();
      const bool is_far = std::max(before, after) > 4 * std::min(before, after);
      if (ridge && ((before < *ridge) != (after < *ridge) || is_far)) {
        StoryLine line = shift(K::kWhyIntensity, Mark::kDerived,
                               "FLOP ÷ bytes of the cost models; ridge: peak FLOP/s ÷ peak B/s");
        line.topic = after < *ridge ? StoryTopic::kMemory : StoryTopic::kCompute;
        line.numbers = {
            {"before", before, "FLOP/B"}, {"after", after, "FLOP/B"}, {"ridge", *ridge, "FLOP/B"}};
        // A side of the ridge sets the time only of what runs near its limit.
        const double near = after < *ridge ? b.near_memory : b.near_compute;
        if (near < 0.5 * b.limited && b.modelled > 0) {
          const double needed = after < *ridge ? b.peak_memory : b.peak_compute;
          line.numbers.push_back({"of_peak", 100 * std::min(1.0, needed / b.modelled), "%"});
        }
        line.evidence.sheet = "unified_perf_summary";
        out_.push_back(std::move(line));
      }
    }
    // The host needs as long for a short kernel as for a long one.
    const double before = from_.busy_share(), after = to_.busy_share();
    const bool is_host = to_.typical_gaps().main_cause() == IdleCause::kHost;
    if (after + kPoints / 100 < before && is_host && to_.median_kernel < from_.median_kernel &&
        to_.kernels > 1) {
      const double kernels = static_cast<double>(to_.kernels);
      StoryLine line =
          shift(K::kWhyLaunches, Mark::kDerived,
                "time of the typical run ÷ its events, beside the median duration of a kernel");
      line.numbers = {
          {"interval", static_cast<double>(to_.typical_span().count) / kernels / 1e3, "µs"},
          {"kernel", to_.median_kernel / 1e3, "µs"},
          {"kernel_before", from_.median_kernel / 1e3, "µs"}};
      line.evidence.sheet = "gpu_timeline";
      out_.push_back(std::move(line));
    }
  }

  std::vector<StoryLine> take() { return std::move(out_); }

 private:
  static bool has_model(const HardwareState& s) {
    return s.modelled > 0 && s.modelled >= 0.5 * s.kernel_time;
  }

  StoryLine shift(K kind, Mark mark, std::string_view formula) const {
    StoryLine line(kind, mark, StoryTopic::kNone);
    line.evidence.formula = formula;
    for (const PhaseProfile* p : {&from_, &to_})
      if (!p->typical_work.empty())
        line.evidence.events.push_back(facts_.input.store.uid(p->typical_work.front()));
    return line;
  }

  const RunFacts& facts_;
  const HardwareIndex& hardware_;
  const PhaseProfile &from_, &to_;
  std::vector<StoryLine> out_;
};

}  // namespace

std::vector<StoryLine> tell_transition(const RunFacts& facts, const HardwareIndex& hardware,
                                       const PhaseProfile& from, const PhaseProfile& to,
                                       const IdleTimes* between, size_t lines) {
  TransitionTeller teller(facts, hardware, from, to);
  teller.add_tokens();
  teller.add_busy();
  teller.add_hardware();
  teller.add_rates();
  teller.add_kernels();
  teller.add_families();
  teller.add_gap(between);
  std::vector<StoryLine> out = teller.take();
  TransitionTeller reasons(facts, hardware, from, to);
  reasons.add_why();
  std::vector<StoryLine> why = reasons.take();
  // What explains comes before what merely changes.
  const size_t room = lines > why.size() ? lines - why.size() : 0;
  if (out.size() > room) out.resize(room);
  for (StoryLine& line : why) out.push_back(std::move(line));
  return out;
}

}  // namespace fathom
