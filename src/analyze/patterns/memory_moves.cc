// Data that is moved without need: layout copies, a cache copied to append to it, fills.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "base/count_text.h"

namespace fathom::patterns {
namespace {

bool is_gpu_copy_engine(const PatternInput& in, const UnifiedOp& call) {
  return std::ranges::any_of(call.kernels, [&in](EventId e) {
    return in.store().kind(e) == EventKind::kMemcpy &&
           in.store().name(e).find("DtoD") == std::string_view::npos;
  });
}

// A copy of one type whose operands differ in strides, or that contiguous() asked for.
bool only_changes_layout(const PatternInput& in, const AssessedCall& call) {
  const OpView& view = in.view(call);
  if (!view.has(Role::kCopy) || is_gpu_copy_engine(in, *call.op)) return false;
  if (in.any_around(call.op->event, "aten::constant_pad_nd")) return false;
  const ArgValue *to = view.tensor(0), *from = view.tensor(1);
  if (to == nullptr) return false;
  if (from == nullptr) {  // clone, contiguous
    return in.any_around(call.op->event, "aten::contiguous");
  }
  if (to->type != from->type || to->shape.dims != from->shape.dims) return false;
  const std::vector<int64_t>&x = to->shape.strides, &y = from->shape.strides;
  if (x.size() == to->shape.dims.size() && y.size() == x.size()) {
    // A stride of zero repeats elements: no change of layout.
    if (std::ranges::find(y, 0) != y.end()) return false;
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] != y[i] && to->shape.dims[i] > 1) return true;
    }
    return false;
  }
  return in.any_around(call.op->event, "aten::contiguous");
}

}  // namespace

std::vector<Finding> layout_copies(const PatternInput& in) {
  constexpr size_t kRepeated = 4;  // one transpose at the input is no pattern
  MatchedCalls found;
  for (const AssessedCall& call : in.calls()) {
    if (only_changes_layout(in, call)) found.add(call, false);
  }
  const double saved = found.counted();
  // Few copies count where they take much of the step: a weight that is transposed in each call.
  constexpr double kMuchOfTheStep = 0.25;
  const bool is_much = saved > kMuchOfTheStep * seconds_of(in.assessment().length()) &&
                       found.size() >= in.steps() && in.steps() > 1;
  if ((found.size() < kRepeated * in.steps() && !is_much) || !is_noticeable(in, saved)) return {};
  PatternText text{FindingKind::kLayoutCopies,
                   std::string(ops_by_time(found.calls()).front()->group->key.name),
                   "Copies that only change the memory layout",
                   fmt::format("{} between tensors of one type and shape take {}. They only change "
                               "the order in memory (contiguous, transpose, permute).",
                               per_step(in, found.size(), "copy", "copies"),
                               micros_text(nanos_from(found.seconds()))),
                   Confidence::kMedium};
  return {
      pattern_finding(in, std::move(text), found,
                      {0, saved, "", "no copies (upper bound: the next op may read more slowly)"})};
}

namespace {

// Two tensors that differ in one dimension: the cache, and what is appended.
struct Append {
  size_t dimension = 0;
  int64_t length = 0, added = 0;
};

std::optional<Append> append_of(const OpView& view) {
  constexpr int64_t kManyTimes = 4;
  const ArgValue* list = nullptr;
  for (const ArgValue& value : view.args.inputs) {
    if (!value.list.empty()) list = &value;
  }
  if (list == nullptr || list->list.size() != 2) return {};
  const std::vector<int64_t>&x = list->list[0].dims, &y = list->list[1].dims;
  if (x.size() != y.size() || x.empty()) return {};
  std::optional<Append> append;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i]) continue;
    if (append) return {};
    append = Append{i, std::max(x[i], y[i]), std::min(x[i], y[i])};
  }
  if (!append || append->added < 1 || append->length < kManyTimes * append->added) return {};
  return append;
}

}  // namespace

