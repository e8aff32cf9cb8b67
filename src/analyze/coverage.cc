#include "analyze/coverage.h"

#include <algorithm>
#include <array>
#include <map>

namespace fathom {
namespace {

constexpr size_t kCoverageExamples = 3;

struct MissingTime {
  Nanos time;
  std::map<std::string_view, Nanos> names;
};

bool launches_a_graph(std::string_view name) {
  return name.find("GraphLaunch") != std::string_view::npos;
}

}  // namespace

NotAssessed not_assessed_reason(const Assessment& a, const AssessedOp& op) {
  const EventStore& store = a.input().store;
  const EventId event = op.group->first().event;
  const bool is_op = store.kind(event) == EventKind::kCpuOp;
  // A graph launch below an op of its own name, or with nothing around it.
  if (!is_op && launches_a_graph(store.name(event))) return NotAssessed::kGraphs;
  if (!a.input().tree.has_ops()) return NotAssessed::kNoOps;
  const bool launches_graph =
      is_op && std::ranges::any_of(op.group->first().kernels, [&](EventId kernel) {
        const CallId launch = a.input().tree.launch(kernel);
        return launch.valid() && launches_a_graph(store.name(a.input().tree.event(launch)));
      });
  if (launches_graph) return NotAssessed::kGraphs;
  if (a.platform() == nullptr && op.group->cost) return NotAssessed::kPlatform;
  const ArgsId args = store.args_id(event);
  const bool has_shapes = args.valid() && store.args(args).dims.valid();
  return is_op && !has_shapes ? NotAssessed::kNoShapes : NotAssessed::kUnknownOps;
}

std::string_view not_assessed_name(NotAssessed reason) {
  static constexpr std::array<std::string_view, static_cast<size_t>(NotAssessed::kCount)> kNames = {
      "platform", "graphs", "no_ops", "no_shapes", "unknown_ops", "unlinked"};
  return kNames[static_cast<size_t>(reason)];
}

Coverage measure_coverage(const Assessment& a) {
  const EventStore& store = a.input().store;
  std::array<MissingTime, static_cast<size_t>(NotAssessed::kCount)> missing;
  Nanos all, assessed;
  for (const AssessedOp& op : a.ops()) {
    if (op.category == "communication" || op.category == "memcpy") continue;
    all += op.group->gpu.sum;
    if (op.efficiency) {
      assessed += op.group->gpu.sum;
      continue;
    }
    MissingTime& part = missing[static_cast<size_t>(not_assessed_reason(a, op))];
    part.time += op.group->gpu.sum;
    part.names[op.group->key.name] += op.group->gpu.sum;
  }
  for (const EventId e : a.input().selection.unlinked()) {
    if (store.kind(e) != EventKind::kKernel || a.input().selection.is_communication(e)) continue;
    MissingTime& part = missing[static_cast<size_t>(NotAssessed::kUnlinked)];
    all += store.duration(e);
    part.time += store.duration(e);
    part.names[store.name(e)] += store.duration(e);
  }
  Coverage coverage;
  if (all.count <= 0) return {1, {}};
  coverage.assessed = ratio(assessed, all);
  for (size_t i = 0; i < missing.size(); ++i) {
    if (missing[i].time.count <= 0) continue;
    std::vector<std::pair<Nanos, std::string_view>> names;
    for (const auto& [name, time] : missing[i].names) names.emplace_back(time, name);
    const size_t shown = std::min(kCoverageExamples, names.size());
    std::ranges::partial_sort(names, names.begin() + static_cast<std::ptrdiff_t>(shown),
                              [](const auto& x, const auto& y) {
                                return std::tuple(y.first, x.second) <
                                       std::tuple(x.first, y.second);
                              });
    Coverage::Gap gap{static_cast<NotAssessed>(i), ratio(missing[i].time, all), {}};
    for (size_t n = 0; n < shown; ++n) gap.examples.emplace_back(names[n].second);
    coverage.gaps.push_back(std::move(gap));
  }
  std::ranges::stable_sort(coverage.gaps, std::greater<>(), &Coverage::Gap::share);
  return coverage;
}

}  // namespace fathom
