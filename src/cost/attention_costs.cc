// softmax(QKᵀ)V as one op, forwards and backwards.
#include <algorithm>

#include "cost/cost_functions.h"

namespace fathom::costs {
namespace {

struct Attention {
  const ArgValue *q, *k, *v;
  double batch, heads, kv_heads, queries, keys, width_qk, width_v;
  bool causal;
  const ElementType* type;

  // Pairs of a query and a key that meet. A causal mask begins at the first query and key.
  double pairs() const {
    if (!causal) return queries * keys;
    const double square = std::min(queries, keys);
    return square * square / 2 + std::max(0.0, queries - keys) * keys;
  }
  double flops() const { return 2 * batch * heads * pairs() * (width_qk + width_v); }
  double output_bytes() const { return batch * heads * queries * width_v * type->bytes(); }
};

std::optional<Attention> read_attention(const CostCall& call) {
  Attention a{call.tensor("q"), call.tensor("k"), call.tensor("v"), 1, 1, 1, 1, 1, 1, 1, false,
              nullptr};
  if (a.q == nullptr || a.k == nullptr || a.v == nullptr) return {};
  const auto &q = a.q->shape.dims, &k = a.k->shape.dims, &v = a.v->shape.dims;
  const size_t rank = q.size();
  if (rank < 3 || rank > 4 || k.size() != rank || v.size() != rank) return {};
  const bool heads_first = call.setting("layout", "bhsd") == "bhsd";
  const auto heads_at = [&](const std::vector<int64_t>& d) {
    return static_cast<double>(d[rank - (heads_first ? 3 : 2)]);
  };
  const auto length_at = [&](const std::vector<int64_t>& d) {
    return static_cast<double>(d[rank - (heads_first ? 2 : 3)]);
  };
  a.batch = rank == 4 ? static_cast<double>(q[0]) : 1;
  a.heads = heads_at(q);
  a.kv_heads = heads_at(k);
  a.queries = length_at(q);
  a.keys = length_at(k);
  a.width_qk = static_cast<double>(q.back());
  a.width_v = static_cast<double>(v.back());
  a.causal = call.is_true("causal");
  a.type = find_element_type(a.q->type);
  if (a.type == nullptr) return {};
  return a;
}

double operand_bytes(const Attention& a) {
  return distinct_bytes(*a.q).value_or(0) + distinct_bytes(*a.k).value_or(0) +
         distinct_bytes(*a.v).value_or(0);
}

std::vector<CostParam> attention_params(const CostCall& call, const Attention& a) {
  return {{"B", json_count(a.batch)},           {"N_Q", json_count(a.queries)},
          {"H_Q", json_count(a.heads)},         {"N_KV", json_count(a.keys)},
          {"H_KV", json_count(a.kv_heads)},     {"d_h_qk", json_count(a.width_qk)},
          {"d_h_v", json_count(a.width_v)},     {"dropout", json_decimal(call.concrete("dropout"))},
          {"causal", json_bool(a.causal)},      {"flash_impl", json_bool(call.has("flash"))},
          {"dtype_A_B", json_types({a.q, a.k})}};
}

}  // namespace

std::optional<Cost> attention(const CostCall& call) {
  const std::optional<Attention> a = read_attention(call);
  if (!a) return {};
  const ArgValue* mask = call.tensor("mask");
  Cost cost;
  cost.flops = a->flops();
  cost.bytes = operand_bytes(*a) + a->output_bytes() +
               (mask != nullptr ? distinct_bytes(*mask).value_or(0) : 0);
  cost.spec = spec_name("matrix", a->type);
  cost.params = attention_params(call, *a);
  return cost;
}

// Four products where the forward has two; flash attention computes QKᵀ again, which is a fifth.
std::optional<Cost> attention_backward(const CostCall& call) {
  const std::optional<Attention> a = read_attention(call);
  if (!a) return {};
  Cost cost;
  cost.flops = 2 * a->flops();
  if (call.has("flash")) cost.flops += 2 * a->batch * a->heads * a->pairs() * a->width_qk;
  // Reads Q, K, V, the output and its gradient; writes three gradients.
  cost.bytes = 2 * operand_bytes(*a) + 2 * a->output_bytes();
  cost.spec = spec_name("matrix", a->type);
  cost.params = attention_params(call, *a);
  return cost;
}

}  // namespace fathom::costs
