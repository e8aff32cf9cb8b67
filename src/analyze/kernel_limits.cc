// What counters confirm of kernels, as findings: the trace says what ran, the hardware why it took
// as long.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analyze/analyses.h"
#include "analyze/finding_parts.h"
#include "analyze/priority.h"
#include "base/count_text.h"
#include "base/utf8.h"
#include "sheets/kernel_contexts.h"

namespace fathom {
namespace {

constexpr double kWorthAFinding = 0.01;  // of the wall time

// Whose kernels only the vendor can change.
constexpr std::string_view kClosedLibraries[] = {"nvjet", "cublas", "cudnn", "tensile"};

using Groups = std::unordered_map<KernelLaunch, LaunchGroup, KernelLaunchHash>;

// A confirmed hypothesis with the kernels that it costs most time, the most first.
struct SharedLimit {
  const Hypothesis* hypothesis = nullptr;
  std::vector<const ConfirmedLimit*> kernels;
};

// A unit at its limit is no fault: less work for it is another program. What the GPU waits for
// before a kernel, and collectives, are findings of the timeline.
bool is_told(const ConfirmedLimit& limit) {
  const TestedHypothesis& tested = *limit.tested;
  if (!tested.best || !tested.explained_by.empty() || !tested.hypothesis->range.empty())
    return false;
  return limit.kernel->is_trusted && explains_kernel(*limit.kernel, tested) &&
         micros_before(*tested.hypothesis, limit.kernel->values) <= 0;
}

std::vector<SharedLimit> group_limits(const std::vector<ConfirmedLimit>& confirmed) {
  std::vector<SharedLimit> limits;
  std::unordered_set<const KernelContext*> seen;
  for (const ConfirmedLimit& limit : confirmed) {
    // Of a kernel the one that costs most.
    if (!is_told(limit) || !seen.insert(limit.kernel).second) continue;
    auto place = std::ranges::find(limits, limit.tested->hypothesis, &SharedLimit::hypothesis);
    if (place == limits.end()) place = limits.insert(place, {limit.tested->hypothesis, {}});
    place->kernels.push_back(&limit);
  }
  return limits;
}

std::string dims_text(const std::optional<Dim3>& dims) {
  return dims ? fmt::format("{}×{}×{}", dims->x, dims->y, dims->z) : std::string("unknown");
}

EvidenceOp evidence_of_kernel(const KernelContext& kernel) {
  EvidenceOp evidence;
  evidence.op = kernel.name;
  evidence.shapes = fmt::format("grid {}, block {}", dims_text(kernel.launch.grid),
                                dims_text(kernel.launch.block));
  evidence.calls = static_cast<size_t>(kernel.count);
  evidence.time = kernel.time;
  evidence.kernels = {kernel.name};
  if (!kernel.source.empty()) evidence.sources = {kernel.source};
  return evidence;
}

Finding finding_of(const Assessment& a, const SharedLimit& limit, const Groups& groups) {
  constexpr size_t kNameBytes = 60, kKernelsTold = 5;
  const KernelContext& first = *limit.kernels.front()->kernel;
  const Hypothesis& hypothesis = *limit.hypothesis;
  Finding f;
  f.kind = FindingKind::kKernelLimit;
  f.subject = cut_to_bytes(first.name, kNameBytes);
  f.category = first.traits.category;
  f.title = fmt::format("{}: {}", f.subject, hypothesis.title);
  if (const size_t others = limit.kernels.size() - 1; others > 0)
    f.title += fmt::format(" (and {})", counted(others, "other kernel"));
  double least = 0, most = 0;
  size_t runs = 0;
  for (const ConfirmedLimit* confirmed : limit.kernels) {
    const KernelContext& kernel = *confirmed->kernel;
    const double time = kernel.told_share * seconds_of(kernel.time);
    f.time += nanos_from(time);
    least += time * (1 - 1 / *confirmed->tested->least_gain());
    most += time * (1 - *confirmed->tested->best);
    runs += static_cast<size_t>(kernel.count);
    if (f.evidence.size() < kKernelsTold) f.evidence.push_back(evidence_of_kernel(kernel));
    for (const EventId event : groups.at(kernel.launch).events)
      f.covered.push_back(
          {event, nanos_from(kernel.told_share * seconds_of(a.input().store.duration(event)))});
  }
  f.share = std::min(1.0, ratio(f.time, a.length()));  // streams overlap
  f.issue = fmt::format("{} in {} of {}. Counters: {}.", micros_text(f.time), counted(runs, "run"),
                        counted(limit.kernels.size(), "kernel"), evidence_text(first, hypothesis));
  f.improve_kernel = hypothesis.fix;
  f.saving_at_least = nanos_from(least);
  f.saving_at_most = nanos_from(most);
  f.projections = {{"half of what its removal can save", f.time - f.saving_at_least,
                    ratio(f.saving_at_least, a.length())},
                   {"without it, at the limit of the busiest unit", f.time - f.saving_at_most,
                    ratio(f.saving_at_most, a.length())}};
  f.confidence = Confidence::kHigh;
  f.call_stack = call_stack_of(a.input(), first.first);
  rate_part_of_whole(f);
  if (std::ranges::find(kClosedLibraries, first.traits.library) != std::end(kClosedLibraries))
    rate_library_op(f);
  return f;
}

}  // namespace

namespace analyses {

std::vector<Finding> kernel_limits(const Assessment& a) {
  const std::vector<KernelContext> kernels =
      kernel_contexts(a.input(), a.platform(), kMostContexts);
  if (kernels.empty() || a.length().count <= 0) return {};
  Groups groups;
  for (LaunchGroup& group : group_launches(a.input()))
    groups.emplace(group.launch, std::move(group));
  const std::vector<ConfirmedLimit> confirmed = find_bottlenecks(kernels);
  std::vector<Finding> found;
  for (const SharedLimit& limit : group_limits(confirmed)) {
    Finding f = finding_of(a, limit, groups);
    if (ratio(f.saving_at_most, a.length()) >= kWorthAFinding) found.push_back(std::move(f));
  }
  return found;
}

}  // namespace analyses
}  // namespace fathom
