// Ops that took a slower way than the program needs: attention with a full mask, products of
// widened operands, additions in a fixed order, padding by a copy.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "base/count_text.h"

namespace fathom::patterns {
namespace {

// What the op needs at least with other arguments; none: unknown.
std::optional<double> seconds_with(const PatternInput& in, std::string_view op,
                                   const OpArgs& args) {
  CostQuestion question;
  question.op = op;
  question.args = &args;
  const std::optional<Cost> cost = cost_of(question);
  const auto bound = cost ? bound_of(*cost, in.assessment().platform()) : std::nullopt;
  return bound ? std::optional(bound->seconds()) : std::nullopt;
}

// The arguments with a causal mask in place of a full one, where that is possible: one mask for all
// sequences and heads, as many queries as keys.
std::optional<OpArgs> as_causal(OpArgs args) {
  constexpr size_t kMask = 3;
  constexpr int64_t kShortest = 256;
  const ArgValue* mask = args.at(kMask);
  if (mask == nullptr || mask->shape.dims.size() < 2) return {};
  const std::vector<int64_t>& dims = mask->shape.dims;
  const int64_t queries = dims[dims.size() - 2], keys = dims.back();
  if (queries != keys || keys < kShortest) return {};
  if (element_count(dims).value_or(0) != queries * keys) return {};
  args.inputs[kMask] = {};
  return args;
}

}  // namespace

std::vector<Finding> full_masks(const PatternInput& in) {
  constexpr double kOfCausal = 0.5;  // of the scores are computed
  MatchedCalls found;
  double most = 0;
  size_t masks = 0;
  for (const AssessedCall& call : in.calls()) {
    if (call.assessed->category != "sdpa_fwd") {
      // The mask's cast in front of the kernel.
      if (is_pointwise(*call.assessed) && in.around(call.op->event, Role::kAttention)) {
        found.add(call, false);
        most += seconds_of(call.time) * call.assessed->counted;
      }
      continue;
    }
    const std::string_view name = call.assessed->group->key.name;
    const auto causal = as_causal(in.view(call).args);
    const auto bound = causal ? seconds_with(in, name, *causal) : std::nullopt;
    if (!bound) continue;
    const double now = seconds_of(call.time);
    found.add(call, false);
    most += (now - std::min(now, *bound * kOfCausal)) * call.assessed->counted;
    ++masks;
  }
  if (masks == 0 || !is_noticeable(in, most)) return {};
  PatternText text{
      FindingKind::kFullMask, "scaled_dot_product_attention",
      "Attention reads a full mask, the same for all sequences and heads",
      fmt::format("{} with a mask of queries by keys take {}. The kernel reads the "
                  "mask and skips nothing; a causal one needs no mask.",
                  per_step(in, masks, "call", "calls"), micros_text(nanos_from(found.seconds()))),
      Confidence::kMedium};
  return {pattern_finding(in, std::move(text), found,
                          {0, most, "", "is_causal=True at 100 % of achievable"})};
}

namespace {

bool is_product(const AssessedOp& op) {
  return op.category == "gemm" || op.category == "sdpa_fwd" || op.category == "convolution";
}

// Casts from 16 to 32 bits right before a product whose operands they make; in the order of calls.
std::vector<size_t> widened_operands(const PatternInput& in, size_t place) {
  constexpr size_t kBefore = 8;
  std::vector<size_t> casts;
  const AssessedCall& product = in.calls()[place];
  for (size_t i = place - std::min(place, kBefore); i < place; ++i) {
    const AssessedCall& call = in.calls()[i];
    if (is_product(*call.assessed)) casts.clear();
    if (!in.has(call, Role::kCopy) || !in.same_thread(call, product)) continue;
    const ArgValue *to = in.view(call).tensor(0), *from = in.view(call).tensor(1);
    if (to == nullptr || from == nullptr || !is_float_type(*to, 32) || !is_float_type(*from, 16))
      continue;
    const auto& inputs = in.view(product).args.inputs;
    const bool is_operand = std::ranges::any_of(inputs, [&](const ArgValue& value) {
      return value.type == to->type && elements_of(value) == elements_of(*to);
    });
    if (is_operand) casts.push_back(i);
  }
  return casts;
}

std::optional<double> narrow_seconds(const PatternInput& in, const AssessedCall& call) {
  OpArgs args = in.view(call).args;
  for (ArgValue& value : args.inputs)
    if (is_float_type(value, 32)) value.type = "c10::BFloat16";
  return seconds_with(in, call.assessed->group->key.name, args);
}

}  // namespace

// Products on the vector units are told by wide_products.
std::vector<Finding> widened_products(const PatternInput& in) {
  constexpr double kReached = 0.4;
  MatchedCalls found;
  double least = 0, most = 0;
  size_t products = 0;
  for (size_t i = 0; i < in.calls().size(); ++i) {
    const AssessedCall& call = in.calls()[i];
    if (!is_product(*call.assessed) || !in.view(call).has_float || in.view(call).has_half) continue;
    const std::vector<size_t> casts = widened_operands(in, i);
    const auto narrow = casts.empty() ? std::nullopt : narrow_seconds(in, call);
    if (!narrow) continue;
    const double now = seconds_of(call.time);
    found.add(call, false);
    least += (now - std::min(now, *narrow / kReached)) * call.assessed->counted;
    most += (now - std::min(now, *narrow)) * call.assessed->counted;
    for (const size_t cast : casts) {
      const AssessedCall& copy = in.calls()[cast];
      const double saved = seconds_of(copy.time) * copy.assessed->counted;
      found.add(copy, false);
      least += saved;
      most += saved;
    }
    ++products;
  }
  if (products == 0 || !is_noticeable(in, most)) return {};
  Traits traits;
  traits.add("widened");
  PatternText text{FindingKind::kWideProducts,
                   std::string(ops_by_time(found.calls()).front()->group->key.name),
                   "Operands of 16 bits are widened to FP32 for a product",
                   fmt::format("{} with operands that were cast from 16 bits right before take {} "
                               "with the casts. The matrix units add up in FP32 anyway.",
                               per_step(in, products, "product", "products"),
                               micros_text(nanos_from(found.seconds()))),
                   Confidence::kMedium};
  return {pattern_finding(in, std::move(text), found,
                          {least, most, "16 bits at 40 % of achievable, no casts",
                           "16 bits at 100 % of achievable, no casts"},
                          traits)};
}

namespace {

// Attention of as many queries as keys, whose number grows by one from call to call of the same
// layer: places in calls(), and the number.
std::vector<std::pair<size_t, int64_t>> growing_prefix(const PatternInput& in) {
  constexpr size_t kRounds = 3;
  std::vector<std::pair<size_t, int64_t>> found;
  size_t rounds = 0;
  for (size_t i = 0; i < in.calls().size(); ++i) {
    const AssessedCall& call = in.calls()[i];
    if (call.assessed->category != "sdpa_fwd") continue;
    const ArgValue *q = in.view(call).tensor(0), *k = in.view(call).tensor(1);
    if (q == nullptr || k == nullptr || q->shape.dims.size() != 4) continue;
    const int64_t length = q->shape.dims[2];
    if (k->shape.dims.size() != 4 || k->shape.dims[2] != length) continue;
    const bool grows = !found.empty() && length == found.back().second + 1;
    const bool goes_on = grows || (!found.empty() && length == found.back().second);
    // Another sequence begins: what was found stays, where it was long enough.
    if (!goes_on && rounds >= kRounds) break;
    if (!goes_on) found.clear();
    rounds = goes_on ? rounds + grows : 1;
    found.emplace_back(i, length);
  }
  return rounds >= kRounds ? found : decltype(found){};
}

}  // namespace

// Decoding without a cache of keys and values.
std::vector<Finding> recomputed_prefixes(const PatternInput& in) {
  if (in.has_backward()) return {};
  const auto prefix = growing_prefix(in);
  if (prefix.empty()) return {};
  MatchedCalls found;
  double most = 0;
  size_t at = 0;
  for (size_t i = prefix.front().first; i <= prefix.back().first; ++i) {
    while (at + 1 < prefix.size() && prefix[at + 1].first <= i) ++at;
    const AssessedCall& call = in.calls()[i];
    const int64_t length = prefix[at].second;
    const auto reads_all = [length](const ArgValue& value) {
      return value.is_tensor() && std::ranges::any_of(value.shape.dims, [length](int64_t dim) {
               return dim >= length && length > 1 && dim % length == 0;
             });
    };
    const ArgValue* first = in.view(call).tensor(0);
    if (first == nullptr || !reads_all(*first)) continue;
    found.add(call, false);
    most += seconds_of(call.time) * call.assessed->counted * (1 - 1 / static_cast<double>(length));
  }
  if (found.empty()) return {};
  Traits traits;
  traits.add("no_cache");
  PatternText text{FindingKind::kRecompute, "scaled_dot_product_attention",
                   "The whole sequence is computed again for each token",
                   fmt::format("Attention runs over {} to {} tokens, one more in each round, with "
                               "as many queries as keys: nothing is kept of the rounds before.",
                               prefix.front().second, prefix.back().second),
                   Confidence::kMedium};
  return {pattern_finding(in, std::move(text), found,
                          {0, most, "", "only the new token is computed"}, traits)};
}

// index_put_ with accumulate, and index_add_ where deterministic algorithms are asked for.
std::vector<Finding> sorted_additions(const PatternInput& in) {
  constexpr std::string_view kSorted[] = {"indexing_backward"};
  std::map<CallId, std::vector<const AssessedCall*>> ops;  // by the outermost op
  std::map<CallId, bool> is_sorted;
  for (const AssessedCall& call : in.calls()) {
    const auto op = in.around(call.op->event, Role::kAtomic);
    if (!op) continue;
    CallId outermost = *op;
    for (CallId up = in.tree().parent(outermost); up.valid(); up = in.tree().parent(up)) {
      if (in.around(in.tree().event(up), Role::kAtomic) != up) break;
      outermost = up;
    }
    ops[outermost].push_back(&call);
    is_sorted[outermost] = is_sorted[outermost] || in.any_kernel(*call.op, kSorted);
  }
  MatchedCalls found;
  double most = 0;
  size_t times = 0, deterministic = 0;
  for (const auto& [op, calls] : ops) {
    if (!is_sorted[op]) continue;
    ++times;
    deterministic += in.store().name(in.tree().event(op)).starts_with("aten::index_add");
    for (const AssessedCall* call : calls) {
      const auto& bound = call->assessed->bound;
      found.add(*call, false);
      most += (seconds_of(call->time) - (bound ? bound->seconds() : 0)) * call->assessed->counted;
    }
  }
  if (times == 0 || !is_noticeable(in, most)) return {};
  Traits traits;
  if (deterministic > 0) traits.add("deterministic");
  PatternText text{
      FindingKind::kSortedAdditions,
      std::string(ops_by_time(found.calls()).front()->group->key.name),
      "Rows are sorted before they are added, for a fixed order",
      fmt::format("{} that sort their indices and add rows one after the other take "
                  "{}.",
                  per_step(in, times, "call", "calls"), micros_text(nanos_from(found.seconds()))),
      Confidence::kMedium};
  return {pattern_finding(in, std::move(text), found,
                          {0, std::max(0.0, most), "", "atomic additions at full bandwidth"},
                          traits)};
}

namespace {

// Whether a call is part of a padding by zeros, which convolutions can do themselves.
bool pads_with_zeros(const PatternInput& in, const AssessedCall& call) {
  constexpr size_t kValue = 2;  // the argument's place
  constexpr int kDepth = 16;
  CallId c = in.tree().call(call.op->event);
  for (int i = 0; i < kDepth && c.valid(); ++i, c = in.tree().parent(c)) {
    const EventId event = in.tree().event(c);
    if (in.store().name(event) != "aten::constant_pad_nd") continue;
    const auto args = read_op_args(in.store(), in.store().args_id(event));
    const ArgValue* value = args ? args->at(kValue) : nullptr;
    if (value == nullptr || value->concrete.empty()) return true;  // the default
    return value->concrete.find_first_not_of("0.-") == std::string::npos;
  }
  return false;
}

}  // namespace

std::vector<Finding> padding_copies(const PatternInput& in) {
  constexpr size_t kNext = 2, kRepeated = 2;
  MatchedCalls found;
  std::vector<const AssessedCall*> open;  // of paddings that no convolution has read yet
  size_t since = 0, paddings = 0;
  for (const AssessedCall& call : in.calls()) {
    const bool moves = in.has(call, Role::kCopy) || in.has(call, Role::kFill);
    if (moves && pads_with_zeros(in, call)) {
      if (since > 0) open.clear();
      since = 0;
      open.push_back(&call);
    } else if (!open.empty() && ++since <= kNext && call.assessed->category == "convolution") {
      for (const AssessedCall* part : open) found.add(*part, false);
      ++paddings;
      open.clear();
    }
  }
  const double saved = found.counted();
  if (paddings < kRepeated * in.steps() || !is_noticeable(in, saved)) return {};
  PatternText text{FindingKind::kPaddingCopies, "aten::constant_pad_nd",
                   "Images are copied into padded ones before convolutions",
                   fmt::format("{} fill and copy for {}. A convolution reads a border of zeros "
                               "without it being there.",
                               per_step(in, paddings, "padding", "paddings"),
                               micros_text(nanos_from(found.seconds()))),
                   Confidence::kHigh};
  return {pattern_finding(in, std::move(text), found,
                          {saved, saved, "", "the convolution's own padding"})};
}

namespace {

// The dimension that an op goes along, where its argument tells; the place of that argument.
std::optional<size_t> dimension_argument(std::string_view op) {
  op = op.substr(0, op.find("->"));  // a kernel of its own, beside those of ops below
  if (op == "aten::_softmax" || op == "aten::_log_softmax" || op == "aten::cumsum" ||
      op == "aten::cumprod" || op == "aten::logcumsumexp")
    return 1;
  if (op == "aten::_softmax_backward_data" || op == "aten::_log_softmax_backward_data") return 2;
  return {};
}

// Elements between neighbours along that dimension; 1 where it is the last.
int64_t distance_along(const PatternInput& in, const AssessedCall& call) {
  const auto place = dimension_argument(call.assessed->group->key.name);
  const ArgValue* argument = place ? in.view(call).args.at(*place) : nullptr;
  const ArgValue* tensor = in.view(call).tensor(0);
  if (argument == nullptr || tensor == nullptr) return 1;
  int64_t dimension = 0;
  const std::string& text = argument->concrete;
  if (std::from_chars(text.data(), text.data() + text.size(), dimension).ec != std::errc{})
    return 1;
  const std::vector<int64_t>& dims = tensor->shape.dims;
  if (dimension < 0) dimension += std::ssize(dims);
  if (dimension < 0 || dimension >= std::ssize(dims)) return 1;
  // Where the trace has strides, they tell: channels_last has the channels innermost.
  const std::vector<int64_t>& strides = tensor->shape.strides;
  if (strides.size() == dims.size()) return strides[static_cast<size_t>(dimension)];
  return element_count({dims.begin() + dimension + 1, dims.end()}).value_or(1);
}

}  // namespace

std::vector<Finding> strided_reductions(const PatternInput& in) {
  constexpr double kSlow = 0.4, kReached = 0.6;
  MatchedCalls found;
  double least = 0, most = 0;
  int64_t distance = 1;
  for (const AssessedCall& call : in.calls()) {
    const int64_t along = distance_along(in, call);
    if (along <= 1 || !in.memory_rate()) continue;
    // Its first tensor read, and as much written.
    const double once = bytes_of(*in.view(call).tensor(0)).value_or(0) / *in.memory_rate();
    const double now = seconds_of(call.time);
    const double needed = call.assessed->bound ? call.assessed->bound->seconds() : 2 * once;
    if (needed <= 0 || needed > kSlow * now) continue;
    least += std::max(0.0, now - needed / kReached) * call.assessed->counted;
    most += std::max(0.0, now - needed) * call.assessed->counted;
    distance = std::max(distance, along);
    found.add(call, false);
  }
  if (found.empty() || !is_noticeable(in, most)) return {};
  const std::string_view longest = ops_by_time(found.calls()).front()->group->key.name;
  const std::string op(longest.substr(0, longest.find("->")));
  PatternText text{FindingKind::kStridedReduction, op,
                   op + " goes along a dimension that is not the last",
                   fmt::format("{} take {}: neighbours along the dimension are {} elements apart "
                               "in memory.",
                               per_step(in, found.size(), "call", "calls"),
                               micros_text(nanos_from(found.seconds())), distance),
                   Confidence::kMedium};
  return {pattern_finding(in, std::move(text), found,
                          {least, most, "along the last dimension, at 60 % of the bandwidth",
                           "along the last dimension, at full bandwidth"})};
}

}  // namespace fathom::patterns