// The lengths must grow: a concatenation of the same parts in each layer is no cache.
std::vector<Finding> growing_cache(const PatternInput& in) {
  struct Cache {
    int64_t added = 0;
    std::set<int64_t> lengths;
    std::vector<std::pair<const AssessedCall*, double>> calls;  // and the share that is new
  };
  // By all sizes but the one that grows.
  std::map<std::vector<int64_t>, Cache> caches;
  for (const AssessedCall& call : in.calls()) {
    const OpView& view = in.view(call);
    if (!view.has(Role::kCat)) continue;
    const auto append = append_of(view);
    if (!append) continue;
    std::vector<int64_t> key;
    for (const ArgValue& value : view.args.inputs) {
      if (!value.list.empty()) key = value.list[0].dims;
    }
    key[append->dimension] = append->added;
    key.push_back(static_cast<int64_t>(append->dimension));
    Cache& cache = caches[std::move(key)];
    cache.added = append->added;
    cache.lengths.insert(append->length);
    const double all = static_cast<double>(append->length) + static_cast<double>(append->added);
    cache.calls.emplace_back(&call, static_cast<double>(append->added) / all);
  }
  MatchedCalls found;
  double needed = 0;
  for (const auto& [key, cache] : caches) {
    // What one call returned, another one appends to.
    const bool grows = std::ranges::any_of(cache.lengths, [&cache = cache](int64_t length) {
      return length <= INT64_MAX - cache.added && cache.lengths.contains(length + cache.added);
    });
    if (!grows) continue;
    for (const auto& [call, added] : cache.calls) {
      found.add(*call, false);
      needed += seconds_of(call->time) * call->assessed->counted * added;
    }
  }
  if (found.empty() || !is_noticeable(in, found.counted())) return {};
  const double floor = std::min(found.counted(), static_cast<double>(found.size()) *
                                                     seconds_of(in.assessment().shortest_kernel()));
  PatternText text{FindingKind::kGrowingCache,
                   std::string(found.calls().front()->assessed->group->key.name),
                   "A cache grows by concatenation: each step copies all of it",
                   fmt::format("{} append a few rows to a growing tensor, {} in all. The copy of "
                               "the old rows is needless even at full bandwidth.",
                               per_step(in, found.size(), "call", "calls"),
                               micros_text(nanos_from(found.seconds()))),
                   Confidence::kHigh};
  const double most = found.counted() - needed;
  return {pattern_finding(in, std::move(text), found,
                          {std::min(most, found.counted() - floor), most,
                           "only the new rows written, no call under the shortest kernel",
                           "only the new rows written"})};
}

namespace {

// Equal but for one dimension, in which the part is shorter or as long.
bool is_part_of(const std::vector<int64_t>& part, const std::vector<int64_t>& whole) {
  if (part.size() != whole.size() || whole.empty()) return false;
  size_t differ = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    if (part[i] > whole[i]) return false;
    differ += part[i] != whole[i];
  }
  return differ <= 1;
}

// Whether the copies that follow a fill write as many elements as it did.
bool is_overwritten(const PatternInput& in, size_t fill_place) {
  constexpr size_t kMostParts = 64;
  const std::vector<AssessedCall>& calls = in.calls();
  const AssessedCall& fill = calls[fill_place];
  const ArgValue* filled = in.view(fill).tensor(0);
  if (filled == nullptr) return false;
  const int64_t all = elements_of(*filled);
  int64_t written = 0;
  for (size_t i = fill_place + 1; i < std::min(calls.size(), fill_place + 1 + kMostParts); ++i) {
    const AssessedCall& copy = calls[i];
    if (!in.has(copy, Role::kCopy) || !in.same_thread(fill, copy) || fill.caller != copy.caller)
      return false;
    const ArgValue *to = in.view(copy).tensor(0), *from = in.view(copy).tensor(1);
    if (to == nullptr || from == nullptr || filled->type != to->type) return false;
    // What stretches over a shape reads less than it writes.
    if (!is_part_of(to->shape.dims, filled->shape.dims) || to->shape.dims != from->shape.dims)
      return false;
    written += elements_of(*to);
    if (written >= all) return written == all;
  }
  return false;
}

}  // namespace

