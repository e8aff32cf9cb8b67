#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/idle_gaps.h"
#include "analyze/place.h"
#include "platform/platform.h"
#include "sheets/cpu_ops.h"
#include "sheets/host_activity.h"
#include "sheets/op_groups.h"
#include "sheets/sheets.h"
#include "tree/setup_spans.h"

namespace fathom {

// The least time that a platform needs for a cost: the longer of arithmetic and memory.
struct Bound {
  double compute_seconds = 0, memory_seconds = 0;

  double seconds() const { return std::max(compute_seconds, memory_seconds); }
  bool is_compute() const { return compute_seconds >= memory_seconds; }
};
// What a bound is computed from: the limits (achievable rates where known, else peaks), or the
// vendor's peaks alone.
enum class RateBasis : uint8_t { kLimit, kPeak };
// Unknown without a platform, or where the platform has no rate for the cost's arithmetic.
std::optional<Bound> bound_of(const Cost& cost, const Platform* platform,
                              RateBasis basis = RateBasis::kLimit);
// The platform's name for the arithmetic that a cost runs against; empty: none, or unknown.
std::string_view rate_name_of(const Cost& cost, const Platform& platform);

// Where an efficiency lies: > 80 % excellent, 60–80 good, 40–60 acceptable, < 40 needs
// investigation.
std::string_view efficiency_band(double efficiency);
// The lower edge of the next better band, 1 above the last.
double next_band(double efficiency);

// An op of the trace, with how far it is from the limit.
struct AssessedOp {
  const OpGroup* group = nullptr;
  std::string_view category;
  std::vector<EventId> kernels;      // the first of each name, the longest names first, a few
  std::optional<Bound> bound;        // of one call
  std::optional<double> efficiency;  // bound / measured, over all calls; 1 is the limit
  std::optional<double> of_peak;     // the same with the vendor's peaks
  // What the vendor's libraries take for one call at such a size; unknown where none was measured.
  std::optional<double> usual_seconds;
  bool usual_is_estimated = false;  // measured on another GPU
  // The arithmetic it was held against; TF32 where its kernels run FP32 operands on tensor cores.
  std::string_view rate_name;
  // Why there is a cost but no efficiency; empty where there is one, or no cost.
  std::string_view no_limit;
  double share = 0;           // of all ops' GPU time
  double category_share = 0;  // of its category's
  bool is_top = false;        // among the ten ops, by name, that take the most GPU time
  // The part of its time that the trace's length depends on: while the next work was already
  // waiting, and no communication ran on beside it.
  double counted = 1;
  double in_setup = 0;  // share of its calls that a compiler or autotuner makes
  double in_runs = 0;   // share of its calls that are in a run of pointwise ops
};

// Whether an op takes no longer than such work usually does: nothing is to be gained by a better
// kernel.
bool is_at_usual_rate(const AssessedOp& op);

// One call of an assessed op.
struct AssessedCall {
  const UnifiedOp* op;
  const AssessedOp* assessed;
  Nanos time;     // busy time of its kernels
  Nanos waited;   // that the GPU stood idle right before them, as the host launched them late
  CallId caller;  // the first call around it that is no op itself; invalid for a root
};

// Memory-bound ops that follow each other and hand each other a tensor of one size: places in
// calls().
struct PointwiseRun {
  size_t begin, end;
};

struct AssessedCategory {
  std::string_view name;
  Nanos time;
  double share = 0;                  // of all ops' GPU time
  double known_time = 0;             // share of its time that has an efficiency
  std::optional<double> efficiency;  // over the ops that have one
  std::vector<const AssessedOp*> ops;
};

struct TopOp {
  std::string_view name, category;
  Nanos time;
  size_t calls = 0;
  double share = 0;
  std::optional<double> efficiency, of_peak;  // known where they are for most of its time
};

// All ops of a scope held against a platform.
class Assessment {
 public:
  // The platform may be null: nothing is known of efficiency then.
  Assessment(const SheetInput& input, const MeasuredOps& ops, const Platform* platform);

  const SheetInput& input() const { return input_; }
  const Platform* platform() const { return platform_; }
  // Of the platform; where that does not say, of the runtime that recorded. Empty: unknown.
  std::string_view vendor() const;
  const std::vector<AssessedOp>& ops() const { return ops_; }                      // by time
  const std::vector<AssessedCategory>& categories() const { return categories_; }  // by time
  // Thread by thread, in the order of time; without those of compilers and autotuners.
  const std::vector<AssessedCall>& calls() const { return calls_; }
  const std::vector<PointwiseRun>& pointwise_runs() const { return runs_; }
  std::span<const TopOp> top_ops() const;                             // of the next, the first ten
  const std::vector<TopOp>& ops_by_name() const { return by_name_; }  // by time
  const GpuTimeline& timeline() const { return timeline_; }
  // The wall time of the steps or the recording, and why GPUs were idle in it.
  const TimeBase& base() const { return base_; }
  const IdleTime& idle() const { return idle_; }
  // Of the ops of a trace without GPU work; null where there is some.
  const CpuOps* cpu() const { return cpu_ ? &*cpu_ : nullptr; }
  // Ranges and counters of a trace without GPU work; null where there is some, or none of them.
  const HostActivity* host() const { return host_ ? &*host_ : nullptr; }
  // What savings are parts of: the wall time, or of a trace without GPU work that of CPU ops.
  Nanos length() const { return cpu_ ? cpu_->length() : host_ ? host_->length : base_.wall(); }
  Nanos total() const { return total_; }  // of all ops' GPU time
  // Share of the ops' time whose cost and bound are known.
  double known_share() const { return known_share_; }
  // As long as the shortest kernels of this trace: no kernel can be expected to take less.
  Nanos shortest_kernel() const { return shortest_kernel_; }
  // By its ops and kernels; advice for other programs names no part of PyTorch.
  bool uses_pytorch() const { return uses_pytorch_; }
  // Finds where work comes from; one for all who ask, one thread at a time.
  PlaceFinder& places() const { return places_; }
  // Whether a compiler or autotuner launched it: no advice for steps follows from it.
  bool is_setup(EventId gpu_event) const;

 private:
  void assess_ops(const MeasuredOps& measured);
  void limit_op(AssessedOp& op);
  void group_categories();
  void rank_ops();
  void order_calls();
  void find_runs();
  void find_shortest_kernel();
  void count_exposed_time();

  const SheetInput& input_;
  const Platform* platform_;
  SetupSpans setup_;
  std::vector<AssessedOp> ops_;
  std::vector<AssessedCall> calls_;
  std::vector<PointwiseRun> runs_;
  std::vector<AssessedCategory> categories_;
  std::vector<TopOp> by_name_;
  GpuTimeline timeline_;
  TimeBase base_;
  IdleTime idle_;
  Nanos total_, shortest_kernel_;
  double known_share_ = 0;
  bool uses_pytorch_ = false;
  std::optional<CpuOps> cpu_;
  std::optional<HostActivity> host_;
  mutable PlaceFinder places_;
};

// Whether an op only moves data and works on it element by element, row by row.
bool is_pointwise(const AssessedOp& op);

// Every category there is, those without ops among them.
std::vector<std::string_view> category_names();

}  // namespace fathom
