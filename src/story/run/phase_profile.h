#pragma once

#include <functional>

#include "analyze/idle_gaps.h"
#include "story/run/hardware_state.h"
#include "story/run/work_shares.h"

namespace fathom {

// Whether a phase has runs that can be compared: work of none and preparation have not.
constexpr bool has_runs(PhaseKind kind) {
  return kind != PhaseKind::kOther && kind != PhaseKind::kSetup;
}

// Idle time by its causes.
struct IdleTimes {
  Nanos all;
  Nanos by_cause[static_cast<size_t>(IdleCause::kCount)];
  // Names of host calls that held up, of ops that were launched next; of each cause.
  std::map<std::pair<IdleCause, StringId>, Nanos> blamed, before, before_kernel;
  EventId example;  // the work after the longest gap
  Nanos longest;

  void add(const IdleGap& gap, StringId op, StringId kernel);
  IdleCause main_cause() const;
};

// One phase in numbers: what transitions compare.
struct PhaseProfile {
  const Phase* phase = nullptr;
  std::vector<EventId> work;  // that is told, of all runs, in the order of time
  Nanos busy, idle;
  double hidden = 0;  // ns of its work while other work counts; sums of durations may be anything
  IdleTimes gaps;
  std::vector<Nanos> spans;         // of each run with work: from its first start to its last end
  std::vector<size_t> run_of_span;  // its number
  std::vector<IdleTimes> run_gaps;  // of each run
  size_t typical = 0;               // place in spans
  // The first run takes over 1.5 times the median of the others: it is told apart from them.
  bool first_is_apart = false;
  double median_span = 0;  // ns; of all runs, or of the others
  Nanos first_busy;        // of the first run
  std::vector<EventId> typical_work;
  size_t kernels = 0;        // of the typical run
  double median_kernel = 0;  // ns, over all runs
  HardwareState hardware;
  std::map<std::string, double> families;  // time by class of work, ns
  // Rows of the GEMMs that take the most time: tokens at once.
  std::optional<double> gemm_rows;
  double gemm_n = 0, gemm_k = 0;
  EventId gemm_event;

  Nanos time() const { return busy + idle; }
  // Of the runs that are told together, in no order.
  std::vector<Nanos> steady_spans() const {
    return {spans.begin() + (first_is_apart ? 1 : 0), spans.end()};
  }
  // Of the typical run: its first may have waited for minutes.
  Nanos typical_span() const { return spans.empty() ? Nanos{} : spans[typical]; }
  const IdleTimes& typical_gaps() const { return run_gaps[run_of_span[typical]]; }
  Nanos typical_busy;
  // With what runs beside work of other runs, which counts for only one of them.
  Nanos typical_covered;
  double busy_share() const {
    return std::min(1.0, ratio(std::max(typical_busy, typical_covered), typical_span()));
  }
};

struct PhaseProfiles {
  std::vector<PhaseProfile> profiles;  // of each phase
  std::vector<Nanos> owned;            // by event: the time that counts as its own
  std::map<std::pair<size_t, size_t>, IdleTimes> between;  // by the phases before and after
};

// Whether an event is told; none: all are.
using WorkFilter = std::function<bool(EventId)>;

// `phases` must outlive it.
PhaseProfiles profile_phases(const RunFacts& facts, const WorkLabels& labels,
                             const HardwareIndex& hardware, const std::vector<Phase>& phases,
                             std::vector<EventId> work, const WorkFilter& is_told);

}  // namespace fathom
