#include "analyze/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyze/analyses.h"
#include "analyze/hot_line.h"
#include "analyze/place.h"
#include "analyze/priority.h"
#include "analyze/saving_range.h"
#include "analyze/symptoms.h"
#include "base/sort_runs.h"

namespace fathom {

namespace {

void by_urgency(std::vector<Finding>& findings) {
  sort_runs(findings, [](const Finding& x, const Finding& y) { return x.priority < y.priority; });
}

// Of those equally urgent by the middle of what they may save, with what is listed under each.
void by_likely_saving(std::vector<Finding>& findings) {
  std::vector<std::vector<Finding>> groups;
  for (Finding& f : findings) {
    if (f.under.empty() || groups.empty()) groups.emplace_back();
    groups.back().push_back(std::move(f));
  }
  std::ranges::stable_sort(groups, [](const auto& x, const auto& y) {
    const auto key = [](const Finding& f) {
      return std::tuple(f.priority, -(f.saving_at_least.count + f.saving_at_most.count));
    };
    return key(x.front()) < key(y.front());
  });
  findings.clear();
  for (std::vector<Finding>& group : groups)
    for (Finding& f : group) findings.push_back(std::move(f));
}

// What removes work exactly is still measured with an error: no saving is one number.
void spread_single_numbers(std::vector<Finding>& findings) {
  constexpr double kAtLeast = 0.85;  // of what was predicted, as measured (bench/results, ledger)
  for (Finding& f : findings) {
    if (f.saving_at_least < f.saving_at_most || f.saving_at_most.count <= 0) continue;
    f.saving_at_least = {
        static_cast<int64_t>(kAtLeast * static_cast<double>(f.saving_at_most.count))};
  }
}

constexpr double kForCertain = 0.01;  // of the wall time

bool may_save_nothing(const Finding& f, Nanos length) {
  return ratio(f.saving_at_least, length) < kForCertain;
}

// Where the host is the limit, other work on the GPU may save nothing: then it is not urgent. Any
// ops in a row are a chain there.
void lower_uncertain(std::vector<Finding>& findings, Nanos length) {
  const bool host_is_limit = std::ranges::any_of(findings, [](const Finding& f) {
    return f.kind == FindingKind::kHostBound && f.priority <= Priority::kHigh;
  });
  for (Finding& f : findings) {
    const bool is_uncertain =
        f.kind == FindingKind::kFusibleChain || f.kind == FindingKind::kDiscardedRows ||
        (host_is_limit && (replaces_work(f.kind) || f.kind == FindingKind::kExpensiveOp));
    if (!is_uncertain || !may_save_nothing(f, length) || f.priority >= Priority::kMedium) continue;
    f.priority_reason = fmt::format("{} by rule ({}); medium because it may save nothing",
                                    priority_name(f.priority), f.priority_reason);
    f.priority = Priority::kMedium;
  }
  by_urgency(findings);
}

// Of findings that are equally urgent.
void put_uncertain_chains_last(std::vector<Finding>& findings, Nanos length) {
  const auto is_uncertain = [length](const Finding& f) {
    return f.kind == FindingKind::kFusibleChain && may_save_nothing(f, length);
  };
  for (auto begin = findings.begin(); begin != findings.end();) {
    const auto end = std::find_if(begin, findings.end(),
                                  [&](const Finding& f) { return f.priority != begin->priority; });
    std::stable_partition(begin, end, [&](const Finding& f) { return !is_uncertain(f); });
    begin = end;
  }
}

// Behind what is as urgent: it names no cause.
void add_hot_line(const Assessment& a, std::vector<Finding>& findings) {
  std::optional<Finding> line = find_hot_line(a, findings);
  if (!line) return;
  const auto after = std::ranges::find_if(
      findings, [&](const Finding& f) { return f.priority > line->priority && f.under.empty(); });
  findings.insert(after, std::move(*line));
}

}  // namespace

std::vector<Finding> find_all(const Assessment& a, const CriticalPath* path) {
  using Analysis = std::vector<Finding> (*)(const Assessment&);
  // The only list of analyses.
  static constexpr Analysis kAnalyses[] = {
      analyses::idle_time,         analyses::exposed_communication, analyses::small_collectives,
      analyses::unfused_attention, analyses::fusible_chains,        analyses::tiny_products,
      analyses::image_layout,      analyses::low_efficiency,        analyses::short_kernels,
      analyses::recompute,         analyses::kernel_limits,         analyses::patterns,
      analyses::cpu_time,          analyses::repeated_reductions,
  };
  std::vector<Finding> all;
  for (Analysis analysis : kAnalyses) {
    for (Finding& finding : analysis(a)) all.push_back(std::move(finding));
  }
  std::optional<SavingRanges> ranges;
  if (path != nullptr && path->missing().empty()) ranges.emplace(a, *path);
  if (ranges) ranges->bound(all);
  for (Finding& finding : all) {
    cap_priority(a, finding);
    if (finding.places.empty()) find_places(a.places(), finding);
  }
  sort_runs(all, [](const Finding& x, const Finding& y) {
    return std::tuple(-x.saving_at_most.count, x.priority, x.subject) <
           std::tuple(-y.saving_at_most.count, y.priority, y.subject);
  });
  list_symptoms_under_causes(all);
  // A cause may be as urgent as its symptoms only where its own saving bears it.
  for (Finding& finding : all) cap_priority(a, finding);
  // The most urgent first; of those equally urgent, by what they may save.
  by_urgency(all);
  if (ranges) {
    ranges->widen(all);
    by_likely_saving(all);
  }
  spread_single_numbers(all);
  lower_uncertain(all, a.length());
  const bool has_steps = a.base().kind < TimeBaseKind::kRecording;
  put_waits_before_late_launches(all, has_steps ? a.base().steps.size() : 0, a.length());
  put_functions_before_late_launches(all);
  put_uncertain_chains_last(all, a.length());
  add_hot_line(a, all);
  return all;
}

}  // namespace fathom
