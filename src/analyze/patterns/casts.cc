// Casts that a program could do without: undone, repeated, or for ops that sum in FP32 anyway.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "base/count_text.h"
#include "tree/steps.h"

namespace fathom::patterns {
namespace {

struct Cast {
  size_t place;  // in calls()
  std::string_view from, to;
  const std::vector<int64_t>* dims;
};

// copy_(to, from) of one shape and two types.
std::optional<Cast> cast_at(const PatternInput& in, size_t place) {
  const AssessedCall& call = in.calls()[place];
  if (!in.has(call, Role::kCopy)) return {};
  const ArgValue *to = in.view(call).tensor(0), *from = in.view(call).tensor(1);
  if (to == nullptr || from == nullptr || to->type == from->type) return {};
  if (to->shape.dims != from->shape.dims) return {};
  if (find_element_type(to->type) == nullptr || find_element_type(from->type) == nullptr) return {};
  return Cast{place, from->type, to->type, &to->shape.dims};
}

// The next product that reads a matrix of these sizes: then the cast is of a weight.
std::optional<size_t> feeds_product(const PatternInput& in, const Cast& cast) {
  constexpr size_t kNext = 4;
  if (cast.dims->size() != 2) return {};
  const std::vector<int64_t>& dims = *cast.dims;
  for (size_t i = cast.place + 1; i < std::min(in.calls().size(), cast.place + 1 + kNext); ++i) {
    const AssessedCall& call = in.calls()[i];
    if (call.assessed->category != "gemm") continue;
    for (const ArgValue& value : in.view(call).args.inputs) {
      if (value.type != cast.to || value.shape.dims.size() != 2) continue;
      const int64_t rows = value.shape.dims[0], columns = value.shape.dims[1];
      if ((rows == dims[0] && columns == dims[1]) || (rows == dims[1] && columns == dims[0])) {
        return i;
      }
    }
  }
  return {};
}

// Sizes of tensors that ops may have written: of an elementwise op its operands', of a product its
// own, of a cast its result's with the type. Updates of weights are left out.
struct WrittenSizes {
  std::set<int64_t> any;
  std::set<std::pair<int64_t, std::string_view>> by_casts;

