#include "analyze/pipeline.h"

#include <algorithm>
#include <optional>

#include "analyze/analyses.h"
#include "analyze/place.h"
#include "analyze/priority.h"
#include "analyze/saving_range.h"
#include "analyze/symptoms.h"
#include "base/sort_runs.h"

namespace fathom {

std::vector<Finding> find_all(const Assessment& a, const CriticalPath* path) {
  using Analysis = std::vector<Finding> (*)(const Assessment&);
  // The only list of analyses.
  static constexpr Analysis kAnalyses[] = {
      analyses::idle_time,
      analyses::exposed_communication,
      analyses::small_collectives,
      analyses::unfused_attention,
      analyses::fusible_chains,
      analyses::tiny_products,
      analyses::image_layout,
      analyses::low_efficiency,
      analyses::short_kernels,
      analyses::recompute,
      analyses::patterns,
      analyses::cpu_time,
      analyses::repeated_reductions,
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
  // The most urgent first; of those equally urgent, by what they save for certain.
  sort_runs(all, [](const Finding& x, const Finding& y) { return x.priority < y.priority; });
  const bool has_steps = a.base().kind < TimeBaseKind::kRecording;
  put_waits_before_late_launches(all, has_steps ? a.base().steps.size() : 0, a.length());
  if (ranges) ranges->widen(all);
  return all;
}

}  // namespace fathom
