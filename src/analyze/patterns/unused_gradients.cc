// A backward pass that goes on into parameters that no optimizer updates.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/finding_parts.h"
#include "analyze/patterns/backward_passes.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "analyze/place.h"
#include "base/count_text.h"

namespace fathom::patterns {
namespace {

using Shape = std::vector<int64_t>;

struct Accumulated {
  Shape shape;
  TrackId track;
  size_t step = 0;
  size_t pass = 0;  // of backward(): each parameter gets one gradient in it
  Nanos begin, end;
  EventId node;
  bool adds = false;  // to a gradient that was there
};

bool calls_add(const PatternInput& in, CallId call) {
  for (CallId c(call.index + 1); c < in.tree().subtree_end(call); ++c.index)
    if (in.store().name(in.tree().event(c)) == "aten::add_") return true;
  return false;
}

// From the first to the last op that is assessed: a start-up's gradients have no updates here.
std::pair<Nanos, Nanos> assessed_window(const PatternInput& in) {
  std::pair<Nanos, Nanos> window{{INT64_MAX}, {INT64_MIN}};
  for (const AssessedCall& call : in.calls()) {
    window.first = std::min(window.first, in.store().start(call.op->event));
    window.second = std::max(window.second, in.store().end(call.op->event));
  }
  return window;
}

std::vector<Accumulated> find_accumulated(const PatternInput& in) {
  std::vector<Accumulated> found;
  const EventStore& store = in.store();
  const auto [begin, end] = assessed_window(in);
  const BackwardPasses passes(in);
  for (CallId c(0); c.index < in.tree().size(); ++c.index) {
    const EventId e = in.tree().event(c);
    if (store.name(e) != "torch::autograd::AccumulateGrad") continue;
    if (store.start(e) < begin || store.start(e) > end) continue;
    const auto args = read_op_args(store, store.args_id(e));
    if (!args || args->inputs.empty() || !args->inputs[0].is_tensor()) continue;
    const CallId node = in.tree().parent(c);
    const size_t pass = node.valid() ? passes.of(in.tree().event(node)) : 0;
    found.push_back({args->inputs[0].shape.dims, store.track_id(e), in.step_of(store.start(e)),
                     pass, store.start(e), store.end(e), node.valid() ? in.tree().event(node) : e,
                     calls_add(in, c)});
  }
  return found;
}

// Parameters of each shape that optimizers update. One update takes several ops on the same
// parameters: of each shape the op with the most counts. None where an update has no shapes: it may
// be of any parameter.
struct Updates {
  std::map<Shape, size_t> counts;
  std::map<Shape, std::vector<Nanos>> times;
};

std::optional<Updates> find_updated(const PatternInput& in) {
  std::map<std::string_view, std::map<Shape, size_t>> by_op;
  Updates updated;
  for (const AssessedCall& call : in.calls()) {
    const std::string_view name = call.assessed->group->key.name;
    if (name == "aten::_foreach_zero_" || name == "aten::_foreach_norm") continue;
    const OpView& view = in.view(call);
    const bool is_kernel = name.find("->") != std::string_view::npos;  // of an op that is there too
    const bool updates = view.has(Role::kFusedUpdate) ||
                         (view.has(Role::kUpdate) && name.ends_with('_')) ||
                         name.starts_with("aten::_foreach_");
    if (!updates || is_kernel) continue;
    // A backward pass adds to gradients in place, too.
    if (in.any_around(call.op->event, "autograd::engine::evaluate_function*")) continue;
    if (view.args.inputs.empty()) return {};
    std::map<Shape, size_t>& counts = by_op[name];
    const ArgValue& first = view.args.inputs[0];
    if (first.list.empty() && first.type == "TensorList") return {};
    const Nanos when = in.store().start(call.op->event);
    const auto add = [&](const Shape& shape) {
      ++counts[shape];
      updated.times[shape].push_back(when);
    };
    if (first.is_tensor()) add(first.shape.dims);
    for (const ArgValue::Shape& shape : first.list) add(shape.dims);
  }
  for (auto& [shape, times] : updated.times) std::ranges::sort(times);
  for (const auto& [op, counts] : by_op)
    for (const auto& [shape, count] : counts)
      updated.counts[shape] = std::max(updated.counts[shape], count);
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

// What becomes of the gradients of a shape, where that is the same for all of them.
enum class GradientUse : uint8_t { kUnclear, kUsed, kUnused };

// By gradient. One is not used where no update is of its shape, or where the next gradient of its
// shape is written and not added before an update: it was dropped.
std::vector<GradientUse> find_uses(const std::vector<Accumulated>& accumulated,
                                   const Updates& updates) {
  std::map<Shape, std::vector<size_t>> by_shape;
  for (size_t i = 0; i < accumulated.size(); ++i) by_shape[accumulated[i].shape].push_back(i);
  std::vector<GradientUse> uses(accumulated.size(), GradientUse::kUsed);
  for (const auto& [shape, places] : by_shape) {
    const auto updated = updates.times.find(shape);
    if (updated == updates.times.end()) {
      for (const size_t i : places) uses[i] = GradientUse::kUnused;
      continue;
    }
    // Within one pass gradients that are added and ones that are written: of different models.
    std::map<size_t, std::pair<bool, bool>> of_pass;  // pass: any added, any written
    std::map<size_t, Nanos> begins;
    for (const size_t i : places) {
      auto& [added, written] = of_pass[accumulated[i].pass];
      (accumulated[i].adds ? added : written) = true;
      begins.try_emplace(accumulated[i].pass, accumulated[i].begin);
    }
    std::vector<Nanos> writing;  // passes that only write, by when they begin to
    for (const auto& [pass, begin] : begins)
      if (!of_pass[pass].first) writing.push_back(begin);
    std::ranges::sort(writing);
    for (const size_t i : places) {
      const auto& [added, written] = of_pass[accumulated[i].pass];
      const auto update = std::ranges::upper_bound(updated->second, accumulated[i].end);
      const auto later = std::ranges::upper_bound(writing, accumulated[i].end);
      const bool dropped =
          later != writing.end() && (update == updated->second.end() || *later < *update);
      uses[i] = added && written ? GradientUse::kUnclear
                : dropped        ? GradientUse::kUnused
                                 : GradientUse::kUsed;
    }
  }
  return uses;
}

// Modules whose parameters get gradients of which none is used, by pass. A parameter belongs to the
// module of the forward op whose node ran before its gradient was accumulated.
class UnusedModules {
 public:
  UnusedModules(const PatternInput& in, const std::vector<Accumulated>& accumulated,
                const std::vector<GradientUse>& uses)
      : in_(in), passes_(in) {
    std::map<TrackId, std::vector<std::pair<Nanos, EventId>>> nodes;
    for (CallId c(0); c.index < in.tree().size(); ++c.index) {
      const EventId e = in.tree().event(c);
      const std::string_view name = in.store().name(e);
      if (name.starts_with(kNodePrefix) && !name.ends_with("AccumulateGrad"))
        nodes[in.store().track_id(e)].emplace_back(in.store().start(e), e);
    }
    for (auto& [track, of_track] : nodes) std::ranges::sort(of_track);
    for (size_t i = 0; i < accumulated.size(); ++i) {
      const auto& of_track = nodes[accumulated[i].track];
      const auto after = std::ranges::lower_bound(of_track, accumulated[i].begin, {},
                                                  [](const auto& node) { return node.first; });
      if (after == of_track.begin()) continue;
      const EventId module = in.assessment().places().of(std::prev(after)->second).module;
      for_each_module(module, [&](StringId name, EventId frame) {
        Count& count = counts_[{accumulated[i].pass, name}];
        ++(uses[i] == GradientUse::kUnused ? count.unused
           : uses[i] == GradientUse::kUsed ? count.used
                                           : count.unclear);
        count.frame = frame;
        return true;
      });
    }
  }

  // Of work of a backward pass: the outermost such module that it is in; invalid: none.
  EventId around(const AssessedCall& call) const {
    const PlaceIds ids = in_.assessment().places().of(call.op->event);
    if (!ids.gradient || !ids.module.valid()) return {};
    EventId node;
    constexpr int kCalls = 64;
    CallId c = in_.tree().call(call.op->event);
    for (int i = 0; i < kCalls && c.valid(); ++i, c = in_.tree().parent(c))
      if (in_.store().name(in_.tree().event(c)).starts_with(kNodePrefix))
        node = in_.tree().event(c);
    const size_t pass = node.valid() ? passes_.of(node) : 0;
    EventId outermost;
    for_each_module(ids.module, [&](StringId name, EventId frame) {
      const auto found = counts_.find({pass, name});
      if (found == counts_.end()) return true;  // without parameters: those around it tell
      const Count& count = found->second;
      if (count.used > 0 || count.unused == 0) return false;
      outermost = frame;
      return true;
    });
    return outermost;
  }

 private:
  static constexpr std::string_view kNodePrefix = "autograd::engine::evaluate_function: ";
  struct Count {
    size_t used = 0, unused = 0, unclear = 0;
    EventId frame;
  };

  // From the innermost outwards, while `take` wants more.
  template <typename Take>
  void for_each_module(EventId module, Take take) const {
    constexpr size_t kFrames = 256;
    size_t walked = 0;
    for (EventId at = module; at.valid() && walked < kFrames;
         at = in_.tree().parent_frame(at), ++walked) {
      if (!in_.store().name(at).starts_with("nn.Module: ")) continue;
      if (!take(in_.store().name_id(at), at)) return;
    }
  }

  const PatternInput& in_;
  BackwardPasses passes_;
  std::map<std::pair<size_t, StringId>, Count> counts_;  // by pass and module
};

// A model, or a part of one, that gets gradients nobody uses, wherever it is in the graph.
std::optional<Finding> unused_model(const PatternInput& in,
                                    const std::vector<Accumulated>& accumulated,
                                    const Updates& updates) {
  // Of each layer's gradients, those of its weights are for nobody; those of its input may be
  // handed on to something that is trained.
  constexpr double kOfWeights = 0.5;
  const std::vector<GradientUse> uses = find_uses(accumulated, updates);
  const auto unused = static_cast<size_t>(std::ranges::count(uses, GradientUse::kUnused));
  const bool any_used = std::ranges::find(uses, GradientUse::kUsed) != uses.end();
  if (unused == 0 || !any_used) return {};
  const UnusedModules modules(in, accumulated, uses);
  MatchedCalls found;
  EventId module;
  for (const AssessedCall& call : in.calls()) {
    const EventId around = modules.around(call);
    if (!around.valid()) continue;
    if (!module.valid()) module = around;
    found.add(call);
  }
  const double most = found.counted() + found.waited();
  if (found.empty() || !is_noticeable(in, most)) return {};
  PatternText text{
      FindingKind::kUnusedGradients,
      std::string(ops_by_time(found.calls()).front()->group->key.name),
      "The backward pass goes through a model whose gradients nobody uses",
      fmt::format(
          "{} get a gradient that no update reads: none has their sizes, or the gradient is "
          "dropped before. Their part of the backward pass takes {}.",
          per_step(in, unused, "parameter", "parameters"),
          micros_text(nanos_from(found.seconds()))),
      Confidence::kMedium};
  Finding f = pattern_finding(in, std::move(text), found,
                              {kOfWeights * found.counted(), most, "no gradients of its weights",
                               "no backward pass through it at all"},
                              Traits{"whole_model"});
  // no_grad() goes around the call of the model.
  put_first(in, f, in.tree().parent_frame(module));
  return f;
}

}  // namespace

std::vector<Finding> unused_gradients(const PatternInput& in) {
  constexpr size_t kSeveral = 4;  // parameters of a step
  if (!in.has_backward()) return {};
  const std::vector<Accumulated> accumulated = find_accumulated(in);
  if (accumulated.empty()) return {};
  const auto updates = find_updated(in);
  if (!updates) return {};
  if (auto model = unused_model(in, accumulated, *updates)) return {std::move(*model)};
  const UsedGradients used = find_used(accumulated, updates->counts);
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