  explicit WrittenSizes(const PatternInput& in) {
    for (const AssessedOp& op : in.assessment().ops()) {
      const OpView& view = in.view(op);
      if (view.has(Role::kUpdate) || view.has(Role::kFusedUpdate)) continue;
      if (const auto& size = in.product(op))
        any.insert(element_count({size->batch, size->m, size->n}).value_or(0));
      const ArgValue *to = view.tensor(0), *from = view.tensor(1);
      if (view.has(Role::kCopy) && from != nullptr && to->type != from->type) {
        by_casts.emplace(elements_of(*to), to->type);
        continue;
      }
      for (const ArgValue& value : view.args.inputs)
        if (value.is_tensor()) any.insert(elements_of(value));
    }
  }
  bool contains(const ArgValue& tensor) const {
    return any.contains(elements_of(tensor)) ||
           by_casts.contains({elements_of(tensor), tensor.type});
  }
};

// Whether the size of what an op writes can be told from its operands.
bool has_known_result(const PatternInput& in, const AssessedCall& call) {
  return in.product(*call.assessed).has_value() || is_pointwise(*call.assessed) ||
         in.has(call, Role::kCopy);
}

// Casts to a narrower type, several in each step, of one flat buffer that nothing between them
// writes: the same values each time. By its size, as no other op has such a tensor, and by the
// code: calls of one function in one module. Layers have buffers of one size, each of its own.
std::vector<size_t> unchanged_sources(const PatternInput& in, const std::vector<Cast>& casts) {
  constexpr int64_t kLarge = int64_t{1} << 20;
  constexpr size_t kAgain = 4, kInAStep = 2;
  const EventStore& store = in.store();
  const auto name = [&store](EventId e) { return e.valid() ? store.name_id(e) : StringId{}; };
  struct Alike {
    std::vector<size_t> places;
    std::set<EventId> calls;  // of the function
  };
  std::map<std::tuple<const AssessedOp*, StringId, StringId>, Alike> alike;
  for (const Cast& cast : casts) {
    const ElementType *from = find_element_type(cast.from), *to = find_element_type(cast.to);
    if (cast.dims->size() != 1 || from->bits <= to->bits || cast.dims->front() < kLarge) continue;
    const size_t place = cast.place;
    if (place > 0 && !has_known_result(in, in.calls()[place - 1])) continue;
    const AssessedCall& call = in.calls()[place];
    const PlaceIds ids = in.assessment().places().of(call.op->event);
    if (!ids.frame.valid()) continue;
    Alike& group = alike[{call.assessed, name(ids.frame), name(ids.module)}];
    group.places.push_back(place);
    group.calls.insert(ids.frame);
  }
  std::vector<size_t> unchanged;
  if (alike.empty()) return unchanged;
  const WrittenSizes written(in);
  for (const auto& [key, group] : alike) {
    if (group.calls.size() < std::max(kAgain, kInAStep * in.steps())) continue;
    if (written.contains(*in.view(*std::get<0>(key)).tensor(1))) continue;
    unchanged.insert(unchanged.end(), group.places.begin(), group.places.end());
  }
  return unchanged;
}

// Sums rows: in FP32, whatever the type of its operands.
bool sums_in_fp32(const AssessedCall& call) {
  const std::string_view name = call.assessed->group->key.name;
  return name.find("softmax") != std::string_view::npos || call.assessed->category == "norm" ||
         name == "aten::logsumexp";
}

// Casts that a later one undoes, with nothing between for which they would be needed: a product,
// or an op that has no narrower kernels.
class RoundTrips {
 public:
  RoundTrips(const PatternInput& in, const std::vector<Cast>& casts)
      : in_(in), casts_(casts), steps_(in.store(), kProfilerSteps) {
    find_runs();
    products_before_.push_back(0);
    for (const AssessedCall& call : in.calls()) {
      const std::string_view category = call.assessed->category;
      const bool product = category == "gemm" || category == "convolution" ||
                           category == "sdpa_fwd" || category == "sdpa_bwd" ||
                           in.has(call, Role::kNeedsWide);
      products_before_.push_back(products_before_.back() + product);
    }
  }

  // Marks their places; how many there are. `between`: places of the ops between, which would run
  // on a type of half the size.
  size_t mark(std::vector<bool>& needless, std::vector<size_t>& between) {
    constexpr size_t kUndoneWithin = 12;
    size_t found = 0;
    for (size_t i = 0; i < casts_.size(); ++i) {
      if (needless[casts_[i].place]) continue;
      for (size_t k = i + 1; k < casts_.size(); ++k) {
        if (casts_[k].place - casts_[i].place > kUndoneWithin) break;
        if (!may_be_undone(casts_[i], casts_[k])) break;
        const bool undone = casts_[k].from == casts_[i].to && casts_[k].to == casts_[i].from &&
                            *casts_[k].dims == *casts_[i].dims && !needless[casts_[k].place];
        if (!undone) continue;
        if (told_as_run(casts_[i], casts_[k])) break;
        ++found;
        needless[casts_[i].place] = needless[casts_[k].place] = true;
        for (size_t at = casts_[i].place + 1; at < casts_[k].place; ++at) {
          const AssessedCall& call = in_.calls()[at];
          if (needless[at] || !is_pointwise(*call.assessed) || in_.has(call, Role::kCopy)) continue;
          between.push_back(at);
        }
        break;
      }
    }
    return found;
  }

