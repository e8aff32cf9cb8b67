#include "analyze/path_bound.h"

#include <algorithm>

#include "analyze/critical/what_if.h"

namespace fathom {
namespace {

constexpr size_t kBounded = 20;
// The part of a finding's work that must be in the steps looked at for them to speak for it.
constexpr double kSeen = 0.8;

// What is gone once a finding is followed: faster kernels are still launched, work that is fused or
// dropped is not.
std::vector<EventId> saved_events(const SheetInput& input, const Finding& finding) {
  std::vector<EventId> events;
  for (const CoveredEvent& covered : finding.covered) {
    events.push_back(covered.event);
    if (finding.kind == FindingKind::kLowEfficiency || !input.tree.has_launches()) continue;
    const CallId op = input.tree.enclosing_op(input.tree.launch(covered.event));
    if (op.valid()) events.push_back(input.tree.event(op));
  }
  return events;
}

bool is_about_gpu_work(const EventStore& store, const Finding& finding) {
  return !finding.covered.empty() &&
         std::ranges::all_of(finding.covered, [&](const CoveredEvent& covered) {
           return covered.event.valid() && is_gpu_work(store.kind(covered.event));
         });
}

}  // namespace

void bound_savings(const SheetInput& input, const CriticalPath& path, Nanos length,
                   std::vector<Finding>& findings) {
  const CriticalGraph& graph = path.graph();
  if (graph.empty() || graph.length == 0) return;
  std::vector<Finding*> largest;
  for (Finding& f : findings)
    if (f.saving_at_most.count > 0 && is_about_gpu_work(input.store, f)) largest.push_back(&f);
  std::ranges::stable_sort(largest, std::greater{}, &Finding::saving_at_most);
  largest.resize(std::min(largest.size(), kBounded));
  if (largest.empty()) return;
  std::vector<bool> in_window(input.store.size());
  for (const EventId e : graph.event)
    if (e.valid()) in_window[e.index] = true;
  const double of_steps =
      graph.all_steps > 0 ? static_cast<double>(graph.steps) / static_cast<double>(graph.all_steps)
                          : 1;
  WhatIf asked(input, path);
  for (Finding* f : largest) {
    Nanos all, seen;
    for (const CoveredEvent& covered : f->covered) {
      all += covered.time;
      if (in_window[covered.event.index]) seen += covered.time;
    }
    if (ratio(seen, all) < kSeen * of_steps || asked.spent()) continue;
    const double most =
        ratio(asked.saving_if_removed(saved_events(input, *f)).at_most, {graph.length});
    const Nanos bound{static_cast<int64_t>(most * static_cast<double>(length.count))};
    f->saving_at_most = std::min(f->saving_at_most, bound);
    f->saving_at_least = std::min(f->saving_at_least, f->saving_at_most);
    for (Projection& projection : f->projections) projection.gain = std::min(projection.gain, most);
  }
}

}  // namespace fathom
