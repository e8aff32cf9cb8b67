// The same result by less work: products in another order, tensors that need not be repeated in
// memory, messages of edges that need not be written out.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "analyze/priority.h"
#include "base/count_text.h"

namespace fathom::patterns {
namespace {

bool reads_elements(const OpView& view, int64_t elements) {
  return std::ranges::any_of(view.args.inputs, [elements](const ArgValue& value) {
    return value.is_tensor() && elements_of(value) == elements;
  });
}

// Multiplications of a chain of three matrices, as it was computed and in the other order.
struct ChainCost {
  double now, other;
};

// Where the second product reads the first one's result, by its sizes, as its left or right
// operand. A result of the size of an operand tells nothing: the second product may read that
// operand too, as queries and keys of one input do.
std::optional<ChainCost> chain_of(const ProductSize& first, const ProductSize& second) {
  if (first.batch != second.batch) return {};
  const auto size = [](int64_t n) { return static_cast<double>(n); };
  const double m = size(first.m), k = size(first.k), n = size(first.n);
  const double batch = size(first.batch);
  if (second.m == first.m && second.k == first.n && first.n != first.k) {  // (A B) C
    const double l = size(second.n);
    return ChainCost{batch * (m * k * n + m * n * l), batch * (k * n * l + m * k * l)};
  }
  if (second.k == first.m && second.n == first.n && first.m != first.k) {  // A (B C)
    const double l = size(second.m);
    return ChainCost{batch * (m * k * n + l * m * n), batch * (l * m * k + l * k * n)};
  }
  return {};
}

// A number times the result, or a copy of an operand, leaves the order free.
bool keeps_order(const PatternInput& in, const AssessedCall& call) {
  if (in.has(call, Role::kCopy)) return true;
  const std::string_view name = call.assessed->group->key.name;
  const bool scales = name.starts_with("aten::mul") || name.starts_with("aten::div");
  const ArgValue* other = in.view(call).tensor(1);
  return scales && (other == nullptr || elements_of(*other) == 1);
}

// Whether the product's kernel applies an activation to its result: then the order is not free.
bool activates(const PatternInput& in, const AssessedCall& call) {
  constexpr std::string_view kWords[] = {"relu", "Relu", "RELU", "gelu", "Gelu",
                                         "GELU", "silu", "Silu", "tanh", "sigmoid"};
  return call.assessed->group->key.name.find("activation") != std::string_view::npos ||
         in.any_kernel(*call.op, kWords);
}

}  // namespace

std::vector<Finding> product_order(const PatternInput& in) {
  constexpr double kWorthIt = 1.0 / 3;
  constexpr size_t kBetween = 3;
  const std::vector<AssessedCall>& calls = in.calls();
  MatchedCalls found;
  double least = 0, most = 0, now = 0, other = 0;
  size_t chains = 0;
  for (size_t i = 0; i + 1 < calls.size(); ++i) {
    const auto& first = in.product(*calls[i].assessed);
    if (!first) continue;
    size_t next = i + 1;
    while (next - i <= kBetween && next + 1 < calls.size() && keeps_order(in, calls[next])) ++next;
    const auto& second = in.product(*calls[next].assessed);
    if (!second || !in.same_thread(calls[i], calls[next])) continue;
    // The gradients of a product read the same tensors, not each other.
    if (in.any_around(calls[i].op->event, "autograd::*")) continue;
    const auto cost = chain_of(*first, *second);
    if (!cost || cost->other > kWorthIt * cost->now || activates(in, calls[i])) continue;
    const double part = cost->other / cost->now;
    for (size_t k = i; k <= next; ++k) {
      found.add(calls[k], false);
      const double time = seconds_of(calls[k].time) * calls[k].assessed->counted;
      most += time * (1 - part);
      least += time * std::max(0.0, 1 - 2 * part);
    }
    now += cost->now;
    other += cost->other;
    ++chains;
    i = next;
  }
  if (chains == 0 || !is_noticeable(in, most)) return {};
  PatternText text{FindingKind::kProductOrder,
                   std::string(ops_by_time(found.calls()).front()->group->key.name),
                   "Three matrices are multiplied in the longer order",
                   fmt::format("{} of two products, the second of which reads the first one's "
                               "result, take {}. In the other order they need {} of the "
                               "multiplications.",
                               per_step(in, chains, "chain", "chains"),
                               micros_text(nanos_from(found.seconds())), percent_text(other / now)),
                   Confidence::kMedium};
  return {pattern_finding(
      in, std::move(text), found,
      {least, most, "the other order at half of this rate", "the other order at this rate"})};
}

namespace {

// Of a product, the lookup that made its rows, where only ops that a linear layer commutes with are
// between: its place in calls.
std::optional<size_t> rows_gathered_before(const PatternInput& in, size_t place) {
  constexpr size_t kBefore = 5;
  const std::vector<AssessedCall>& calls = in.calls();
  for (size_t back = 1; back <= std::min(kBefore, place); ++back) {
    const AssessedCall& call = calls[place - back];
    if (!in.same_thread(call, calls[place])) return {};
    const std::string_view name = call.assessed->group->key.name;
    if (name == "aten::index" || name == "aten::index_select") return place - back;
    const bool is_linear = name == "aten::sub" || name == "aten::add" || in.has(call, Role::kCat) ||
                           in.has(call, Role::kCopy);
    if (!is_linear) return {};
  }
  return {};
}

}  // namespace

// A linear layer on rows of which each source row has many: it could run before the lookup.
std::vector<Finding> gathered_products(const PatternInput& in) {
  constexpr int64_t kManyForEach = 4;
  MatchedCalls found;
  double least = 0, most = 0;
  size_t products = 0;
  int64_t rows = 0, sources = 0;
  for (size_t i = 0; i < in.calls().size(); ++i) {
    const AssessedCall& product = in.calls()[i];
    const auto& size = in.product(*product.assessed);
    if (!size || size->batch != 1 || in.any_around(product.op->event, "autograd::*")) continue;
    const auto begin = rows_gathered_before(in, i);
    const ArgValue* from = begin ? in.view(in.calls()[*begin]).tensor(0) : nullptr;
    if (from == nullptr || from->shape.dims.size() < 2) continue;
    const int64_t source = elements_of(*from) / std::max<int64_t>(1, from->shape.dims.back());
    if (source < 1 || size->m / source < kManyForEach) continue;
    const double part = static_cast<double>(source) / static_cast<double>(size->m);
    for (size_t k = *begin; k <= i; ++k) {
      const AssessedCall& call = in.calls()[k];
      const double time = seconds_of(call.time) * call.assessed->counted;
      found.add(call, false);
      // Rows are still gathered, after the product.
      if (k > *begin) least += time * std::max(0.0, 1 - 2 * part);
      if (k > *begin) most += time * (1 - part);
    }
    ++products;
    rows = size->m;
    sources = source;
  }
  if (products == 0 || !is_noticeable(in, most)) return {};
  Traits traits;
  traits.add("gathered");
  PatternText text{
      FindingKind::kProductOrder, std::string(ops_by_time(found.calls()).front()->group->key.name),
      "A linear layer runs on gathered rows, many for each row of the source",
      fmt::format(
          "{} multiply rows that were gathered just before, such as {} rows "
          "of {}: {} with the lookups and copies.",
          per_step(in, products, "product", "products"), number_text(static_cast<uint64_t>(rows)),
          number_text(static_cast<uint64_t>(sources)), micros_text(nanos_from(found.seconds()))),
      Confidence::kMedium};
  return {pattern_finding(in, std::move(text), found,
                          {least, most, "the layer before the lookup, at half of this rate",
                           "the layer before the lookup"},
                          traits)};
}

namespace {

// Elements that a copy writes, each of its source's several times: an expanded or overlapping view.
std::optional<int64_t> written_repeatedly(const PatternInput& in, const AssessedCall& call) {
  const OpView& view = in.view(call);
  if (!view.has(Role::kCopy) && !in.around(call.op->event, Role::kRepeat)) return {};
  int64_t most = 0;
  bool repeats = in.around(call.op->event, Role::kRepeat).has_value();
  for (const ArgValue& value : view.args.inputs) {
    if (!value.is_tensor()) continue;
    most = std::max(most, elements_of(value));
    const std::vector<int64_t>&dims = value.shape.dims, &strides = value.shape.strides;
    for (size_t i = 0; i < std::min(dims.size(), strides.size()); ++i)
      repeats = repeats || (strides[i] == 0 && dims[i] > 1);
  }
  return repeats && most > 0 ? std::optional(most) : std::nullopt;
}

// An op shortly after that reads it beside another tensor, and could broadcast instead. One that
// writes into it needs the memory.
bool feeds_broadcast(const PatternInput& in, size_t place, int64_t elements) {
  constexpr size_t kNext = 4;
  const std::vector<AssessedCall>& calls = in.calls();
  for (size_t i = place + 1; i < std::min(calls.size(), place + 1 + kNext); ++i) {
    const AssessedCall& call = calls[i];
    if (!in.same_thread(call, calls[place])) return false;
    const OpView& view = in.view(call);
    if (view.has(Role::kAttention) || !reads_elements(view, elements)) continue;
    if (view.has(Role::kCopy) || view.has(Role::kCat)) continue;
    const std::string_view name = call.assessed->group->key.name;
    if (name.ends_with('_') || view.tensor(1) == nullptr) return false;
    if (call.assessed->category == "elementwise") return true;
    // matmul and einsum make such copies themselves.
    return in.product(*call.assessed) && !in.any_around(calls[place].op->event, "aten::matmul") &&
           !in.any_around(calls[place].op->event, "aten::einsum");
  }
  return false;
}

// Lookups and scatters with an index of as many elements as one of the copies writes.
MatchedCalls users_of_index(const PatternInput& in, const MatchedCalls& copies) {
  std::set<int64_t> sizes;
  for (const AssessedCall* copy : copies.calls())
    if (const auto elements = written_repeatedly(in, *copy)) sizes.insert(*elements);
  MatchedCalls users;
  for (const AssessedCall& call : in.calls()) {
    const std::string_view name = call.assessed->group->key.name;
    if (!name.starts_with("aten::gather") && !name.starts_with("aten::scatter")) continue;
    const ArgValue* index = in.view(call).tensor(1);
    if (index != nullptr && is_integer_type(*index) && sizes.contains(elements_of(*index)))
      users.add(call, false);
  }
  return users;
}

bool is_index_of_rows(const PatternInput& in, const MatchedCalls& copies) {
  return !users_of_index(in, copies).empty();
}

// The copies go; of the lookups, the 8 bytes that each reads of the index for an element.
Finding repeated_index(const PatternInput& in, const MatchedCalls& copies) {
  constexpr double kIndex = 8, kOfUsers = 0.6;
  const MatchedCalls users = users_of_index(in, copies);
  MatchedCalls all = copies;
  double most = copies.counted();
  for (const AssessedCall* call : users.calls()) {
    all.add(*call, false);
    const double read = in.memory_rate()
                            ? kIndex * static_cast<double>(elements_of(*in.view(*call).tensor(1))) /
                                  *in.memory_rate()
                            : 0;
    const double now = seconds_of(call->time);
    most += std::max(std::min(now, read), kOfUsers * now) * call->assessed->counted;
  }
  PatternText text{
      FindingKind::kLayoutCopies, std::string(ops_by_time(copies.calls()).front()->group->key.name),
      "An index is repeated over the width of its rows",
      fmt::format("{} write an 8-byte index for each element of a row, and {} read it "
                  "for each element: {} together.",
                  per_step(in, copies.size(), "copy", "copies"),
                  per_step(in, users.size(), "lookup or scatter", "lookups and scatters"),
                  micros_text(nanos_from(all.seconds()))),
      Confidence::kHigh};
  return pattern_finding(
      in, std::move(text), all,
      {copies.counted(), most, "no copies of the index", "rows looked up by one number each"},
      Traits{"repeated", "index"});
}

}  // namespace

std::vector<Finding> repeated_copies(const PatternInput& in) {
  MatchedCalls found;
  for (size_t i = 0; i < in.calls().size(); ++i) {
    const auto elements = written_repeatedly(in, in.calls()[i]);
    if (elements && feeds_broadcast(in, i, *elements)) found.add(in.calls()[i], false);
  }
  const double saved = found.counted();
  if (found.empty() || !is_noticeable(in, saved)) return {};
  const ArgValue* first = in.view(*found.calls().front()).tensor(0);
  if (first != nullptr && is_integer_type(*first) && is_index_of_rows(in, found))
    return {repeated_index(in, found)};
  Traits traits;
  traits.add("repeated");
  PatternText text{FindingKind::kLayoutCopies,
                   std::string(ops_by_time(found.calls()).front()->group->key.name),
                   "A tensor is repeated in memory for an op that can broadcast it",
                   fmt::format("{} that write each element several times take {}. An op that takes "
                               "a second tensor of the same size reads the result.",
                               per_step(in, found.size(), "copy", "copies"),
                               micros_text(nanos_from(found.seconds()))),
                   Confidence::kMedium};
  return {pattern_finding(in, std::move(text), found, {saved, saved, "", "no copies"}, traits)};
}

namespace {

// Of a lookup; x[index] has them in a list.
int64_t indices_of(const OpView& view) {
  for (const ArgValue& value : view.args.inputs)
    for (const ArgValue::Shape& shape : value.list)
      if (!shape.dims.empty()) return element_count(shape.dims).value_or(0);
  const ArgValue* index = view.tensor(1);
  return index == nullptr ? 0 : elements_of(*index);
}

// The lookup whose rows an addition takes, with memory-bound ops between them: its place in calls.
std::optional<size_t> gather_before(const PatternInput& in, size_t place, int64_t elements) {
  constexpr size_t kBefore = 4;
  const std::vector<AssessedCall>& calls = in.calls();
  for (size_t back = 1; back <= std::min(kBefore, place); ++back) {
    const AssessedCall& call = calls[place - back];
    const bool is_light = call.assessed->category == "elementwise" || in.has(call, Role::kGather);
    if (!in.same_thread(call, calls[place]) || !is_light || in.has(call, Role::kAtomic)) return {};
    if (!in.has(call, Role::kGather)) continue;
    const ArgValue* from = in.view(call).tensor(0);
    if (from == nullptr || from->shape.dims.size() < 2) return {};
    const int64_t row = elements_of(*from) / std::max<int64_t>(1, from->shape.dims[0]);
    const int64_t indices = indices_of(in.view(call));
    const bool is_source =
        indices == elements || (row > 0 && elements % row == 0 && elements / row == indices);
    return is_source ? std::optional(place - back) : std::nullopt;
  }
  return {};
}

}  // namespace

// A sparse product in separate ops: rows of one end of the edges are read, written, and added to
// rows of the other end. Ops between that compute on the written rows are the fault; a lookup and
// an addition alone are the library's own form of it, and a sparse product is another choice.
std::vector<Finding> scattered_messages(const PatternInput& in) {
  constexpr double kForCertain = 0.3;  // of the time: messages are neither written nor read again
  MatchedCalls found;
  double limit = 0, certain = 0;
  size_t times = 0;
  std::string chain;
  for (size_t i = 0; i < in.calls().size(); ++i) {
    const AssessedCall& call = in.calls()[i];
    if (!in.has(call, Role::kAtomic)) continue;
    const OpView& view = in.view(call);
    const ArgValue *target = view.tensor(0), *source = nullptr;
    for (size_t n = 1; view.tensor(n) != nullptr; ++n)
      if (view.tensor(n)->type == (target != nullptr ? target->type : "")) source = view.tensor(n);
    if (target == nullptr || source == nullptr) continue;
    const auto begin = gather_before(in, i, elements_of(*source));
    if (!begin) continue;
    std::string ops;
    double chained = 0;
    bool computes = false;
    for (size_t k = *begin; k <= i; ++k) {
      const AssessedCall& part = in.calls()[k];
      found.add(part, false);
      chained += seconds_of(part.time) * part.assessed->counted;
      computes =
          computes || (k > *begin && k < i && reads_elements(in.view(part), elements_of(*source)));
      std::string_view name = in.calls()[k].assessed->group->key.name;
      name.remove_prefix(name.starts_with("aten::") ? 6 : 0);
      ops += (ops.empty() ? "" : " → ") + std::string(name);
    }
    if (chain.empty()) chain = ops;
    if (computes) certain += kForCertain * chained;
    if (in.memory_rate())
      limit +=
          (bytes_of(*source).value_or(0) + 2 * bytes_of(*target).value_or(0)) / *in.memory_rate();
    ++times;
  }
  const double most = std::max(0.0, found.seconds() - limit) * found.counted_share();
  if (times == 0 || !is_noticeable(in, most)) return {};
  PatternText text{
      FindingKind::kFusibleChain, chain, "Rows are gathered, written out and added again: " + chain,
      fmt::format("{} gather rows by one index and add them by another, with {} of "
                  "time: a product with a sparse matrix in separate ops.",
                  per_step(in, times, "chain", "chains"), micros_text(nanos_from(found.seconds()))),
      Confidence::kMedium};
  const std::string least_when = certain > 0 ? "messages are not written to memory" : "";
  Finding finding = pattern_finding(
      in, std::move(text), found,
      {std::min(most, certain), most, least_when, "one sparse product at full bandwidth"});
  if (certain == 0) rate_pattern(finding, false);
  return {std::move(finding)};
}

namespace {

// By the names of the trace: most have none.
bool has_inverses(const EventStore& store) {
  for (size_t i = 0; i < store.text_count(); ++i) {
    const std::string_view text = store.text(StringId(i));
    if (text == "aten::inverse" || text.starts_with("aten::linalg_inv")) return true;
  }
  return false;
}

bool is_inverse(const PatternInput& in, const AssessedCall& call) {
  return in.any_around(call.op->event, "aten::linalg_inv*") ||
         in.any_around(call.op->event, "aten::inverse");
}

}  // namespace

std::vector<Finding> explicit_inverses(const PatternInput& in) {
  constexpr size_t kNext = 6;
  constexpr int64_t kFew = 4;  // columns, of those of the matrix
  // A factorization by LU is a third of the arithmetic of an inverse, one by Cholesky a sixth.
  constexpr double kByLu = 2.0 / 3, kByCholesky = 5.0 / 6;
  if (!has_inverses(in.store())) return {};
  const std::vector<AssessedCall>& calls = in.calls();
  MatchedCalls found;
  size_t inverses = 0;
  for (size_t begin = 0; begin < calls.size(); ++begin) {
    if (!is_inverse(in, calls[begin])) continue;
    size_t end = begin;
    int64_t n = 0;
    while (end < calls.size() && in.same_thread(calls[begin], calls[end]) &&
           is_inverse(in, calls[end])) {
      for (const ArgValue& value : in.view(calls[end]).args.inputs)
        if (value.is_tensor()) n = std::max(n, value.shape.dims.back());
      ++end;
    }
    bool multiplied = false;
    for (size_t i = end; i < std::min(calls.size(), end + kNext) && !multiplied; ++i) {
      const auto& size = in.product(*calls[i].assessed);
      multiplied = size && in.same_thread(calls[begin], calls[i]) && size->k == n &&
                   ((size->m == n && size->n <= n / kFew) || (size->n == n && size->m <= n / kFew));
    }
    if (multiplied) {
      ++inverses;
      for (size_t i = begin; i < end; ++i) found.add(calls[i], false);
    }
    begin = end;
  }
  if (found.empty() || !is_noticeable(in, kByCholesky * found.counted())) return {};
  PatternText text{FindingKind::kProductOrder,
                   std::string(ops_by_time(found.calls()).front()->group->key.name),
                   "A matrix is inverted to be multiplied with a few columns",
                   fmt::format("{} take {}; a product with far fewer columns follows.",
                               per_step(in, inverses, "inverse", "inverses"),
                               micros_text(nanos_from(found.seconds()))),
                   Confidence::kMedium};
  return {pattern_finding(in, std::move(text), found,
                          {kByLu * found.counted(), kByCholesky * found.counted(),
                           "a solve by LU at the rate of today", "a solve by Cholesky"},
                          Traits{"inverse"})};
}

}  // namespace fathom::patterns