 private:
  // Within a run of ops that could be one, fusing them removes the casts, and is told as that.
  void find_runs() {
    const std::vector<PointwiseRun>& runs = in_.assessment().pointwise_runs();
    run_of_.assign(in_.calls().size(), SIZE_MAX);
    for (size_t run = 0; run < runs.size(); ++run) {
      for (size_t i = runs[run].begin; i < runs[run].end; ++i) run_of_[i] = run;
    }
    std::vector<size_t> casts_in(runs.size());
    for (const Cast& cast : casts_) {
      if (run_of_[cast.place] != SIZE_MAX) ++casts_in[run_of_[cast.place]];
    }
    for (size_t run = 0; run < runs.size(); ++run) {
      mostly_casts_.push_back(casts_in[run] * 2 > runs[run].end - runs[run].begin);
    }
  }
  bool told_as_run(const Cast& x, const Cast& y) const {
    const size_t run = run_of_[x.place];
    return run != SIZE_MAX && run == run_of_[y.place] && !mostly_casts_[run];
  }
  bool may_be_undone(const Cast& x, const Cast& y) const {
    const AssessedCall &from = in_.calls()[x.place], &to = in_.calls()[y.place];
    if (!in_.same_thread(from, to)) return false;
    if (products_before_[x.place] != products_before_[y.place]) return false;
    // The end of one step and the beginning of the next.
    const EventStore& store = in_.store();
    return steps_.at(store.start(from.op->event)) == steps_.at(store.start(to.op->event));
  }

  const PatternInput& in_;
  const std::vector<Cast>& casts_;
  const Steps steps_;
  std::vector<size_t> run_of_, products_before_;
  std::vector<bool> mostly_casts_;
};

}  // namespace

// Needless for certain: a cast that is undone soon after, or the same weight cast again and again.
// A single cast at the border of the model is neither.
std::vector<Finding> casts(const PatternInput& in) {
  constexpr size_t kAgain = 4;
  const std::vector<AssessedCall>& calls = in.calls();
  std::vector<Cast> all;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (const auto cast = cast_at(in, i)) all.push_back(*cast);
  }
  std::vector<bool> needless(calls.size());
  std::vector<size_t> between;
  const size_t round_trips = RoundTrips(in, all).mark(needless, between);
  std::map<const AssessedOp*, std::vector<std::pair<size_t, size_t>>> weights;  // cast, product
  for (const Cast& cast : all) {
    const auto product = feeds_product(in, cast);
    if (product) weights[calls[cast.place].assessed].emplace_back(cast.place, *product);
  }
  size_t weight_casts = 0;
  for (const size_t place : unchanged_sources(in, all)) {
    weight_casts += !needless[place];
    needless[place] = true;
  }
  for (const auto& [op, same] : weights) {
    if (same.size() < kAgain) continue;
    for (const auto& [cast, product] : same) {
      weight_casts += !needless[cast];
      needless[cast] = true;
      // What is computed from the weight on the way, such as its scaling.
      for (size_t i = cast + 1; i < product; ++i) {
        if (is_pointwise(*calls[i].assessed)) needless[i] = true;
      }
    }
  }
  MatchedCalls found;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (needless[i]) found.add(calls[i], false);
  }
  double most = found.counted();
  for (size_t place : between) {
    most += seconds_of(calls[place].time) * calls[place].assessed->counted / 2;
  }
  if (found.empty() || !is_noticeable(in, most)) return {};
  Traits traits;
  if (weight_casts > round_trips) traits.add("weights");
  PatternText text{FindingKind::kCasts,
                   std::string(ops_by_time(found.calls()).front()->group->key.name),
                   weight_casts > round_trips ? "The same weights are cast again and again"
                                              : "Tensors are cast to another type and back",
                   fmt::format("{} ({} of weights, {} undone soon after) take {}.",
                               per_step(in, found.size(), "op", "ops"), number_text(weight_casts),
                               number_text(round_trips), micros_text(nanos_from(found.seconds()))),
                   Confidence::kMedium};
  // Training keeps wide weights for the optimizer: a narrow copy of them is made once a step.
  const bool required = in.has_backward() && weight_casts > round_trips;
  Finding f =
      pattern_finding(in, std::move(text), found,
                      {required ? 0 : found.counted(), most, required ? "" : "no such casts",
                       "no such casts, and the ops between them on narrow types"},
                      traits);
  for (size_t place : between) {
    for (EventId kernel : calls[place].op->kernels) cover_beside(f, kernel);
  }
  return {f};
}

