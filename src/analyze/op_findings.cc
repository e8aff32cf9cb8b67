// Findings about single ops: how far they are from the limit, and what shapes and layouts cost.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analyze/advice.h"
#include "analyze/analyses.h"
#include "analyze/finding_parts.h"
#include "analyze/priority.h"
#include "base/count_text.h"
#include "tree/steps.h"

namespace fathom::analyses {
namespace {

constexpr double kExcellent = 0.8, kMostly = 0.5, kFarBelow = 0.3;
constexpr size_t kEvidenceShown = 3;

// Calls of one op name, of any shapes, that are below the best band.
struct SlowOp {
  std::vector<const AssessedOp*> groups;
  double seconds = 0, limit_seconds = 0, counted_seconds = 0, compute_bound_seconds = 0;
  double category_share = 0;
  double usual_seconds = 0;  // that good libraries take for it, where that is known of all of it
  bool all_usual = true, estimated = false;
  size_t calls = 0;

  void add(const AssessedOp& op, Nanos shortest) {
    const double measured = static_cast<double>(op.group->gpu.sum.count) / 1e9;
    const double floor = static_cast<double>(shortest.count) / 1e9;
    groups.push_back(&op);
    seconds += measured;
    // No call takes less than the shortest kernel does, nor less than good libraries at its size.
    const double attainable = std::max({op.bound->seconds(), floor, op.usual_seconds.value_or(0)});
    limit_seconds += std::min(measured, attainable * static_cast<double>(op.group->gpu.count));
    usual_seconds += op.usual_seconds.value_or(0) * static_cast<double>(op.group->gpu.count);
    all_usual = all_usual && op.usual_seconds;
    estimated = estimated || op.usual_is_estimated;
    counted_seconds += measured * op.counted;
    if (op.bound->is_compute()) compute_bound_seconds += measured;
    category_share += op.category_share;
    calls += op.group->gpu.count;
  }
  double efficiency() const {
    double bound = 0;
    for (const AssessedOp* op : groups) {
      bound += op->bound->seconds() * static_cast<double>(op->group->gpu.count);
    }
    return bound / seconds;
  }
};

Finding describe_slow_op(const Assessment& a, OpTraits& traits, std::string_view name,
                         const SlowOp& slow) {
  const AssessedOp& first = *slow.groups.front();
  const std::string_view bound =
      slow.compute_bound_seconds * 2 > slow.seconds ? "compute" : "memory";
  const double efficiency = slow.efficiency();
  Finding f;
  f.kind = FindingKind::kLowEfficiency;
  f.category = first.category;
  f.subject = name;
  f.time = nanos_from(slow.seconds);
  f.title = fmt::format("{} runs at {} of achievable", name, percent_text(efficiency));
  f.issue = fmt::format("{} {} {}; the {} limit allows {}.", slow.calls,
                        noun(slow.calls, "call takes", "calls take"), micros_text(f.time), bound,
                        micros_text(nanos_from(slow.seconds * efficiency)));
  Advice advice = advice_for({first.category, name, bound, a.vendor(), traits.of(slow.groups)});
  f.change_code = std::move(advice.change_code);
  f.improve_kernel = std::move(advice.improve_kernel);
  if (name.find("::") != std::string_view::npos) {
    f.improve_kernel += " `fathom replay pack` writes a reproducer.";
  }
  f.counters = std::move(advice.counters);
  project_to_limit(a, f, slow.limit_seconds / slow.seconds, slow.counted_seconds / slow.seconds);
  if (slow.limit_seconds > 1.01 * efficiency * slow.seconds) {
    f.projections.back().target =
        slow.all_usual && slow.usual_seconds > slow.seconds * efficiency
            ? std::string("what libraries usually reach at these sizes")
            : fmt::format("achievable, with no call under {}", micros_text(a.shortest_kernel()));
  }
  if (slow.all_usual && slow.usual_seconds > 0) {
    f.notes.push_back(
        {fmt::format("Vendor libraries usually take {} for these sizes ({}).",
                     micros_text(nanos_from(slow.usual_seconds)),
                     slow.estimated ? "measured on an H200, scaled to this GPU: estimated"
                                    : "measured on an H200"),
         {},
         {}});
  }
  f.efficiency = efficiency;
  f.confidence = Confidence::kHigh;
  const double call_seconds = slow.seconds / static_cast<double>(slow.calls);
  if (call_seconds * 1e9 < 3 * static_cast<double>(a.shortest_kernel().count)) {
    f.notes.push_back(
        {fmt::format(
             "A call takes {} on average, and the shortest kernels of this trace take {}: the work "
             "is "
             "too small to fill the GPU, and fewer, larger calls help more than a faster kernel.",
             micros_text(nanos_from(call_seconds)), micros_text(a.shortest_kernel())),
         {},
         {}});
    f.confidence = Confidence::kMedium;
  }
  if (slow.counted_seconds < 0.9 * slow.seconds) {
    f.notes.push_back({fmt::format("Only {} of its time is counted: for the rest, the GPU would "
                                   "still wait for the host or for "
                                   "communication.",
                                   percent_text(slow.counted_seconds / slow.seconds)),
                       {},
                       {}});
  }
  rate_op(f, first.is_top, efficiency, slow.category_share);
  // A library's kernel may be as fast as it gets at this shape: usual rates are by size alone.
  const bool by_library = first.category == "gemm" || first.category == "convolution";
  if (by_library && efficiency >= kFarBelow) rate_library_op(f);
  for (size_t i = 0; i < std::min(slow.groups.size(), kEvidenceShown); ++i) {
    f.evidence.push_back(evidence_of(a, *slow.groups[i]));
  }
  f.call_stack = call_stack_of(a.input(), first.group->first().event);
  cover(a, f, slow.groups);
  return f;
}

}  // namespace

std::vector<Finding> low_efficiency(const Assessment& a) {
  std::map<std::string_view, SlowOp> slow;
  for (const AssessedOp& op : a.ops()) {
    if (!op.efficiency || *op.efficiency >= kExcellent) continue;
    // As fast as such work is elsewhere: a better kernel is not to be had.
    if (is_at_usual_rate(op)) continue;
    // Told as a run of ops that could be one, once.
    if (op.in_runs > kMostly || op.in_setup > kMostly) continue;
    slow[op.group->key.name].add(op, a.shortest_kernel());
  }
  std::vector<Finding> findings;
  OpTraits traits(a);
  for (const auto& [name, op] : slow) {
    if (op.seconds > 0) findings.push_back(describe_slow_op(a, traits, name, op));
  }
  return findings;
}

std::vector<Finding> image_layout(const Assessment& a) {
  const EventStore& store = a.input().store;
  Nanos time;
  double counted = 0;
  size_t calls = 0;
  const AssessedOp* example = nullptr;
  std::vector<CoveredEvent> covered;
  for (const AssessedOp& op : a.ops()) {
    if (op.category != "convolution") continue;
    Nanos converting;
    for (const UnifiedOp* call : op.group->calls) {
      bool any = false;
      for (EventId kernel : call->kernels) {
        const std::string_view name = store.name(kernel);
        const bool converts = name.find("nchwToNhwc") != std::string_view::npos ||
                              name.find("nhwcToNchw") != std::string_view::npos ||
                              name.find("batched_transpose") != std::string_view::npos;
        if (!converts) continue;
        any = true;
        converting += store.duration(kernel);
        covered.push_back({kernel, store.duration(kernel)});
      }
      calls += any;
    }
    if (converting.count == 0) continue;
    time += converting;
    counted += static_cast<double>(converting.count) * op.counted;
    if (example == nullptr) example = &op;
  }
  if (example == nullptr) return {};
  // What enters and leaves the model is converted all the same, once in each step.
  Nanos longest;
  for (const CoveredEvent& event : covered) longest = std::max(longest, event.time);
  const size_t steps = std::max<size_t>(1, Steps(store, kProfilerSteps).all().size());
  const double kept = 2 * seconds_of(longest) * static_cast<double>(steps);
  Finding f;
  f.kind = FindingKind::kImageLayout;
  f.category = "convolution";
  f.subject = example->group->key.name;
  f.time = time;
  f.title = "Convolutions convert between NCHW and NHWC";
  f.issue = fmt::format("{} {} transposing kernels for {} beside the convolution itself.", calls,
                        noun(calls, "call runs", "calls run"), micros_text(time));
  advise(a, f, OpTraits(a).of(std::array{example}));
  f.confidence = Confidence::kHigh;
  rate_pattern(f, example->is_top);
  project_replacement(a, f, {static_cast<double>(time.count) / 1e9, counted / 1e9, 0, 0});
  f.saving_at_least = nanos_from(std::max(0.0, seconds_of(f.saving_at_most) - kept));
  f.projections.front() = {"input and output of the model still converted",
                           f.time - f.saving_at_least, ratio(f.saving_at_least, a.length())};
  f.projections.back().target = "no conversions";
  f.evidence.push_back(evidence_of(a, *example));
  f.call_stack = call_stack_of(a.input(), example->group->first().event);
  f.covered = std::move(covered);
  return {f};
}

}  // namespace fathom::analyses
