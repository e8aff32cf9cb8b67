// softmax(QKᵀ)V as one op, forwards and backwards.
#include <algorithm>

#include "cost/cost_functions.h"

namespace fathom::costs {
namespace {

struct Attention {
  const ArgValue *q = nullptr, *k = nullptr, *v = nullptr;
  double batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1, width_qk = 1, width_v = 1;
  bool causal = false, causal_end = false;
  const ElementType* type = nullptr;
  std::string_view assumption;

  // Pairs of a query and a key that meet. A causal mask begins at the first query and key, or, for
  // flash-attn, ends at the last ones.
  double pairs() const {
    if (!causal) return queries * keys;
    const double square = std::min(queries, keys);
    const double beside =
        causal_end ? std::max(0.0, keys - queries) * queries : std::max(0.0, queries - keys) * keys;
    return square * square / 2 + beside;
  }
  double flops() const { return 2 * batch * heads * pairs() * (width_qk + width_v); }
  double output_bytes() const {
    return batch * heads * queries * width_v * product_type(type)->bytes();
  }
};

// Operands whose presence means that lengths are in memory, where no trace shows them.
bool lengths_are_hidden(const CostCall& call) {
  return std::ranges::any_of(call.tensors("unknown_with"), &ArgValue::is_tensor);
}

// Sequences one after the other in one dimension: B + 1 offsets tell how many.
bool split_sequences(const CostCall& call, Attention& a) {
  const ArgValue* offsets = call.tensor("sequences");
  if (offsets == nullptr) return true;
  const double sequences = count_of(offsets->shape.dims) - 1;
  if (sequences < 1) return false;
  a.batch = sequences;
  a.queries /= sequences;
  a.keys /= sequences;
  if (sequences > 1) a.assumption = "sequences of one length";
  return true;
}

std::optional<Attention> read_attention(const CostCall& call) {
  Attention a;
  a.q = call.tensor("q");
  a.k = call.tensor("k");
  a.v = call.tensor("v");
  if (a.q == nullptr || a.k == nullptr || a.v == nullptr || lengths_are_hidden(call)) return {};
  const auto &q = a.q->shape.dims, &k = a.k->shape.dims, &v = a.v->shape.dims;
  const size_t rank = q.size();
  if (rank < 3 || k.size() != rank || v.size() != rank) return {};
  const bool heads_first = call.setting("layout", "bhsd") == "bhsd";
  const auto from_end = [rank](const std::vector<int64_t>& dims, size_t place) {
    return static_cast<double>(dims[rank - place]);
  };
  a.batch = count_of({q.begin(), q.end() - 3});
  a.heads = from_end(q, heads_first ? 3 : 2);
  a.kv_heads = from_end(k, heads_first ? 3 : 2);
  a.queries = from_end(q, heads_first ? 2 : 3);
  a.keys = from_end(k, heads_first ? 2 : 3);
  a.width_qk = last_of(q);
  a.width_v = last_of(v);
  const bool is_end_mask = call.concrete("causal") == "2";  // of efficient attention's masks
  a.causal = call.is_true("causal") || is_end_mask;
  a.causal_end = call.has("causal_end") || is_end_mask;
  a.type = find_element_type(a.q->type);
  if (a.type == nullptr || !split_sequences(call, a)) return {};
  return a;
}

std::optional<double> operand_bytes(const Attention& a) {
  const auto q = distinct_bytes(*a.q), k = distinct_bytes(*a.k), v = distinct_bytes(*a.v);
  return q && k && v ? std::optional(*q + *k + *v) : std::nullopt;
}

std::vector<CostParam> attention_params(const CostCall& call, const Attention& a) {
  return {{"B", json_count(a.batch)},           {"N_Q", json_count(a.queries)},
          {"H_Q", json_count(a.heads)},         {"N_KV", json_count(a.keys)},
          {"H_KV", json_count(a.kv_heads)},     {"d_h_qk", json_count(a.width_qk)},
          {"d_h_v", json_count(a.width_v)},     {"dropout", json_decimal(call.concrete("dropout"))},
          {"causal", json_bool(a.causal)},      {"flash_impl", json_bool(call.has("flash"))},
          {"dtype_A_B", json_types({a.q, a.k})}};
}

// What forward and backward have in common: masks, arithmetic, parameters.
Cost completed(Cost cost, const CostCall& call, const Attention& a) {
  for (const ArgValue* mask : call.tensors("mask")) {
    cost.bytes += distinct_bytes(*mask).value_or(0);
  }
  cost.spec = spec_name("matrix", a.type);
  cost.params = attention_params(call, a);
  cost.assumption = a.assumption;
  return cost;
}

}  // namespace

std::optional<Cost> attention(const CostCall& call) {
  const std::optional<Attention> a = read_attention(call);
  const std::optional<double> operands = a ? operand_bytes(*a) : std::nullopt;
  if (!operands) return {};
  Cost cost;
  cost.flops = a->flops();
  cost.bytes = *operands + a->output_bytes();
  return completed(std::move(cost), call, *a);
}

// Four products where the forward has two; flash attention computes QKᵀ again, which is a fifth.
std::optional<Cost> attention_backward(const CostCall& call) {
  const std::optional<Attention> a = read_attention(call);
  const std::optional<double> operands = a ? operand_bytes(*a) : std::nullopt;
  if (!operands) return {};
  Cost cost;
  cost.flops = 2 * a->flops();
  if (call.has("flash")) cost.flops += 2 * a->batch * a->heads * a->pairs() * a->width_qk;
  // Reads Q, K, V, the output and its gradient; writes three gradients.
  cost.bytes = 2 * *operands + 2 * a->output_bytes();
  return completed(std::move(cost), call, *a);
}

}  // namespace fathom::costs
