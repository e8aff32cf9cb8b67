// A backward pass that goes on into parameters that no optimizer updates.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/finding_parts.h"
#include "analyze/patterns/backward_passes.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "base/count_text.h"

namespace fathom::patterns {
namespace {

using Shape = std::vector<int64_t>;

struct Accumulated {
  Shape shape;
  TrackId track;
  size_t step = 0;
  size_t pass = 0;  // of backward(): each parameter gets one gradient in it
  Nanos end;
};

std::vector<Accumulated> find_accumulated(const PatternInput& in) {
  std::vector<Accumulated> found;
  const EventStore& store = in.store();
  const BackwardPasses passes(in);
  for (CallId c(0); c.index < in.tree().size(); ++c.index) {
    const EventId e = in.tree().event(c);
    if (store.name(e) != "torch::autograd::AccumulateGrad") continue;
    const auto args = read_op_args(store, store.args_id(e));
    if (!args || args->inputs.empty() || !args->inputs[0].is_tensor()) continue;
    const CallId node = in.tree().parent(c);
    const size_t pass = node.valid() ? passes.of(in.tree().event(node)) : 0;
    found.push_back({args->inputs[0].shape.dims, store.track_id(e), in.step_of(store.start(e)),
                     pass, store.end(e)});
  }
  return found;
}

// Parameters of each shape that optimizers update. One update takes several ops on the same
// parameters: of each shape the op with the most counts.
std::map<Shape, size_t> find_updated(const PatternInput& in) {
  std::map<std::string_view, std::map<Shape, size_t>> by_op;
  for (const AssessedCall& call : in.calls()) {
    const std::string_view name = call.assessed->group->key.name;
    if (name == "aten::_foreach_zero_" || name == "aten::_foreach_norm") continue;
    const OpView& view = in.view(call);
    const bool updates = view.has(Role::kFusedUpdate) || view.has(Role::kUpdate) ||
                         name.starts_with("aten::_foreach_");
    if (!updates || view.args.inputs.empty()) continue;
    std::map<Shape, size_t>& counts = by_op[name];
    const ArgValue& first = view.args.inputs[0];
    if (first.is_tensor()) ++counts[first.shape.dims];
    for (const ArgValue::Shape& shape : first.list) ++counts[shape.dims];
  }
  std::map<Shape, size_t> updated;
  for (const auto& [op, counts] : by_op)
    for (const auto& [shape, count] : counts) updated[shape] = std::max(updated[shape], count);
  return updated;
}

// How often each shape gets a gradient that is used, where some shapes get more than that.
struct UsedGradients {
  std::map<Shape, size_t> most;  // in all; shapes that are not there get none
  bool has_certain = false;      // a matrix all of whose gradients are used
  size_t unused = 0;
};

UsedGradients find_used(const std::vector<Accumulated>& accumulated,
                        const std::map<Shape, size_t>& updated) {
  std::map<Shape, std::map<size_t, size_t>> by_pass;
  std::map<Shape, size_t> counts;
  for (const Accumulated& gradient : accumulated) {
    ++by_pass[gradient.shape][gradient.pass];
    ++counts[gradient.shape];
  }
  // Backward passes before an update; of the parameters that are in the fewest of them.
  size_t rounds = SIZE_MAX, passes = 1;
  for (const auto& [shape, count] : counts) {
    const auto found = updated.find(shape);
    if (found == updated.end() || count / found->second >= rounds) continue;
    rounds = count / found->second;
    passes = by_pass[shape].size();
  }
  UsedGradients used;
  if (rounds == 0 || rounds == SIZE_MAX) return used;
  for (const auto& [shape, count] : counts) {
    const auto found = updated.find(shape);
    // More gradients than updates are unused only within one pass: several passes add them up.
    const size_t of_pass =
        found != updated.end() ? (rounds * found->second + passes - 1) / passes : 0;
    size_t needed = 0;
    for (const auto& [pass, in_pass] : by_pass[shape]) needed += std::min(in_pass, of_pass);
    if (needed > 0) used.most[shape] = needed;
    used.has_certain = used.has_certain || (needed == count && shape.size() > 1);
    used.unused += count - std::min(count, needed);
  }
  return used;
}

// By thread and step, when the last gradient that is used was there. Of a shape of which some are
// used, the first: a backward pass begins at the end of the model.
std::map<std::pair<TrackId, size_t>, Nanos> find_ends(const PatternInput& in,
                                                      const std::vector<Accumulated>& accumulated,
                                                      const UsedGradients& used) {
  std::map<std::pair<TrackId, size_t>, Nanos> ends;
  std::map<std::pair<size_t, Shape>, size_t> seen;
  for (const Accumulated& gradient : accumulated) {
    const auto most = used.most.find(gradient.shape);
    if (most == used.most.end()) continue;
    const size_t of_step = (most->second + in.steps() - 1) / in.steps();
    if (++seen[{gradient.step, gradient.shape}] > of_step) continue;
    Nanos& end = ends[{gradient.track, gradient.step}];
    end = std::max(end, gradient.end);
  }
  return ends;
}

}  // namespace

std::vector<Finding> unused_gradients(const PatternInput& in) {
  constexpr size_t kSeveral = 4;  // parameters of a step
  if (!in.has_backward()) return {};
  const std::vector<Accumulated> accumulated = find_accumulated(in);
  if (accumulated.empty()) return {};
  const UsedGradients used = find_used(accumulated, find_updated(in));
  if (!used.has_certain || used.unused < kSeveral * in.steps()) return {};
  const auto ends = find_ends(in, accumulated, used);
  MatchedCalls found;
  for (const AssessedCall& call : in.calls()) {
    const EventId event = call.op->event;
    const auto end = ends.find({in.store().track_id(event), in.step_of(call)});
    if (end == ends.end() || in.store().start(event) < end->second) continue;
    if (!in.any_around(event, "autograd::engine::evaluate_function*")) continue;
    found.add(call);
  }
  const double most = found.counted() + found.waited();
  if (found.empty() || !is_noticeable(in, most)) return {};
  PatternText text{
      FindingKind::kUnusedGradients,
      std::string(ops_by_time(found.calls()).front()->group->key.name),
      "The backward pass computes gradients that no optimizer uses",
      fmt::format("{} get a gradient that no update reads, by their sizes. The part of "
                  "the backward pass after the last gradient that is used takes {}.",
                  per_step(in, used.unused, "parameter", "parameters"),
                  micros_text(nanos_from(found.seconds()))),
      Confidence::kMedium};
  return {pattern_finding(in, std::move(text), found,
                          {found.counted(), most, "a backward pass of the trained part",
                           "the same, without the idle time before the launches"})};
}

}  // namespace fathom::patterns
