// Attention that could be one kernel: the math path of the op, and keys copied for each query head.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "base/count_text.h"

namespace fathom::patterns {
namespace {

constexpr std::string_view kFusedKernels[] = {"flash",     "fmha",       "sdpa", "attn",
                                              "Attention", "attention",  "mha_", "efficient",
                                              "ck_tile",   "_fwd_kernel"};

// A call of scaled_dot_product_attention with the work below it that is not one fused kernel.
struct MathCall {
  CallId op;  // the outermost call of it
  std::vector<const AssessedCall*> calls;
  bool named = false;  // by the name of the unfused path
};

std::vector<MathCall> find_math_calls(const PatternInput& in) {
  std::vector<MathCall> found;
  for (const AssessedCall& call : in.calls()) {
    constexpr int kLookedAt = 16;
    CallId at = in.tree().call(call.op->event), outermost;
    bool named = false;
    for (int i = 0; i < kLookedAt && at.valid(); ++i, at = in.tree().parent(at)) {
      const std::string_view name = in.store().name(in.tree().event(at));
      if (name.find("scaled_dot_product_attention") == std::string_view::npos) continue;
      named = named || name.find("attention_math") != std::string_view::npos;
      outermost = at;
    }
    if (!outermost.valid() || in.any_kernel(*call.op, kFusedKernels)) continue;
    // Calls below one op follow each other.
    if (found.empty() || found.back().op != outermost) found.push_back({outermost, {}, false});
    found.back().calls.push_back(&call);
    found.back().named = found.back().named || named;
  }
  return found;
}

bool has_product_and_softmax(const PatternInput& in, const MathCall& math) {
  bool product = false, softmax = false;
  for (const AssessedCall* call : math.calls) {
    product = product || call->assessed->category == "gemm";
    softmax = softmax || in.has(*call, Role::kSoftmax);
  }
  return product && softmax;
}

// What one fused kernel needs at least.
std::optional<double> fused_seconds(const PatternInput& in, const OpArgs& args) {
  CostQuestion question;
  question.op = "aten::scaled_dot_product_attention";
  question.args = &args;
  const std::optional<Cost> cost = cost_of(question);
  const auto bound = cost ? bound_of(*cost, in.assessment().platform()) : std::nullopt;
  return bound ? std::optional(bound->seconds()) : std::nullopt;
}

}  // namespace

std::vector<Finding> attention_math(const PatternInput& in) {
  constexpr double kReached = 0.6;
  const double floor = seconds_of(in.assessment().shortest_kernel());
  MatchedCalls found;
  double least = 0, most = 0;
  bool masked = false, wide = false;
  size_t times = 0;
  for (const MathCall& math : find_math_calls(in)) {
    if (!math.named && !has_product_and_softmax(in, math)) continue;
    const auto args = read_op_args(in.store(), in.store().args_id(in.tree().event(math.op)));
    if (!args || args->inputs.empty()) continue;
    MatchedCalls work;
    for (const AssessedCall* call : math.calls) work.add(*call);
    const double bound = fused_seconds(in, *args).value_or(work.seconds());
    const auto saved = [&](double seconds) {
      return (work.seconds() - std::min(work.seconds(), std::max(seconds, floor))) *
             work.counted_share();
    };
    least += saved(bound / kReached);
    most += saved(bound) + work.waited();
    ++times;
    for (const AssessedCall* call : math.calls) found.add(*call);
    masked = masked || (args->at(3) != nullptr && args->at(3)->is_tensor());
    wide = wide || is_float_type(args->inputs[0], 32);
  }
  if (found.empty() || !is_noticeable(in, most)) return {};
  Traits traits;
  if (masked) traits.add("dense_mask");
  if (!wide) traits.add("narrow_type");
  PatternText text{
      FindingKind::kAttentionMath, "scaled_dot_product_attention",
      "scaled_dot_product_attention uses its math path, not a fused kernel",
      fmt::format("{} as separate products and a softmax: {} in all.",
                  per_step(in, times, "call", "calls"), micros_text(nanos_from(found.seconds()))),
      Confidence::kHigh};
  return {pattern_finding(in, std::move(text), found,
                          {least, most, "a fused kernel at 60 % of achievable",
                           "a fused kernel at 100 % of achievable"},
                          traits)};
}

namespace {

// How often each element of the source is written: expand() repeats by a stride of zero.
int64_t repeats_of(const ArgValue& source) {
  int64_t repeats = 1;
  const ArgValue::Shape& shape = source.shape;
  if (shape.strides.size() != shape.dims.size()) return 1;
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    if (shape.strides[i] == 0 && shape.dims[i] > 1 && repeats < (int64_t{1} << 32)) {
      repeats *= shape.dims[i];
    }
  }
  return repeats;
}

// The elements of a copy that repeats heads: repeat_interleave, repeat, or a copy of an expanded
// tensor of four or more dimensions.
std::optional<int64_t> repeated_elements(const PatternInput& in, const AssessedCall& call) {
  const OpView& view = in.view(call);
  if (in.around(call.op->event, Role::kRepeat)) {
    int64_t most = 0;
    for (const ArgValue& value : view.args.inputs) {
      if (value.is_tensor()) most = std::max(most, elements_of(value));
    }
    return most > 0 ? std::optional(most) : std::nullopt;
  }
  if (!view.has(Role::kCopy)) return {};
  const ArgValue* source = view.tensor(1) != nullptr ? view.tensor(1) : view.tensor(0);
  if (source == nullptr || source->shape.dims.size() < 4 || repeats_of(*source) < 2) return {};
  return elements_of(*source);
}

// How often each of the elements was there before.
double repeat_factor(const PatternInput& in, const AssessedCall& call, int64_t elements) {
  if (const auto op = in.around(call.op->event, Role::kRepeat)) {
    const auto args = read_op_args(in.store(), in.store().args_id(in.tree().event(*op)));
    if (!args || args->inputs.empty() || elements_of(args->inputs[0]) < 1) return 1;
    return static_cast<double>(elements) / static_cast<double>(elements_of(args->inputs[0]));
  }
  const OpView& view = in.view(call);
  const ArgValue* source = view.tensor(1) != nullptr ? view.tensor(1) : view.tensor(0);
  return source != nullptr ? static_cast<double>(repeats_of(*source)) : 1;
}

// The call after it that reads keys or values of this size in attention.
std::optional<size_t> feeds_attention(const PatternInput& in, size_t place, int64_t elements) {
  constexpr size_t kNext = 12;
  for (size_t i = place + 1; i < std::min(in.calls().size(), place + 1 + kNext); ++i) {
    const AssessedCall& call = in.calls()[i];
    const OpView& view = in.view(call);
    const auto& product = in.product(*call.assessed);
    const bool attends = view.has(Role::kAttention) || call.assessed->category == "sdpa_fwd";
    if (!attends && !(product && product->batch > 1)) continue;
    const ArgValue *keys = view.tensor(1), *values = view.tensor(2);
    if (keys != nullptr && elements_of(*keys) == elements) return i;
    if (values != nullptr && elements_of(*values) == elements) return i;
  }
  return {};
}

}  // namespace

