// Gradients that are reduced over the ranks for each micro-batch of a step.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/advice.h"
#include "analyze/analyses.h"
#include "analyze/finding_parts.h"
#include "analyze/priority.h"
#include "base/count_text.h"
#include "sheets/collectives.h"

namespace fathom::analyses {
namespace {

constexpr double kReductionNoticed = 0.01;  // of the wall time

// Collectives of one step between two passes of gradients.
struct Round {
  std::vector<const Collective*> collectives;
  std::vector<std::pair<StringId, int64_t>> sizes;  // sorted once the round is complete
};

// Times at which a gradient was added to one that was there: AccumulateGrad with an add_ inside.
std::vector<Nanos> accumulations(const SheetInput& input) {
  const EventStore& store = input.store;
  std::vector<Nanos> times;
  for (CallId c(0); c.index < input.tree.size(); ++c.index) {
    const EventId e = input.tree.event(c);
    if (store.kind(e) != EventKind::kCpuOp || store.name(e) != "aten::add_") continue;
    const CallId parent = input.tree.parent(c);
    if (!parent.valid()) continue;
    if (store.name(input.tree.event(parent)).ends_with("AccumulateGrad"))
      times.push_back(store.start(e));
  }
  std::ranges::sort(times);
  return times;
}

bool reduces_gradients(std::string_view name) {
  return name.find("allreduce") != std::string_view::npos ||
         name.find("all_reduce") != std::string_view::npos ||
         name.find("reduce_scatter") != std::string_view::npos;
}

}  // namespace

std::vector<Finding> repeated_reductions(const Assessment& a) {
  const SheetInput& input = a.input();
  const EventStore& store = input.store;
  const TimeBase& base = a.base();
  // Only steps tell where the optimizer's turn is.
  if (base.kind != TimeBaseKind::kSteps || store.collectives().empty()) return {};
  std::vector<const Collective*> calls;
  for (const Collective& c : store.collectives())
    if (store.kind(c.event) == EventKind::kCpuOp && reduces_gradients(store.text(c.name)))
      calls.push_back(&c);
  if (calls.empty()) return {};
  std::ranges::stable_sort(calls, {}, [&](const Collective* c) { return store.start(c->event); });
  const std::vector<Nanos> added = accumulations(input);
  Finding f;
  Nanos gpu, needless;
  size_t rounds_of_all = 0, repeated_steps = 0, next = 0, sum = 0;
  for (const BaseStep& step : base.steps) {
    const Nanos begin = store.start(step.annotation), end = store.end(step.annotation);
    std::vector<Round> rounds;
    for (; next < calls.size() && store.start(calls[next]->event) < end; ++next) {
      const Collective& c = *calls[next];
      const Nanos at = store.start(c.event);
      if (at < begin) continue;
      const Nanos before =
          rounds.empty() ? begin : store.start(rounds.back().collectives.back()->event);
      const auto between = std::ranges::lower_bound(added, before);
      if (rounds.empty() || (between != added.end() && *between < at)) rounds.emplace_back();
      rounds.back().collectives.push_back(&c);
      rounds.back().sizes.emplace_back(c.name, c.in_elements.value_or(0));
    }
    if (rounds.size() < 2) continue;
    for (Round& round : rounds) std::ranges::sort(round.sizes);
    // The same gradients again: the last round would have done.
    const auto is_last_again = [&](const Round& r) { return r.sizes == rounds.back().sizes; };
    if (!std::ranges::all_of(rounds, is_last_again)) continue;
    ++repeated_steps;
    rounds_of_all += rounds.size();
    for (size_t r = 0; r + 1 < rounds.size(); ++r) {
      for (const Collective* c : rounds[r].collectives) {
        ++sum;
        f.covered.push_back({c->event, store.duration(c->event)});
        needless += store.duration(c->event);
        const CallId call = input.tree.call(c->event);
        if (!call.valid()) continue;
        for (const EventId work : input.tree.launched_in_subtree(call)) {
          gpu += store.duration(work);
          f.covered.push_back({work, store.duration(work)});
        }
      }
    }
  }
  // A step or two of many may be the end of an accumulation.
  if (repeated_steps * 2 <= base.steps.size()) return {};
  f.kind = FindingKind::kRepeatedReduction;
  f.category = "communication";
  f.subject = "gradients";
  f.time = gpu;
  f.saving_at_least = {};
  f.saving_at_most = gpu + needless;
  if (ratio(f.saving_at_most, a.length()) < kReductionNoticed) return {};
  const size_t rounds = rounds_of_all / repeated_steps;
  f.title = fmt::format("Gradients are reduced {} times a step, once for each micro-batch", rounds);
  f.issue = fmt::format(
      "After a reduction, gradients are accumulated further and reduced again with the same sizes: "
      "{} of the collectives, {} on the GPU, would not be needed.",
      counted(sum, "call"), micros_text(gpu));
  f.share = ratio(f.saving_at_most, a.length());
  f.projections = {{"one reduction a step (upper bound)", Nanos{}, f.share}};
  advise(a, f, {});
  f.confidence = Confidence::kHigh;
  rate_part_of_whole(f);
  return {f};
}

}  // namespace fathom::analyses
