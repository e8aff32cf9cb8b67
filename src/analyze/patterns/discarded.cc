// Work whose result was there before, or is thrown away: weights made again, rows that nobody
// reads, caches that are copied to reorder them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "base/count_text.h"

namespace fathom::patterns {
namespace {

// Sizes of tensors that ops with GPU work read, as far as they are large.
class ReadSizes {
 public:
  explicit ReadSizes(const PatternInput& in) {
    for (const AssessedOp& op : in.assessment().ops()) {
      for (const ArgValue& value : in.view(op).args.inputs) {
        if (value.is_tensor()) sizes_.insert(elements_of(value));
        for (const ArgValue::Shape& shape : value.list)
          sizes_.insert(element_count(shape.dims).value_or(0));
      }
    }
  }
  bool contains(int64_t elements) const { return sizes_.contains(elements); }

 private:
  std::set<int64_t> sizes_;
};

// How much of a tensor a view takes: one of many by select, a range by slice.
std::optional<double> part_taken(const std::string_view name, const OpArgs& args) {
  if (args.inputs.empty() || !args.inputs[0].is_tensor()) return {};
  const std::vector<int64_t>& dims = args.inputs[0].shape.dims;
  const auto number = [&](size_t i) -> std::optional<int64_t> {
    if (i >= args.inputs.size()) return {};
    const std::string& text = args.inputs[i].concrete;
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return value;
  };
  const auto dimension = number(1);
  if (!dimension || dims.empty()) return {};
  const int64_t d = *dimension < 0 ? *dimension + std::ssize(dims) : *dimension;
  if (d < 0 || d >= std::ssize(dims) || dims[static_cast<size_t>(d)] < 1) return {};
  const int64_t length = dims[static_cast<size_t>(d)];
  if (name == "aten::select") return 1.0 / static_cast<double>(length);
  if (name != "aten::slice") return {};
  const auto place = [&](std::optional<int64_t> at, int64_t otherwise) {
    if (!at) return otherwise;
    return std::clamp<int64_t>(*at < 0 ? *at + length : *at, 0, length);
  };
  const int64_t taken = place(number(3), length) - place(number(2), 0);
  return taken > 0 ? std::optional(static_cast<double>(taken) / static_cast<double>(length))
                   : std::nullopt;
}

// The part of a product's result that the calls after it take; none: they take all of it.
std::optional<double> part_used(const PatternInput& in, const AssessedCall& product,
                                int64_t elements, int64_t columns) {
  constexpr uint32_t kAfter = 48;
  const CallId call = in.tree().call(product.op->event);
  if (!call.valid()) return {};
  const TrackId track = in.store().track_id(product.op->event);
  std::optional<double> used;
  CallId at = in.tree().subtree_end(call);
  for (uint32_t i = 0; i < kAfter && at.index < in.tree().size(); ++i, ++at.index) {
    const EventId event = in.tree().event(at);
    if (in.store().track_id(event) != track) break;
    const std::string_view name = in.store().name(event);
    if (name != "aten::select" && name != "aten::slice") continue;
    const auto args = read_op_args(in.store(), in.store().args_id(event));
    if (!args || args->inputs.empty() || !args->inputs[0].is_tensor()) continue;
    const std::vector<int64_t>& dims = args->inputs[0].shape.dims;
    if (dims.empty() || dims.back() != columns || element_count(dims) != elements) continue;
    const auto part = part_taken(name, *args);
    // x[:, -1] begins with a slice of everything.
    if (part && *part < 1) used = std::max(used.value_or(0), *part);
  }
  return used;
}

// The second operand of a layer's product or convolution: its weights, turned or not.
const ArgValue* weights_of(const PatternInput& in, const AssessedCall& call) {
  const std::string_view name = call.assessed->group->key.name;
  const bool adds = name == "aten::addmm";
  const bool multiplies = adds || name == "aten::mm" || name == "aten::linear";
  if (!multiplies && call.assessed->category != "convolution") return nullptr;
  return in.view(call).tensor(adds ? 2 : 1);
}

// Without an overflow, whatever sizes a trace names.
bool is_area(int64_t elements, int64_t rows, int64_t columns) {
  return columns > 0 && elements % columns == 0 && elements / columns == rows;
}

// Calls right before a layer that compute a tensor of its weights' size, and of no other size that
// the layer reads or writes: from the weights' parts.
std::vector<const AssessedCall*> making_weights(const PatternInput& in, size_t place) {
  constexpr size_t kBefore = 8;
  constexpr int64_t kLarge = int64_t{1} << 16;
  const std::vector<AssessedCall>& calls = in.calls();
  const ArgValue* weights = weights_of(in, calls[place]);
  const ArgValue* input = in.view(calls[place]).tensor(0);
  if (weights == nullptr || input == nullptr) return {};
  const int64_t elements = elements_of(*weights);
  const auto& size = in.product(*calls[place].assessed);
  if (elements < kLarge || elements_of(*input) == elements) return {};
  if (size && (is_area(elements, size->m, size->n) || is_area(elements, size->m, size->k)))
    return {};
  std::vector<const AssessedCall*> making;
  for (size_t back = 1; back <= std::min(kBefore, place); ++back) {
    const AssessedCall& call = calls[place - back];
    if (!in.same_thread(call, calls[place])) break;
    const auto& part = in.product(*call.assessed);
    bool makes = part && part->batch == 1 && is_area(elements, part->m, part->n);
    const std::string_view category = call.assessed->category;
    // A norm is of less size than what it is of: something behind it makes the tensor.
    if (category == "elementwise" || (category == "reduce" && !making.empty()))
      for (const ArgValue& value : in.view(call).args.inputs)
        makes = makes || (value.is_tensor() && elements_of(value) == elements);
    if (!makes) break;
    making.push_back(&call);
  }
  return making;
}

}  // namespace

// From parameters alone, so with the same result until they change: in a program without gradients
// they do not. An RNN whose weights are no single block packs them in training as well.
std::vector<Finding> repeated_weights(const PatternInput& in) {
  MatchedCalls found;
  bool is_packed = false;
  std::set<const AssessedCall*> known;
  for (size_t i = 0; i < in.calls().size() && !in.has_backward(); ++i) {
    for (const AssessedCall* call : making_weights(in, i)) {
      // A change of layout or type alone is told as that.
      if (in.has(*call, Role::kCopy) || !known.insert(call).second) continue;
      found.add(*call);
    }
  }
  for (const AssessedCall& call : in.calls()) {
    if (known.contains(&call)) continue;
    const bool makes = in.around(call.op->event, Role::kMakesWeight).has_value();
    const bool packs =
        in.has(call, Role::kCopy) && in.around(call.op->event, Role::kPacksWeights).has_value();
    if (!packs && (!makes || in.has_backward())) continue;
    found.add(call);
    is_packed = is_packed || packs;
  }
  const double most = found.counted() + found.waited();
  if (found.size() < 2 * in.steps() || !is_noticeable(in, most)) return {};
  Traits traits;
  traits.add(is_packed ? "packed" : "weights");
  PatternText text{
      FindingKind::kRepeatedTables,
      std::string(ops_by_time(found.calls()).front()->group->key.name),
      is_packed ? "The weights of an RNN are packed again in each call"
                : "Weights are computed from their parts in each call",
      fmt::format("{} take {}, and the GPU is idle for {} before them. Their operands "
                  "are weights, which do not change between these calls.",
                  per_step(in, found.size(), "op", "ops"), micros_text(nanos_from(found.seconds())),
                  micros_text(nanos_from(found.waited()))),
      Confidence::kMedium};
  Finding f = pattern_finding(
      in, std::move(text), found,
      {found.counted(), most, "made once", "made once, without the idle time before the launches"},
      traits);
  for (const AssessedCall* call : found.calls()) cover_beside(f, call->op->event);
  return {f};
}

// Logits of all positions, of which the last one's are read.
std::vector<Finding> discarded_rows(const PatternInput& in) {
  constexpr double kFew = 0.125;
  constexpr int64_t kManyRows = 64;
  const ReadSizes read(in);
  MatchedCalls found;
  double least = 0, most = 0;
  double used_of = 0;
  for (const AssessedCall& call : in.calls()) {
    const auto& size = in.product(*call.assessed);
    if (!size || size->m < kManyRows || size->batch != 1) continue;
    if (size->m > INT64_MAX / std::max<int64_t>(1, size->n)) continue;
    const int64_t elements = size->m * size->n;
    // Something else reads all of it, a loss or a softmax.
    if (read.contains(elements)) continue;
    const auto used = part_used(in, call, elements, size->n);
    if (!used || *used > kFew) continue;
    found.add(call, false);
    used_of = std::max(used_of, *used);
    const double time = seconds_of(call.time) * call.assessed->counted;
    // The weights have to be read for one row as well.
    const double weights = 2.0 * static_cast<double>(size->n) * static_cast<double>(size->k);
    const double floor = in.memory_rate() ? weights / *in.memory_rate() : time * 0.25;
    most += std::max(0.0, time * (1 - *used));
    least += std::max(0.0, time - std::max(2 * floor, 2 * time * *used));
  }
  if (found.empty() || !is_noticeable(in, most)) return {};
  PatternText text{FindingKind::kDiscardedRows,
                   std::string(ops_by_time(found.calls()).front()->group->key.name),
                   "Nearly all of a product's result is not used",
                   fmt::format("{} take {}; of the result at most {} is read, by a slice. No other "
                               "op reads it.",
                               per_step(in, found.size(), "product", "products"),
                               micros_text(nanos_from(found.seconds())), percent_text(used_of)),
                   Confidence::kMedium};
  return {pattern_finding(
      in, std::move(text), found,
      {std::min(least, most), most, "only the rows that are read, weights at half the bandwidth",
       "only the rows that are read"})};
}

// Keys and values of all beams or requests, copied into another order in each step.
std::vector<Finding> moved_cache(const PatternInput& in) {
  // Sizes of what attention reads.
  std::set<std::vector<int64_t>> attended;
  for (const AssessedOp& op : in.assessment().ops()) {
    const OpView& view = in.view(op);
    if (!view.has(Role::kAttention)) continue;
    for (size_t i = 1; i < 3; ++i)
      if (const ArgValue* tensor = view.tensor(i); tensor != nullptr)
        attended.insert(tensor->shape.dims);
  }
  MatchedCalls found;
  for (const AssessedCall& call : in.calls()) {
    const OpView& view = in.view(call);
    if (attended.empty() || !view.has(Role::kGather)) continue;
    const ArgValue* from = view.tensor(0);
    if (from == nullptr || from->shape.dims.size() < 3 || !attended.contains(from->shape.dims))
      continue;
    // As much comes out as goes in: no selection.
    const std::string_view name = call.assessed->group->key.name;
    const ArgValue* index = view.tensor(1);
    if (index == nullptr) continue;
    const bool is_whole = name == "aten::gather" ? elements_of(*index) == elements_of(*from)
                                                 : elements_of(*index) == from->shape.dims[0];
    if (is_whole) found.add(call, false);
  }
  if (found.size() < 2 * in.steps() || !is_noticeable(in, found.counted())) return {};
  PatternText text{FindingKind::kMovedCache,
                   std::string(ops_by_time(found.calls()).front()->group->key.name),
                   "A cache is copied as a whole to reorder it",
                   fmt::format("{} of tensors that attention reads take {}. Each moves all keys or "
                               "values, though only their order changes.",
                               per_step(in, found.size(), "copy", "copies"),
                               micros_text(nanos_from(found.seconds()))),
                   Confidence::kMedium};
  const double saved = found.counted();
  return {pattern_finding(
      in, std::move(text), found,
      {saved * 0.5, saved, "half of it: a table of rows is read in its place", "no copies"})};
}

}  // namespace fathom::patterns
