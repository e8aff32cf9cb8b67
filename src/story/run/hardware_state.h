#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sheets/kernel_clocks.h"
#include "sheets/stall_sheets.h"
#include "story/run/tell_run.h"
#include "story/run/work_labels.h"

namespace fathom {

// A mean over the time of kernels that have the value.
struct WeightedMean {
  double sum = 0, weight = 0;

  void add(double value, double of) {
    sum += value * of;
    weight += of;
  }
  std::optional<double> mean() const {
    return weight > 0 ? std::optional(sum / weight) : std::nullopt;
  }
};

// What sets the time of an op by its cost model: memory, arithmetic, or, below 60 % of what they
// allow, neither: Nsight Compute calls less of a unit low. An op faster than they allow was not
// held up by them: caches, or a model that counts too much.
enum class ModelLimit : uint8_t { kMemory, kCompute, kNeither, kUnknown };
// `needed`: at the achievable rates; `time`: measured.
ModelLimit model_limit(const Bound& bound, double needed, double time);

// How the hardware behaved during some GPU work: counted, and by the ops' cost models.
struct HardwareState {
  double kernel_time = 0;             // ns, copies left out
  double counted = 0, untrusted = 0;  // of it: with counters
  WeightedMean sm, tensor, dram, occupancy;
  std::map<std::string, WeightedMean> stalls;
  std::string file;  // whose counters; the first of several

  double modelled = 0;  // ns: with a cost model
  double flops = 0, bytes = 0;
  double peak_compute = 0, peak_memory = 0;  // ns that the work needs at the GPU's peaks
  double limit = 0;                          // ns that it needs at the achievable rates
  double limited = 0;                        // ns of the work that has such a limit
  double near_memory = 0, near_compute = 0;  // ns of it: at 60 % of that limit or above
  double far = 0;                            // ns of it: below, so that neither sets the time
  std::map<std::string_view, double> specs;  // FLOP by the rate that they run against

  double copied_bytes = 0, copy_time = 0;  // of copies whose size is known; ns
  size_t copies = 0;

  std::optional<double> intensity() const;
  std::optional<double> flop_rate() const;  // per second
  std::optional<double> byte_rate() const;
};

// What is known of kernels, found by event.
class HardwareIndex {
 public:
  HardwareIndex(const RunFacts& facts, const WorkLabels& labels);

  HardwareState state(std::span<const EventId> events) const;
  const KernelContext* context(EventId kernel) const;
  const Platform* platform() const { return facts_.assessment.platform(); }
  // FLOP/B at which a rate of the platform is as long as its memory; the one most time runs
  // against.
  std::optional<double> ridge(const HardwareState& state) const;

  // The reason of most stalls by PC samples and its percent of them; none: no reason stands out.
  std::optional<std::pair<double, std::string_view>> main_stall(const KernelContext& kernel) const;

  // A clock that power or heat held below its maximum while the work's kernels ran; none: it was
  // not, or too little of their time was sampled.
  std::optional<StoryLine> throttled_line(std::span<const EventId> work) const;

  // Lines about a block: what the hardware did, what that means, what to try. Those that have
  // evidence, a few.
  std::vector<StoryLine> block_lines(const std::vector<EventId>& events) const;
  // Every line about one kernel.
  std::vector<StoryLine> kernel_lines(const KernelContext& kernel) const;

 private:
  // Of a block's time, for a line to speak of the block.
  static constexpr double kEnough = 0.5;

  struct Main;  // the kernel that takes the most of a block
  Main main_kernel(const std::vector<EventId>& events) const;
  void add_kernel_line(const Main& kernel, double block_time, std::vector<StoryLine>& out) const;
  static bool add_measured(const HardwareState& state, std::vector<StoryLine>& out);
  bool add_sampled(const KernelContext& kernel, std::vector<StoryLine>& out) const;
  static void add_observed(const StoryLine& hardware, std::vector<StoryLine>& out);
  void add_modelled(const HardwareState& state, bool is_measured,
                    std::vector<StoryLine>& out) const;
  bool add_explained(const std::vector<EventId>& events, std::vector<StoryLine>& out) const;
  void add_small_grid(EventId kernel, std::vector<StoryLine>& out) const;
  const StalledKernel* stalled(const KernelContext& kernel) const;
  void add_hot_lines(const KernelContext& kernel, size_t most, std::vector<StoryLine>& out) const;

  const RunFacts& facts_;
  const WorkLabels& labels_;
  // Of one call of an op: what does not differ from call to call.
  struct OpLimits {
    bool known = false;
    std::optional<Bound> peak;
    std::string_view rate;
  };
  const OpLimits& limits_of(const AssessedOp& op) const;
  mutable std::vector<OpLimits> limits_;  // by op, once asked for
  std::unordered_map<KernelLaunch, const KernelContext*, KernelLaunchHash> contexts_;
  bool has_counters_ = false;
  std::vector<StalledKernel> stalled_;
  ClockNumbers clocks_;
};

}  // namespace fathom
