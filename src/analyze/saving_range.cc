#include "analyze/saving_range.h"

#include <algorithm>
#include <unordered_set>

namespace fathom {
namespace {

constexpr size_t kWidened = 20;  // findings, the first: the cost stays linear in the trace
// What is left of the lower end after a replacement: the least that was measured for replacements
// that take over all of the work (bench/results/2026-11-16-ledger.md).
constexpr double kAfterReplacement = 0.85;
// Of the time of late launches: a profiler that records ops and stacks doubles what they take.
constexpr double kProfiled = 0.5;

// Work that is done otherwise, or not at all, once the finding is followed.
bool replaces_work(FindingKind kind) {
  switch (kind) {
    case FindingKind::kUnfusedAttention:
    case FindingKind::kAttentionMath:
    case FindingKind::kFusibleChain:
    case FindingKind::kTinyProducts:
    case FindingKind::kLoopedProducts:
    case FindingKind::kLoopedOptimizer:
    case FindingKind::kImageLayout:
    case FindingKind::kWideProducts:
    case FindingKind::kDoublePrecision:
    case FindingKind::kCasts:
    case FindingKind::kRepeatedKeys:
    case FindingKind::kLayoutCopies:
    case FindingKind::kGrowingCache:
    case FindingKind::kOneHotProduct:
    case FindingKind::kFullSort:
    case FindingKind::kRepeatedTables:
    case FindingKind::kOddSizes:
    case FindingKind::kContendedAtomics:
      return true;
    default:
      return false;
  }
}

// Waits of the host: launches behind them are late because of them, as far as the trace shows.
bool is_wait(FindingKind kind) {
  return kind == FindingKind::kSynchronization || kind == FindingKind::kDataLoading ||
         kind == FindingKind::kHostWork || kind == FindingKind::kAllocation;
}

Nanos part_of(Nanos time, double share) {
  return {static_cast<int64_t>(static_cast<double>(time.count) * share)};
}

class GoesWith {
 public:
  GoesWith(const Assessment& a, PlaceFinder& places) : a_(a), places_(places) {
    for (const AssessedCall& call : a.calls()) {
      ids_.push_back(
          places.of(call.op->kernels.empty() ? call.op->event : call.op->kernels.front()));
      if (!is_pointwise(*call.assessed)) mixed_.insert(ids_.back().frame);
    }
  }

  // The finding's work with all that may go with it.
  Nanos all_of(const Finding& finding) const {
    const bool is_chain = finding.kind == FindingKind::kFusibleChain;
    std::unordered_set<EventId> frames, ops, covered;
    for (const CoveredEvent& event : finding.covered) {
      covered.insert(event.event);
      const PlaceIds ids = places_.of(event.event);
      if (ids.frame.valid()) frames.insert(ids.frame);
      if (ids.op.valid()) ops.insert(ids.op);
    }
    double nanos = 0;
    for (size_t i = 0; i < ids_.size(); ++i) {
      const AssessedCall& call = a_.calls()[i];
      const bool is_its_own = std::ranges::any_of(
          call.op->kernels, [&](EventId kernel) { return covered.contains(kernel); });
      const bool is_beside = frames.contains(ids_[i].frame) && is_pointwise(*call.assessed) &&
                             (!is_chain || !mixed_.contains(ids_[i].frame));
      if (!is_its_own && !is_beside && !ops.contains(ids_[i].op)) continue;
      nanos += static_cast<double>(call.time.count) * call.assessed->counted +
               static_cast<double>(call.waited.count);
    }
    return {static_cast<int64_t>(nanos)};
  }

 private:
  const Assessment& a_;
  PlaceFinder& places_;
  std::vector<PlaceIds> ids_;  // of the calls
  // Calls of functions with more than memory-bound ops: such a function is not one fused kernel.
  std::unordered_set<EventId> mixed_;
};

}  // namespace

void widen_savings(const Assessment& a, PlaceFinder& places, std::vector<Finding>& findings) {
  const auto late = std::ranges::find(findings, FindingKind::kHostBound, &Finding::kind);
  const Nanos late_launches = late == findings.end() ? Nanos{} : late->time;
  const GoesWith goes_with(a, places);
  for (size_t i = 0; i < std::min(findings.size(), kWidened); ++i) {
    Finding& f = findings[i];
    const Nanos most = f.saving_at_most;
    if (replaces_work(f.kind)) {
      f.saving_at_least = part_of(f.saving_at_least, kAfterReplacement);
      const Nanos all = goes_with.all_of(f);
      f.with_it = std::max(Nanos{}, all - f.time);
      f.saving_at_most = std::min(std::max(most, all), a.length());
      if (f.saving_at_most > most) {
        f.notes.push_back(
            {"The upper end of the saving includes the gradients of these ops, the "
             "memory-bound ops beside them in the same function, and the gaps before them.",
             {},
             {}});
      }
    } else if (is_wait(f.kind) && most.count > 0) {
      // Host code that fills a gap is the gap. After other waits the host may still be late.
      if (f.kind == FindingKind::kHostWork) f.saving_at_least = part_of(most, kAfterReplacement);
      if (late_launches.count == 0) continue;
      const double without = 1 - kProfiled * ratio(late_launches, a.length());
      f.saving_at_most = std::min(part_of(most, 1 / without), a.length());
      f.with_it = f.saving_at_most - most;
      f.notes.push_back(
          {"Launches take less time without the profiler, and then this is a larger "
           "part of the step: the upper end of the saving.",
           {},
           {}});
    }
  }
}

}  // namespace fathom