namespace {

struct WidenedSums {
  std::vector<bool> casts;     // by place: needless
  std::vector<size_t> halved;  // ops that would read half as much
  size_t sums = 0;
};

// Large tensors of 16 bits that are cast to 32 for an op that sums in FP32 anyway: the cast, and in
// training the way back. What reads them would read half as much.
WidenedSums find_widened(const PatternInput& in) {
  constexpr int64_t kLarge = int64_t{1} << 20;
  constexpr size_t kNext = 5;
  constexpr double kNearlyAll = 0.9;
  const std::vector<AssessedCall>& calls = in.calls();
  WidenedSums widened{std::vector<bool>(calls.size()), {}, 0};
  const auto is_as_large = [&](const AssessedCall& call, int64_t elements) {
    const ArgValue* tensor = in.view(call).tensor(0);
    return tensor != nullptr && is_float_type(*tensor, 32) && elements_of(*tensor) <= elements &&
           static_cast<double>(elements_of(*tensor)) >= kNearlyAll * static_cast<double>(elements);
  };
  std::set<int64_t> sizes;
  for (size_t place = 0; place < calls.size(); ++place) {
    const auto known = cast_at(in, place);
    if (!known) continue;
    const Cast& cast = *known;
    const int64_t elements = element_count(*cast.dims).value_or(0);
    const ElementType *from = find_element_type(cast.from), *to = find_element_type(cast.to);
    if (elements < kLarge || from->bits != 16 || to->bits != 32) continue;
    if (!from->is_float || !to->is_float) continue;
    std::vector<size_t> on_the_way;
    for (size_t i = cast.place + 1; i < std::min(calls.size(), cast.place + 1 + kNext); ++i) {
      if (!in.same_thread(calls[i], calls[cast.place])) break;
      if (!is_as_large(calls[i], elements)) continue;
      on_the_way.push_back(i);
      if (in.has(calls[i], Role::kCopy)) continue;
      if (!sums_in_fp32(calls[i])) break;
      ++widened.sums;
      widened.casts[cast.place] = true;
      sizes.insert(elements);
      widened.halved.insert(widened.halved.end(), on_the_way.begin(), on_the_way.end());
      break;
    }
  }
  // Gradients of them: the gradient of the sum, and the cast back.
  for (size_t i = 0; i < calls.size() && !sizes.empty() && in.has_backward(); ++i) {
    if (widened.casts[i] || !in.any_around(calls[i].op->event, "*Backward*")) continue;
    const ArgValue* tensor = in.view(calls[i]).tensor(0);
    if (tensor == nullptr || !sizes.contains(elements_of(*tensor))) continue;
    if (cast_at(in, i)) {
      widened.casts[i] = true;
    } else if (is_pointwise(*calls[i].assessed)) {
      widened.halved.push_back(i);
    }
  }
  return widened;
}

}  // namespace

std::vector<Finding> widened_sums(const PatternInput& in) {
  const WidenedSums widened = find_widened(in);
  if (widened.sums == 0) return {};
  const std::vector<AssessedCall>& calls = in.calls();
  MatchedCalls found;
  for (size_t i = 0; i < calls.size(); ++i)
    if (widened.casts[i]) found.add(calls[i], false);
  double most = found.counted();
  for (const size_t place : widened.halved)
    most += seconds_of(calls[place].time) * calls[place].assessed->counted / 2;
  if (!is_noticeable(in, most)) return {};
  Traits traits;
  traits.add("widened");
  PatternText text{FindingKind::kCasts,
                   std::string(ops_by_time(found.calls()).front()->group->key.name),
                   "Tensors are widened for ops that sum in FP32 anyway",
                   fmt::format("{} of large tensors before a softmax or norm take {}.",
                               per_step(in, found.size(), "cast", "casts"),
                               micros_text(nanos_from(found.seconds()))),
                   Confidence::kMedium};
  Finding f = pattern_finding(in, std::move(text), found,
                              {found.counted(), most, "no such casts",
                               "no such casts, and the ops after them on narrow types"},
                              traits);
  f.with_it = std::max(Nanos{}, f.saving_at_most - f.time);
  return {f};
}

}  // namespace fathom::patterns
