#include "analyze/symptoms.h"

#include <algorithm>
#include <map>

namespace fathom {
namespace {

constexpr double kNearlyAllOfIt = 0.9, kMostOfIt = 0.7;
constexpr double kMuchOfTheSaving = 0.4;

// Of idle time, and of the host's bookkeeping, the covered events are what it is put down to, not
// what takes the time.
bool is_about_idle_time(FindingKind kind) {
  switch (kind) {
    case FindingKind::kHostBound:
    case FindingKind::kSynchronization:
    case FindingKind::kDataLoading:
    case FindingKind::kFirstUse:
    case FindingKind::kHostWork:
    case FindingKind::kAllocation:
    case FindingKind::kQueuedWork:
    case FindingKind::kGradientMode:
      return true;
    default:
      return false;
  }
}

// How little a kind tells of why: work for nobody 0, patterns 1, ops that are expensive by nature
// 2, what patterns show as 3, how far an op is from a limit 4.
int vagueness(FindingKind kind) {
  switch (kind) {
    case FindingKind::kLowEfficiency:
    case FindingKind::kShortKernels:
    case FindingKind::kHotLine:
      return 4;
    case FindingKind::kKernelLimit:
    case FindingKind::kFusibleChain:
    case FindingKind::kExposedCopies:
    case FindingKind::kExposedCommunication:
      return 3;
    case FindingKind::kExpensiveOp:
      return 2;
    // The work is not needed at all, or not done like this: how fast it is tells less.
    case FindingKind::kFallbackOp:
    case FindingKind::kUnusedGradients:
    case FindingKind::kRepeatedBackward:
      return 0;
    default:
      return 1;
  }
}

using Overlaps = std::map<std::pair<size_t, size_t>, Nanos>;  // of a finding with an earlier one

Overlaps find_overlaps(const std::vector<Finding>& findings) {
  constexpr size_t kFindingsOfAnEvent = 8;
  constexpr uint32_t kNoHolder = UINT32_MAX;
  struct Holder {
    uint32_t finding, next;  // next: of the same event
  };
  size_t events = 0;
  for (const Finding& f : findings)
    for (const CoveredEvent& covered : f.covered)
      if (covered.event.valid()) events = std::max<size_t>(events, covered.event.index + 1);
  std::vector<uint32_t> last(events, kNoHolder);  // by event: its last holder
  std::vector<Holder> holders;
  Overlaps overlaps;
  for (size_t i = 0; i < findings.size(); ++i) {
    const Finding& f = findings[i];
    if (is_about_idle_time(f.kind)) continue;
    for (const CoveredEvent& covered : f.covered) {
      if (!covered.event.valid()) continue;
      uint32_t& newest = last[covered.event.index];
      size_t known = 0;
      for (uint32_t at = newest; at != kNoHolder; at = holders[at].next, ++known)
        if (holders[at].finding != i) overlaps[{i, holders[at].finding}] += covered.time;
      if (known == kFindingsOfAnEvent || (newest != kNoHolder && holders[newest].finding == i))
        continue;
      holders.push_back({static_cast<uint32_t>(i), newest});
      newest = static_cast<uint32_t>(holders.size() - 1);
    }
  }
  return overlaps;
}

Nanos covered_time(const Finding& f) {
  Nanos all;
  for (const CoveredEvent& covered : f.covered) all += covered.time;
  return all;
}

// By finding, its cause; SIZE_MAX: none.
std::vector<size_t> find_causes(const std::vector<Finding>& findings) {
  std::vector<size_t> cause(findings.size(), SIZE_MAX);
  std::vector<Nanos> covered(findings.size());
  for (size_t i = 0; i < findings.size(); ++i) covered[i] = covered_time(findings[i]);
  for (const auto& [pair, time] : find_overlaps(findings)) {
    const auto [later, earlier] = pair;  // the earlier saves more
    const int how_much = vagueness(findings[earlier].kind) - vagueness(findings[later].kind);
    const bool bears =
        ratio(findings[later].saving_at_most, findings[earlier].saving_at_most) >= kMuchOfTheSaving;
    if (how_much > 0 && bears && ratio(time, covered[earlier]) >= kMostOfIt) {
      if (cause[earlier] == SIZE_MAX) cause[earlier] = later;
    } else if (how_much <= 0 && findings[earlier].kind != FindingKind::kShortKernels &&
               ratio(time, covered[later]) >= kNearlyAllOfIt) {
      if (cause[later] == SIZE_MAX) cause[later] = earlier;
    }
  }
  const auto host_bound = std::ranges::find(findings, FindingKind::kHostBound, &Finding::kind);
  for (size_t i = 0; i < findings.size(); ++i) {
    if (findings[i].kind == FindingKind::kShortKernels && host_bound != findings.end() &&
        findings[i].saving_at_most <= host_bound->saving_at_most)
      cause[i] = static_cast<size_t>(host_bound - findings.begin());
  }
  return cause;
}

// What is under a symptom goes to the symptom's cause. A few steps are enough: a cause tells more
// than its symptom, or saves more.
size_t first_cause(const std::vector<size_t>& cause, size_t finding) {
  constexpr int kMostSteps = 16;
  for (int i = 0; i < kMostSteps && cause[finding] != SIZE_MAX; ++i) finding = cause[finding];
  return finding;
}

using FindingPlace = std::vector<Finding>::iterator;

// With what is listed under it. Before what is as urgent, never before what is more urgent.
void put_before_as_urgent(std::vector<Finding>& findings, FindingPlace launches,
                          FindingPlace cause) {
  auto end = std::next(cause);
  while (end != findings.end() && end->under == cause->title) ++end;
  const auto as_urgent = std::ranges::find(launches, cause, cause->priority, &Finding::priority);
  std::rotate(launches->priority < cause->priority ? as_urgent : launches, cause, end);
}

}  // namespace

void list_symptoms_under_causes(std::vector<Finding>& findings) {
  const std::vector<size_t> cause = find_causes(findings);
  std::vector<std::vector<size_t>> groups(findings.size());  // by cause, itself first
  std::vector<size_t> order;
  for (size_t i = 0; i < findings.size(); ++i) {
    const size_t first = first_cause(cause, i);
    if (groups[first].empty()) {
      order.push_back(first);
      groups[first].push_back(first);
    }
    if (i != first) groups[first].push_back(i);
  }
  std::vector<Finding> ordered;
  ordered.reserve(findings.size());
  for (const size_t first : order) {
    Finding& f = findings[first];
    for (const size_t i : groups[first]) {
      if (findings[i].priority >= f.priority) continue;
      f.priority = findings[i].priority;
      f.priority_reason = findings[i].priority_reason;
    }
    const std::string title = f.title;
    ordered.push_back(std::move(f));
    for (size_t i = 1; i < groups[first].size(); ++i) {
      Finding& symptom = findings[groups[first][i]];
      symptom.under = title;
      ordered.push_back(std::move(symptom));
    }
  }
  findings = std::move(ordered);
}

void put_waits_before_late_launches(std::vector<Finding>& findings, size_t steps, Nanos length) {
  constexpr size_t kSeveral = 2;  // in a step
  constexpr double kOfTheLaunches = 0.1, kOfTheLength = 0.05, kForCertain = 0.01;
  const auto waits = std::ranges::find(findings, FindingKind::kSynchronization, &Finding::kind);
  const auto launches = std::ranges::find(findings, FindingKind::kHostBound, &Finding::kind);
  if (waits == findings.end() || launches >= waits || !waits->under.empty()) return;
  const bool bears = ratio(waits->saving_at_most, launches->saving_at_most) >= kOfTheLaunches &&
                     ratio(waits->saving_at_most, length) >= kOfTheLength &&
                     ratio(waits->saving_at_least, length) >= kForCertain;
  if (!bears || steps == 0 || waits->covered.size() < kSeveral * steps) return;
  put_before_as_urgent(findings, launches, waits);
}

void put_functions_before_late_launches(std::vector<Finding>& findings) {
  constexpr double kOfTheLaunches = 0.3;
  const auto launches = std::ranges::find(findings, FindingKind::kHostBound, &Finding::kind);
  const auto function = std::ranges::find(findings, true, &Finding::is_quiet_function);
  if (function == findings.end() || launches >= function || !function->under.empty()) return;
  if (ratio(function->saving_at_most, launches->saving_at_most) < kOfTheLaunches) return;
  put_before_as_urgent(findings, launches, function);
}

}  // namespace fathom
