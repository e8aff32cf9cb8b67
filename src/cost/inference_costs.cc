// Attention as inference engines call it, with the keys in pages and the lengths in annotations;
// and the layers that take its place: linear attention, state spaces.
#include <algorithm>

#include "cost/cost_functions.h"
#include "cost/request_lengths.h"

namespace fathom::costs {
namespace {

using Dims = std::vector<int64_t>;

std::optional<BatchLengths> batch_lengths(const CostCall& call) {
  for (std::string_view annotation : call.annotations()) {
    if (auto lengths = read_batch_lengths(annotation)) return lengths;
  }
  return {};
}

struct PagedAttention {
  const ArgValue *q, *k, *v, *out;
  double heads, kv_heads, width_qk, width_v;
  const ElementType *q_type, *k_type, *out_type, *cache_type;
  bool stores;  // the op also stores the new keys and values

  double kv_width() const { return kv_heads * (width_qk + width_v); }
};

// The op below that stores keys and values tells of what type the pages are.
const ElementType* stored_type(const CostCall& call) {
  const std::optional<size_t> place = call.place("cache");
  for (const CalledOp& op : call.below()) {
    if (!place || op.name != call.setting("cache_op")) continue;
    const ArgValue* pages = op.args.at(*place);
    return pages != nullptr ? find_element_type(pages->type) : nullptr;
  }
  return nullptr;
}

std::optional<PagedAttention> read_paged_attention(const CostCall& call) {
  PagedAttention a{};
  a.q = call.tensor("q");
  a.k = call.tensor("k");
  a.v = call.tensor("v");
  a.out = call.tensor("out");
  if (a.q == nullptr || a.k == nullptr) return {};
  const Dims &q = a.q->shape.dims, &k = a.k->shape.dims;
  if (q.size() != 3 || k.size() < 3) return {};
  const auto heads_at =
      static_cast<size_t>(call.number("kv_heads_at", static_cast<double>(k.size() - 2)));
  if (heads_at >= k.size()) return {};
  a.heads = static_cast<double>(q[1]);
  a.kv_heads = static_cast<double>(k[heads_at]);
  a.width_qk = last_of(q);
  a.width_v = a.v != nullptr ? last_of(a.v->shape.dims) : a.width_qk;
  a.q_type = find_element_type(a.q->type);
  a.k_type = find_element_type(a.k->type);
  a.out_type = a.out != nullptr ? find_element_type(a.out->type) : product_type(a.q_type);
  const ElementType* stored = stored_type(call);
  a.stores = stored != nullptr;
  a.cache_type = a.stores ? stored : a.k_type;
  if (a.q_type == nullptr || a.k_type == nullptr || a.out_type == nullptr) return {};
  return a;
}

// A window bounds the keys of each query.
double within_window(const CostCall& call, double sum, double queries) {
  const std::optional<int64_t> window = call.integer("window");
  return window && *window > 0 ? std::min(sum, queries * static_cast<double>(*window)) : sum;
}

constexpr std::string_view kNoWindow = "no sliding window",
                           kEven = "requests of one length, no sliding window";

}  // namespace

// In the new tokens of a request only the past is seen, so a context's queries meet all keys but
// half of the new ones.
std::optional<Cost> inference_attention(const CostCall& call) {
  std::optional<BatchLengths> lengths = batch_lengths(call);
  const std::optional<PagedAttention> a = read_paged_attention(call);
  if (!lengths) return call.has("sequences") ? attention(call) : std::nullopt;
  if (!a) return {};
  if (call.setting("phase") == "generation") lengths->context = {};
  const RequestLengths &c = lengths->context, &g = lengths->generation;
  const double width = a->width_qk + a->width_v, queries = c.queries + g.queries;
  const double keys = c.keys + within_window(call, g.keys, g.queries);
  Cost cost;
  cost.flops =
      a->heads * width *
      (2 * c.queries_keys - c.queries_squared + 2 * within_window(call, g.queries_keys, g.queries));
  cost.bytes = queries * a->heads * a->width_qk * a->q_type->bytes() +
               queries * a->heads * a->width_v * a->out_type->bytes() +
               keys * a->kv_width() * a->cache_type->bytes();
  if (a->stores) {
    cost.bytes += queries * a->kv_width() * (a->k_type->bytes() + a->cache_type->bytes());
  }
  cost.spec = spec_name("matrix", a->q_type);
  cost.params = {{"B", json_count(c.requests + g.requests)},
                 {"N_Q", json_count(queries)},
                 {"H_Q", json_count(a->heads)},
                 {"N_KV", json_count(keys)},
                 {"H_KV", json_count(a->kv_heads)},
                 {"d_h_qk", json_count(a->width_qk)},
                 {"d_h_v", json_count(a->width_v)},
                 {"sum_ctx_tokens", json_count(c.queries)},
                 {"sum_gen_tokens", json_count(g.queries)},
                 {"dtype_A_B", json_types({a->q, a->k})}};
  if (!call.has("window")) cost.assumption = lengths->even_lengths ? kEven : kNoWindow;
  return cost;
}

// Each query with the keys that a list names for it; keys and values are one latent vector.
std::optional<Cost> sparse_attention(const CostCall& call) {
  const ArgValue *q = call.tensor("q"), *kv = call.tensor("kv");
  const ElementType *q_type = q != nullptr ? find_element_type(q->type) : nullptr,
                    *kv_type = kv != nullptr ? find_element_type(kv->type) : nullptr;
  if (q_type == nullptr || kv_type == nullptr || q->shape.dims.size() != 3) return {};
  double pairs = 0, index_bytes = 0;
  for (const ArgValue* indices : call.tensors("indices")) {
    pairs += count_of(indices->shape.dims);
    index_bytes += distinct_bytes(*indices).value_or(0);
  }
  const double queries = static_cast<double>(q->shape.dims[0]),
               heads = static_cast<double>(q->shape.dims[1]), width_qk = last_of(q->shape.dims);
  const std::optional<int64_t> told = call.integer("width_v");
  const double width_v = told ? static_cast<double>(*told) : width_qk;
  // A key that many queries name is read once at best.
  const double rows = count_of(kv->shape.dims) / std::max(1.0, last_of(kv->shape.dims));
  Cost cost;
  cost.flops = 2 * pairs * heads * (width_qk + width_v);
  cost.bytes =
      queries * heads * (width_qk * q_type->bytes() + width_v * product_type(q_type)->bytes()) +
      std::min(pairs, rows) * last_of(kv->shape.dims) * kv_type->bytes() + index_bytes;
  cost.spec = spec_name("matrix", q_type);
  cost.params = {{"N_Q", json_count(queries)},   {"H_Q", json_count(heads)},
                 {"N_KV", json_count(pairs)},    {"d_h_qk", json_count(width_qk)},
                 {"d_h_v", json_count(width_v)}, {"dtype_A_B", json_types({q, kv})}};
  cost.assumption = "the lists are full";
  return cost;
}

// The gated delta rule: a state of keys × values in each head is decayed (1 operation on each of
// its elements), asked for the key's value (2), corrected (2) and asked for the result (2).
std::optional<Cost> linear_attention(const CostCall& call) {
  const ArgValue *qkv = call.tensor("qkv"), *out = call.tensor("out");
  const ElementType* type = qkv != nullptr ? find_element_type(qkv->type) : nullptr;
  if (type == nullptr || out == nullptr || qkv->shape.dims.size() != 2 ||
      out->shape.dims.size() != 3) {
    return {};
  }
  const double tokens = static_cast<double>(qkv->shape.dims[0]),
               heads = static_cast<double>(out->shape.dims[1]), width_v = last_of(out->shape.dims);
  const double key_width = (last_of(qkv->shape.dims) - heads * width_v) / 2;  // of all key heads
  const double width_k = width_v;
  if (width_k <= 0 || key_width < width_k) return {};
  const double state = heads * width_k * width_v;
  Cost cost;
  cost.flops = 7 * tokens * state;
  cost.bytes = distinct_bytes(*qkv).value_or(0) + distinct_bytes(*out).value_or(0);
  for (std::string_view key : {"beta", "decay"}) {
    const ArgValue* gate = call.tensor(key);
    cost.bytes += gate != nullptr ? distinct_bytes(*gate).value_or(0) : 0;
  }
  cost.assumption = "key heads as wide as value heads, states not counted";
  if (const std::optional<BatchLengths> lengths = batch_lengths(call)) {
    const double requests = lengths->context.requests + lengths->generation.requests;
    cost.bytes += 2 * requests * state * type->bytes();
    cost.assumption = "key heads as wide as value heads, states of the operands' type";
  }
  cost.spec = spec_name("matrix", type);
  cost.params = {{"N_Q", json_count(tokens)},
                 {"H_Q", json_count(heads)},
                 {"d_h_qk", json_count(width_k)},
                 {"d_h_v", json_count(width_v)},
                 {"dtype_A_B", json_types({qkv, out})}};
  return cost;
}

// Mamba-2 in chunks: a short convolution, then in each chunk CBᵀ, its product with X, the chunk's
// state BᵀX, and what the state before gives, C·h. `in` holds z, x, B, C and dt side by side:
// 2 × inner + 2 × groups × state + heads; the convolution has those of x, B and C.
std::optional<Cost> state_space(const CostCall& call) {
  const ArgValue *in = call.tensor("in"), *weight = call.tensor("weight"),
                 *heads_of = call.tensor("heads");
  const ElementType* type = in != nullptr ? find_element_type(in->type) : nullptr;
  const std::optional<int64_t> chunk = call.integer("chunk"), groups = call.integer("groups");
  if (type == nullptr || weight == nullptr || heads_of == nullptr || !chunk || *chunk < 1 ||
      !groups || *groups < 1 || in->shape.dims.size() != 3 || weight->shape.dims.size() != 2) {
    return {};
  }
  const double heads = count_of(heads_of->shape.dims), all = last_of(in->shape.dims),
               channels = static_cast<double>(weight->shape.dims[0]);
  const double inner = all - channels - heads, group_states = (channels - inner) / 2;
  if (inner <= 0 || group_states <= 0) return {};
  const double tokens = count_of(in->shape.dims) / all,
               states = group_states / static_cast<double>(*groups),
               length = static_cast<double>(*chunk);
  Cost cost;
  cost.flops = 2 * tokens *
               (channels * last_of(weight->shape.dims) + length * group_states + length * inner +
                2 * inner * states);
  cost.bytes = distinct_bytes(*in).value_or(0) + distinct_bytes(*weight).value_or(0) +
               tokens * inner * type->bytes();
  if (const ArgValue* bias = call.tensor("bias")) cost.bytes += distinct_bytes(*bias).value_or(0);
  cost.spec = spec_name("matrix", type);
  cost.params = {{"op_shape", json_ints(in->shape.dims)},
                 {"dtype_in_out", json_types({in, nullptr})}};
  return cost;
}

}  // namespace fathom::costs