std::vector<Finding> repeated_keys(const PatternInput& in) {
  MatchedCalls found;
  std::map<size_t, double> readers;  // attention that reads what was repeated, and how often
  for (size_t i = 0; i < in.calls().size(); ++i) {
    const auto elements = repeated_elements(in, in.calls()[i]);
    const auto reader = elements ? feeds_attention(in, i, *elements) : std::nullopt;
    if (!reader) continue;
    found.add(in.calls()[i], false);
    readers[*reader] = std::max(readers[*reader], repeat_factor(in, in.calls()[i], *elements));
  }
  if (found.empty() || !is_noticeable(in, found.counted())) return {};
  // Attention that is bound by reading keys and values reads fewer of them.
  double reads = 0;
  for (const auto& [place, factor] : readers) {
    const AssessedCall& call = in.calls()[place];
    if (!call.assessed->bound || call.assessed->bound->is_compute() || factor <= 1) continue;
    reads += seconds_of(call.time) * call.assessed->counted * (1 - 1 / factor);
  }
  PatternText text{FindingKind::kRepeatedKeys,
                   std::string(ops_by_time(found.calls()).front()->group->key.name),
                   "Keys and values are copied for each query head before attention",
                   fmt::format("{} that repeat keys or values take {}.",
                               per_step(in, found.size(), "copy", "copies"),
                               micros_text(nanos_from(found.seconds()))),
                   Confidence::kHigh};
  Finding f = pattern_finding(in, std::move(text), found,
                              {found.counted(), found.counted() + reads, "no copies",
                               "no copies, and attention reads each key once"});
  for (const auto& [place, factor] : readers) {
    for (EventId kernel : in.calls()[place].op->kernels) cover_beside(f, kernel);
  }
  return {f};
}

}  // namespace fathom::patterns