namespace {

int64_t elements_of_all(const OpView& view) {
  int64_t sum = 0;
  for (const ArgValue& value : view.args.inputs) {
    if (value.is_tensor()) return elements_of(value);
    for (const ArgValue::Shape& shape : value.list) sum += element_count(shape.dims).value_or(0);
  }
  return sum;
}

bool clears_gradients(const PatternInput& in, const AssessedCall& call) {
  const std::string_view name = call.assessed->group->key.name;
  if (!in.has(call, Role::kFill) && name != "aten::_foreach_zero_") return false;
  const EventId range = in.assessment().places().of(call.op->event).annotation;
  if (range.valid() && in.store().name(range).find("zero_grad") != std::string_view::npos)
    return true;
  constexpr int kFramesLookedAt = 8;
  const CallId c = in.tree().call(call.op->event);
  EventId frame = c.valid() ? in.tree().frame(c) : EventId{};
  for (int i = 0; i < kFramesLookedAt && frame.valid(); ++i, frame = in.tree().parent_frame(frame))
    if (in.store().name(frame).ends_with("zero_grad")) return true;
  return false;
}

}  // namespace

// The first gradient of a step needs neither the zeros nor the addition. With several backward
// passes in a step, the other additions stay.
std::vector<Finding> zeroed_gradients(const PatternInput& in) {
  if (!in.has_backward()) return {};
  std::vector<const AssessedCall*> fills, additions;
  double filled = 0, added = 0;
  for (const AssessedCall& call : in.calls()) {
    const bool adds = call.assessed->group->key.name == "aten::add_" &&
                      in.any_around(call.op->event, "torch::autograd::AccumulateGrad");
    if (!adds && !clears_gradients(in, call)) continue;
    (adds ? additions : fills).push_back(&call);
    (adds ? added : filled) += static_cast<double>(elements_of_all(in.view(call)));
  }
  if (fills.empty() || additions.empty()) return {};
  const double first = added > filled && filled > 0 ? filled / added : 1;
  MatchedCalls found;
  double saved = 0, counted_time = 0;
  for (const auto* list : {&fills, &additions}) {
    for (const AssessedCall* call : *list) {
      found.add(*call, false);
      const double part = list == &fills ? 1 : first;
      saved += part * seconds_of(call->time);
      counted_time += part * seconds_of(call->time) * call->assessed->counted;
    }
  }
  if (!is_noticeable(in, saved)) return {};
  Traits traits;
  traits.add("gradients");
  PatternText text{FindingKind::kOverwrittenFills, "zero_grad",
                   "Gradients are filled with zeros, then added to",
                   fmt::format("Gradients are zeroed by {} and added to by {}, {} in all. A "
                               "gradient that is not there is written without an addition.",
                               per_step(in, fills.size(), "fill", "fills"),
                               per_step(in, additions.size(), "op", "ops"),
                               micros_text(nanos_from(found.seconds()))),
                   Confidence::kHigh};
  Finding f = pattern_finding(in, std::move(text), found,
                              {counted_time, saved, "", "no fills, no additions"}, traits);
  // The place to change is that of the fills.
  std::set<EventId> added_by;
  for (const AssessedCall* call : additions)
    added_by.insert(call->op->kernels.begin(), call->op->kernels.end());
  for (CoveredEvent& covered : f.covered)
    if (added_by.contains(covered.event)) covered.time = {};
  return {f};
}

// zeros, then copies over all of it.
std::vector<Finding> overwritten_fills(const PatternInput& in) {
  MatchedCalls found;
  for (size_t i = 0; i + 1 < in.calls().size(); ++i)
    if (in.has(in.calls()[i], Role::kFill) && is_overwritten(in, i))
      found.add(in.calls()[i], false);
  // What the host launches too late today may be what takes the time without a profiler.
  const double saved = found.seconds();
  if (found.empty() || !is_noticeable(in, saved)) return {};
  PatternText text{FindingKind::kOverwrittenFills,
                   std::string(found.calls().front()->assessed->group->key.name),
                   "Tensors are filled, then overwritten as a whole",
                   fmt::format("{} before copies over all of the tensor take {}.",
                               per_step(in, found.size(), "fill", "fills"),
                               micros_text(nanos_from(found.seconds()))),
                   Confidence::kMedium};
  return {pattern_finding(in, std::move(text), found, {found.counted(), saved, "", "no fills"})};
}

}  // namespace fathom::patterns
