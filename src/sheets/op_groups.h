#pragma once

#include <span>
#include <vector>

#include "cost/cost.h"
#include "events/statistics.h"
#include "sheets/op_columns.h"
#include "sheets/unified_ops.h"

namespace fathom {

// Calls of one op with the same arguments: what they took, and what they must do at least.
struct OpGroup {
  OpKey key;
  std::vector<const UnifiedOp*> calls;  // in the order of unified ops
  std::vector<Nanos> gpu_times;         // busy time of each call
  TimeStatistics cpu, gpu;
  std::optional<Cost> cost;  // of one call

  const UnifiedOp& first() const { return *calls.front(); }
};

// The ops of unified_perf_summary, grouped. Everything that speaks of ops and costs reads this.
class MeasuredOps {
 public:
  MeasuredOps(const SheetInput& input, const std::vector<Launcher>& launchers);
  MeasuredOps(const MeasuredOps&) = delete;
  MeasuredOps& operator=(const MeasuredOps&) = delete;

  // By total GPU time, the longest first.
  const std::vector<OpGroup>& groups() const { return groups_; }
  Nanos total() const { return total_; }

 private:
  std::vector<UnifiedOp> ops_;
  std::vector<OpGroup> groups_;
  Nanos total_;
};

// Of amount / time over calls; calls without a time are left out.
struct RateStatistics {
  double mean, median, min, max;
  std::optional<double> sample_deviation;
};
std::optional<RateStatistics> summarize_rates(double amount, std::span<const Nanos> times);

}  // namespace fathom
