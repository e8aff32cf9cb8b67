#include "analyze/symptoms.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace fathom {
namespace {

constexpr double kNearlyAllOfIt = 0.9;

// Of idle time the covered events are what it is put down to, not what takes the time.
bool is_about_idle_time(FindingKind kind) {
  switch (kind) {
    case FindingKind::kHostBound:
    case FindingKind::kSynchronization:
    case FindingKind::kDataLoading:
    case FindingKind::kFirstUse:
    case FindingKind::kHostWork:
    case FindingKind::kAllocation:
    case FindingKind::kQueuedWork:
      return true;
    default:
      return false;
  }
}

using Overlaps = std::map<std::pair<size_t, size_t>, Nanos>;  // of a finding with an earlier one

Overlaps find_overlaps(const std::vector<Finding>& findings) {
  constexpr size_t kFindingsOfAnEvent = 8;
  std::unordered_map<EventId, std::vector<uint32_t>> holders;
  Overlaps overlaps;
  for (size_t i = 0; i < findings.size(); ++i) {
    const Finding& f = findings[i];
    if (is_about_idle_time(f.kind)) continue;
    for (const CoveredEvent& covered : f.covered) {
      std::vector<uint32_t>& known = holders[covered.event];
      for (const uint32_t earlier : known)
        if (earlier != i) overlaps[{i, earlier}] += covered.time;
      if (known.size() < kFindingsOfAnEvent && (known.empty() || known.back() != i))
        known.push_back(static_cast<uint32_t>(i));
    }
  }
  return overlaps;
}

}  // namespace

void list_symptoms_under_causes(std::vector<Finding>& findings) {
  std::vector<size_t> cause(findings.size(), SIZE_MAX);
  for (const auto& [pair, time] : find_overlaps(findings)) {
    const auto [part, whole] = pair;  // the whole comes earlier: it saves more
    if (cause[part] != SIZE_MAX || findings[whole].kind == FindingKind::kShortKernels) continue;
    Nanos all;
    for (const CoveredEvent& covered : findings[part].covered) all += covered.time;
    if (ratio(time, all) >= kNearlyAllOfIt) cause[part] = whole;
  }
  const auto host_bound = std::ranges::find(findings, FindingKind::kHostBound, &Finding::kind);
  for (size_t i = 0; i < findings.size(); ++i) {
    if (findings[i].kind == FindingKind::kShortKernels && host_bound != findings.end() &&
        findings[i].saving_at_most <= host_bound->saving_at_most)
      cause[i] = static_cast<size_t>(host_bound - findings.begin());
  }
  // What is under a symptom goes to the symptom's cause.
  for (size_t i = 0; i < findings.size(); ++i) {
    if (cause[i] != SIZE_MAX && cause[cause[i]] != SIZE_MAX) cause[i] = cause[cause[i]];
  }
  std::vector<Finding> ordered;
  ordered.reserve(findings.size());
  std::vector<std::vector<size_t>> symptoms(findings.size());
  for (size_t i = 0; i < findings.size(); ++i)
    if (cause[i] != SIZE_MAX) symptoms[cause[i]].push_back(i);
  for (size_t i = 0; i < findings.size(); ++i) {
    if (cause[i] != SIZE_MAX) continue;
    const std::string title = findings[i].title;
    ordered.push_back(std::move(findings[i]));
    for (const size_t s : symptoms[i]) {
      findings[s].under = title;
      ordered.push_back(std::move(findings[s]));
    }
  }
  findings = std::move(ordered);
}

}  // namespace fathom
