// Layers of experts: each token goes to a few of many small networks.
#include <algorithm>
#include <cmath>

#include "cost/cost_functions.h"

namespace fathom::costs {
namespace {

using Dims = std::vector<int64_t>;

struct Experts {
  double tokens = 0, chosen = 0, count = 0, hidden = 0, inner = 0;
  bool gated = true;

  double rows() const { return tokens * chosen; }
  double active() const { return active_experts(count, chosen, tokens); }
};

std::vector<CostParam> moe_params(const Experts& e, std::string types) {
  return {{"M", json_count(e.tokens)},    {"N", json_count(e.inner)},
          {"K", json_count(e.hidden)},    {"E", json_count(e.count)},
          {"topk", json_count(e.chosen)}, {"dtype_A_B", std::move(types)}};
}

// What each token chooses: the last size of an operand, or a number.
std::optional<double> chosen_experts(const CostCall& call) {
  if (const ArgValue* routes = call.tensor("topk")) {
    const Dims& dims = routes->shape.dims;
    return dims.size() < 2 ? std::nullopt : std::optional(size_at(dims, 1));
  }
  const std::optional<int64_t> number = call.integer("topk_count");
  return number ? std::optional(static_cast<double>(*number)) : std::nullopt;
}

// Up (and gate) E × N × H, down E × H × I. Four-bit weights lie two in a byte: H is then twice as
// large in the one as in the other.
std::optional<Experts> read_experts(const CostCall& call) {
  const ArgValue *in = call.tensor("in"), *w1 = call.tensor("w1"), *w2 = call.tensor("w2");
  const std::optional<double> chosen = chosen_experts(call);
  const ArgValue* any = w2 != nullptr ? w2 : w1;
  if (in == nullptr || any == nullptr || !chosen || *chosen < 1 || in->shape.dims.size() < 2)
    return {};
  for (const ArgValue* weights : {w1, w2}) {
    if (weights != nullptr && weights->shape.dims.size() != 3) return {};
  }
  Experts e;
  e.tokens = size_at(in->shape.dims, 0);
  e.chosen = *chosen;
  e.count = size_at(any->shape.dims, 0);
  const std::string_view stage = call.setting("stage", "both");
  e.hidden = w2 != nullptr ? size_at(w2->shape.dims, 1) : last_of(in->shape.dims);
  const double stored = w1 != nullptr ? last_of(w1->shape.dims) : e.hidden;
  const double packing = stored > 0 ? std::max(1.0, std::floor(e.hidden / stored)) : 1;
  if (stage == "down") {
    e.inner = last_of(in->shape.dims) * packing;
  } else if (w2 != nullptr) {
    e.inner = last_of(w2->shape.dims) * packing;
  } else if (const ArgValue* out = call.tensor("out")) {
    e.inner = last_of(out->shape.dims);
  }
  e.gated = w1 != nullptr && size_at(w1->shape.dims, 1) == 2 * e.inner;
  if (e.inner <= 0 || e.hidden <= 0 || e.chosen > e.count) return {};
  return e;
}

}  // namespace

// stage: both, up or down.
std::optional<Cost> moe(const CostCall& call) {
  const std::optional<Experts> e = read_experts(call);
  if (!e) return {};
  const std::string_view stage = call.setting("stage", "both");
  const ArgValue *in = call.tensor("in"), *w1 = call.tensor("w1"), *w2 = call.tensor("w2"),
                 *out = call.tensor("out");
  const ElementType* in_type = find_element_type(in->type);
  const ElementType* out_type =
      out != nullptr ? find_element_type(out->type) : product_type(in_type);
  const bool up = stage != "down", down = stage != "up";
  if (in_type == nullptr || out_type == nullptr || (up && w1 == nullptr) ||
      (down && w2 == nullptr)) {
    return {};
  }
  const double matrices = (up ? (e->gated ? 2 : 1) : 0) + (down ? 1 : 0);
  double weights = 0;  // as they lie in memory, packed or not
  for (const ArgValue* each : {up ? w1 : nullptr, down ? w2 : nullptr}) {
    if (each == nullptr) continue;
    const std::optional<double> bytes = distinct_bytes(*each);
    if (!bytes) return {};
    weights += *bytes;
  }
  Cost cost;
  cost.flops = 2 * e->rows() * e->hidden * e->inner * matrices;
  cost.bytes = distinct_bytes(*in).value_or(0) + weights * e->active() / e->count +
               (down ? e->tokens * e->hidden : e->rows() * e->inner) * out_type->bytes();
  const ArgValue* weight = up ? w1 : w2;
  cost.spec = spec_name("matrix", in_type);
  cost.params = moe_params(*e, json_types({in, weight}));
  cost.assumption = "tokens choose experts evenly";
  return cost;
}

namespace {

// TensorRT-LLM's kernels name what they multiply: bmm_Bfloat16_MxE2m1MxE4m3_Fp32_… is weights of
// four bits with activations of eight, both in blocks of 32 with a scale.
struct KernelTypes {
  double weight_bytes = 0;
  std::string_view spec;
};

std::optional<KernelTypes> types_in_kernels(const CostCall& call) {
  struct Known {
    std::string_view word, spec;
    int bits;
  };
  static constexpr Known kKnown[] = {{"E2m1", "matrix_fp4", 4},
                                     {"E4m3", "matrix_fp8", 8},
                                     {"Bfloat16", "matrix_bf16", 16},
                                     {"Fp16", "matrix_fp16", 16}};
  for (const LaunchedKernel& kernel : call.kernels()) {
    if (!kernel.name.starts_with("bmm_")) continue;
    std::string_view factors = kernel.name.substr(4);
    factors.remove_prefix(std::min(factors.find('_'), factors.size() - 1) + 1);
    factors = factors.substr(0, factors.find('_'));
    const Known *narrow = nullptr, *wide = nullptr;
    for (const Known& each : kKnown) {
      if (factors.find(each.word) == std::string_view::npos) continue;
      if (narrow == nullptr) narrow = &each;
      wide = &each;
    }
    if (narrow == nullptr) continue;
    const double scale =
        factors.find("Mx" + std::string(narrow->word)) != std::string_view::npos ? 1.0 / 32 : 0;
    return KernelTypes{narrow->bits / 8.0 + scale, wide->spec};
  }
  return {};
}

// The buffers that were allocated tell what no argument does: tokens × chosen experts, and
// (padded) rows × inner size.
void read_buffers(const CostCall& call, Experts& e) {
  std::vector<Dims> buffers;
  for (const CalledOp& op : call.below()) {
    if (op.name != "aten::empty" || op.args.inputs.empty()) continue;
    const auto sizes = read_int_list(op.args.inputs[0].concrete);
    if (sizes && sizes->size() == 2) buffers.push_back(*sizes);
  }
  for (const Dims& b : buffers) {
    const double last = last_of(b);
    if (size_at(b, 0) != e.tokens || last < 1 || last >= e.count || last == e.hidden) continue;
    e.chosen = e.chosen == 0 ? last : std::min(e.chosen, last);
  }
  double as_wide = 0;
  for (const Dims& b : buffers) {
    if (e.chosen == 0 || size_at(b, 0) < e.rows() || size_at(b, 0) == e.tokens) continue;
    const double last = last_of(b);
    if (last == e.hidden) {
      ++as_wide;
    } else if (last > 0) {
      e.inner = e.inner == 0 ? last : std::min(e.inner, last);
    }
  }
  if (e.inner == 0 && as_wide >= 2) e.inner = e.hidden;
}

}  // namespace

// Hidden states M × H and router logits M × E; the weights are no arguments. Where an op below has
// them, it tells the cost; else the buffers and kernels do.
std::optional<Cost> moe_layer(const CostCall& call) {
  for (const CalledOp& op : call.below()) {
    const CostRow* row = find_cost_row(op.name);
    if (row == nullptr || row->function != "moe") continue;
    CostQuestion inner;
    inner.op = op.name;
    inner.args = &op.args;
    return moe(CostCall(inner, *row, op.args));
  }
  const ArgValue *hidden = call.tensor("hidden"), *logits = call.tensor("logits");
  const ElementType* type = hidden != nullptr ? find_element_type(hidden->type) : nullptr;
  if (type == nullptr || logits == nullptr || hidden->shape.dims.size() != 2 ||
      logits->shape.dims.size() != 2) {
    return {};
  }
  Experts e;
  e.tokens = size_at(hidden->shape.dims, 0);
  e.hidden = last_of(hidden->shape.dims);
  e.count = last_of(logits->shape.dims);
  read_buffers(call, e);
  if (e.chosen == 0 || e.inner == 0) return {};
  const std::optional<KernelTypes> types = types_in_kernels(call);
  const double matrices = 3, weight_bytes = types ? types->weight_bytes : type->bytes();
  Cost cost;
  cost.flops = 2 * e.rows() * e.hidden * e.inner * matrices;
  cost.bytes = 2 * e.tokens * e.hidden * type->bytes() + distinct_bytes(*logits).value_or(0) +
               e.active() * matrices * e.hidden * e.inner * weight_bytes;
  cost.spec = types ? std::string(types->spec) : spec_name("matrix", type);
  cost.params = moe_params(e, json_types({hidden, logits}));
  cost.assumption = types ? "sizes from the buffers below; gated; tokens choose experts evenly"
                          : "sizes from the buffers below; gated; tokens choose experts evenly; "
                            "weights of the activations' type";
  return cost;
}

}  // namespace fathom::costs
