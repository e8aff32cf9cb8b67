// Tensors that are far larger than what they are made of, written out only to be reduced again: all
// pairs, all classes, all edges.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "base/count_text.h"

namespace fathom::patterns {
namespace {

constexpr double kFarLarger = 8;

// The result of an elementwise op by the rules of broadcasting; empty: no tensors, or lists.
std::vector<int64_t> broadcast_dims(const OpView& view) {
  std::vector<int64_t> dims;
  for (const ArgValue& value : view.args.inputs) {
    if (!value.list.empty()) return {};
    const std::vector<int64_t>& own = value.shape.dims;
    if (dims.size() < own.size()) dims.insert(dims.begin(), own.size() - dims.size(), 1);
    for (size_t i = 0; i < own.size(); ++i) {
      int64_t& dim = dims[dims.size() - 1 - i];
      dim = std::max(dim, own[own.size() - 1 - i]);
    }
  }
  return dims;
}

// Elements that a tensor has in memory: dimensions that are repeated without a copy are not there.
double stored_elements(const ArgValue& value) {
  double count = 1;
  for (size_t i = 0; i < value.shape.dims.size(); ++i) {
    const bool repeated = i < value.shape.strides.size() && value.shape.strides[i] == 0;
    if (!repeated) count *= static_cast<double>(value.shape.dims[i]);
  }
  return count;
}

// A tensor that a call makes out of far smaller ones.
struct Expanded {
  std::vector<int64_t> dims;
  double elements = 0, read = 0;  // of its result, and of the largest that it reads
};

std::optional<Expanded> expanded_by(const PatternInput& in, const AssessedCall& call) {
  constexpr double kLeast = 1 << 20;  // elements
  const OpView& view = in.view(call);
  Expanded made;
  if (view.has(Role::kOneHot) && view.tensor(0) != nullptr && view.tensor(1) != nullptr &&
      call.assessed->group->key.name.find("scatter") != std::string_view::npos) {
    made.dims = view.tensor(0)->shape.dims;
    made.read = stored_elements(*view.tensor(1));
  } else if (call.assessed->category == "elementwise" && !view.has(Role::kCopy) &&
             !view.has(Role::kGather) && !view.has(Role::kCat)) {
    made.dims = broadcast_dims(view);
    for (const ArgValue& value : view.args.inputs)
      if (value.is_tensor()) made.read = std::max(made.read, stored_elements(value));
  }
  if (made.dims.empty() || made.read <= 0) return {};
  made.elements = static_cast<double>(element_count(made.dims).value_or(0));
  if (made.elements < kLeast || made.elements < kFarLarger * made.read) return {};
  return made;
}

bool reads(const OpView& view, double elements) {
  return std::ranges::any_of(view.args.inputs, [elements](const ArgValue& value) {
    return value.is_tensor() && static_cast<double>(elements_of(value)) == elements;
  });
}

// The calls of the same function that work on the tensor up to where it is reduced; empty: it is
// used as a whole, by a product, a lookup or nobody.
std::vector<size_t> up_to_reduction(const PatternInput& in, size_t begin, const Expanded& made) {
  constexpr size_t kNext = 48;
  const std::vector<AssessedCall>& calls = in.calls();
  const EventId frame = in.user_frame(calls[begin].op->event);
  std::vector<size_t> chain = {begin}, reduced;
  for (size_t i = begin + 1; i < std::min(calls.size(), begin + kNext); ++i) {
    if (!in.same_thread(calls[begin], calls[i])) break;
    if (frame.valid() && in.user_frame(calls[i].op->event) != frame) continue;
    const OpView& view = in.view(calls[i]);
    if (!reads(view, made.elements)) continue;
    const std::string_view category = calls[i].assessed->category;
    if (in.product(*calls[i].assessed) || view.has(Role::kGather) || view.has(Role::kAttention))
      return {};
    chain.push_back(i);
    if (category == "reduce" || view.has(Role::kSort)) reduced = chain;
  }
  return reduced;
}

}  // namespace

std::vector<Finding> large_intermediates(const PatternInput& in) {
  if (!in.memory_rate()) return {};
  MatchedCalls found;
  std::vector<bool> taken(in.calls().size());
  double certain = 0, needed = 0, most_elements = 0, of_read = 0;
  size_t times = 0;
  std::string shape;
  for (size_t i = 0; i < in.calls().size(); ++i) {
    if (taken[i]) continue;
    const auto made = expanded_by(in, in.calls()[i]);
    if (!made) continue;
    const std::vector<size_t> chain = up_to_reduction(in, i, *made);
    if (chain.empty()) continue;
    ++times;
    for (const size_t place : chain) {
      if (taken[place]) continue;
      taken[place] = true;
      const AssessedCall& call = in.calls()[place];
      found.add(call);
      const auto& bound = call.assessed->bound;
      const double now = seconds_of(call.time);
      certain += std::min(now, bound ? bound->memory_seconds : 0) * call.assessed->counted;
    }
    constexpr double kBytes = 4;
    needed += 2 * kBytes * made->read / *in.memory_rate();
    if (made->elements > most_elements) {
      most_elements = made->elements;
      of_read = made->elements / made->read;
      shape = fmt::format("{}", fmt::join(made->dims, "×"));
    }
  }
  const double most = std::max(0.0, found.counted() - needed) + found.waited();
  if (found.empty() || !is_noticeable(in, most)) return {};
  PatternText text{
      FindingKind::kLargeIntermediate,
      std::string(ops_by_time(found.calls()).front()->group->key.name),
      fmt::format("A tensor of {} is written out only to be reduced", shape),
      fmt::format("{}, a tensor {:.0f} times as large as what it is made of is written to memory, "
                  "read again and reduced, in {} that take {}.",
                  per_step(in, times, "time", "times"), of_read, counted(found.size(), "call"),
                  micros_text(nanos_from(found.seconds()))),
      Confidence::kMedium};
  return {pattern_finding(in, std::move(text), found,
                          {std::min(certain, most), most, "the tensor is neither written nor read",
                           "only the inputs and the result are moved"})};
}

namespace {

// Elements that a lookup writes; none: unknown, or no lookup.
std::optional<double> looked_up_elements(const PatternInput& in, const AssessedCall& call) {
  constexpr std::string_view kLookups[] = {"aten::index", "aten::index_select", "aten::gather",
                                           "aten::embedding", "aten::take"};
  const std::string_view name = call.assessed->group->key.name;
  if (std::ranges::find(kLookups, name.substr(0, name.find("->"))) == std::end(kLookups)) return {};
  const auto& cost = call.assessed->group->cost;
  if (const auto known = cost ? integer_param(*cost, "num_output_elems") : std::nullopt)
    return static_cast<double>(*known);
  const ArgValue *table = in.view(call).tensor(0), *index = in.view(call).tensor(1);
  if (table == nullptr || index == nullptr || name.starts_with("aten::index")) return {};
  const bool by_rows = name.starts_with("aten::embedding");
  const double row = by_rows ? static_cast<double>(elements_of(*table)) /
                                   static_cast<double>(std::max<int64_t>(1, table->shape.dims[0]))
                             : 1;
  return row * static_cast<double>(elements_of(*index));
}

}  // namespace

// A matrix for each row, picked out of a few matrices.
std::vector<Finding> gathered_operands(const PatternInput& in) {
  constexpr double kLarger = 4, kLeast = 1 << 20;  // elements
  constexpr double kForCertain = 0.6;              // of the lookups
  constexpr size_t kNext = 8;
  if (!in.memory_rate()) return {};
  const std::vector<AssessedCall>& calls = in.calls();
  MatchedCalls found;
  double certain = 0, needed = 0, times_larger = 0;
  size_t lookups = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto elements = looked_up_elements(in, calls[i]);
    const ArgValue* table = elements ? in.view(calls[i]).tensor(0) : nullptr;
    if (table == nullptr || *elements < kLeast) continue;
    const auto source = static_cast<double>(elements_of(*table));
    if (source <= 0 || *elements < kLarger * source) continue;
    size_t product = 0;
    for (size_t k = i + 1; product == 0 && k < std::min(calls.size(), i + 1 + kNext); ++k) {
      if (!in.same_thread(calls[k], calls[i])) break;
      const auto& size = in.product(*calls[k].assessed);
      if (size && size->batch > 1 && reads(in.view(calls[k]), *elements)) product = k;
    }
    if (product == 0) continue;
    ++lookups;
    found.add(calls[i], false);
    found.add(calls[product], false);
    certain += kForCertain * seconds_of(calls[i].time) * calls[i].assessed->counted;
    needed += bytes_of(*table).value_or(0) / *in.memory_rate();
    times_larger = std::max(times_larger, *elements / source);
  }
  const double most = std::max(0.0, found.counted() - needed);
  if (found.empty() || !is_noticeable(in, most)) return {};
  PatternText text{
      FindingKind::kLargeIntermediate,
      std::string(ops_by_time(found.calls()).front()->group->key.name),
      "Matrices are gathered for each row: copies of a few weights are written out for a product",
      fmt::format("{} write up to {:.0f} times as much as the table holds, and a batched product "
                  "reads it with a matrix for each row: {} together.",
                  per_step(in, lookups, "lookup", "lookups"), times_larger,
                  micros_text(nanos_from(found.seconds()))),
      Confidence::kHigh};
  return {pattern_finding(
      in, std::move(text), found,
      {std::min(certain, most), most, "no copies of the matrices", "each matrix read once"},
      Traits{"gathered"})};
}

}  // namespace fathom::patterns
