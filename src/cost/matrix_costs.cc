// Matrix products: dense, batched, grouped; convolutions.
#include "base/json_writer.h"
#include "base/tsv.h"
#include "cost/cost_functions.h"

namespace fathom::costs {
namespace {

using Dims = std::vector<int64_t>;

// AMD's Tensile names tell how its operands lie: Cijk_Alik_Bljk has A transposed.
std::optional<std::string> tensile_transpose(const CostCall& call) {
  for (const LaunchedKernel& kernel : call.kernels()) {
    const size_t at = kernel.name.find("Cijk_A");
    if (at == std::string_view::npos || kernel.name.size() < at + 14) continue;
    const bool a = kernel.name.substr(at + 6, 3) == "lik",
               b = kernel.name.substr(at + 11, 3) == "jlk";
    return "[" + json_bool(a) + "," + json_bool(b) + "]";
  }
  return {};
}

// What the product is written as: the row's word, else A's type; a quarter-size type is written
// wide.
const ElementType* output_type(const CostCall& call, const ArgValue& a) {
  if (call.has("out_type")) return find_element_type(call.setting("out_type"));
  if (const ElementType* named = find_scalar_type(call.concrete("out_dtype"))) return named;
  const ElementType* type = find_element_type(a.type);
  if (type != nullptr && type->bits == 8) {
    return find_element_type(type->is_float ? "bfloat16" : "int");
  }
  return type;
}

struct Sizes {
  double batch, m, n, k;
};

// A is M × K and B is K × N, or N × K where the row says so; both may be batched.
std::optional<Sizes> product_sizes(const CostCall& call, const Dims& a, const Dims& b) {
  if (a.size() < 2 || b.size() < 2) return {};
  const bool b_is_nk = call.setting("b_layout") == "nk";
  const int64_t n = b[b.size() - (b_is_nk ? 2 : 1)], k = a.back();
  if (b[b.size() - (b_is_nk ? 1 : 2)] != k && !call.has("packed")) return {};
  Sizes sizes{1, static_cast<double>(a[a.size() - 2]), static_cast<double>(n),
              static_cast<double>(k)};
  const Dims front(a.begin(), a.end() - 2);
  // A batch over the same B is one long product.
  (b.size() > 2 ? sizes.batch : sizes.m) *= count_of(front);
  if (call.has("packed")) sizes.k *= call.number("packed", 1);  // several elements in one
  return sizes;
}

}  // namespace

std::optional<Cost> gemm(const CostCall& call) {
  const ArgValue *a = call.tensor("a"), *b = call.tensor("b"), *bias = call.tensor("bias");
  if (a == nullptr || b == nullptr) return {};
  const std::optional<Sizes> s = product_sizes(call, a->shape.dims, b->shape.dims);
  const ElementType *type_a = find_element_type(a->type), *type_b = find_element_type(b->type),
                    *out = output_type(call, *a);
  if (!s || type_a == nullptr || type_b == nullptr || out == nullptr) return {};
  Cost cost;
  const double results = s->batch * s->m * s->n;
  cost.flops = 2 * results * s->k + (bias != nullptr ? results : 0);
  const double packing = call.number("packed", 1);
  cost.bytes = s->batch * (s->m * s->k / packing * type_a->bytes() +
                           s->k * s->n / packing * type_b->bytes()) +
               results * out->bytes();
  if (bias != nullptr) cost.bytes += distinct_bytes(*bias).value_or(0);
  cost.spec = call.has("spec") ? std::string(call.setting("spec")) : spec_name("matrix", type_a);
  cost.params = {{"M", json_count(s->m)},           {"N", json_count(s->n)},
                 {"K", json_count(s->k)},           {"bias", json_bool(bias != nullptr)},
                 {"stride_A", json_strides(a)},     {"stride_B", json_strides(b)},
                 {"dtype_A_B", json_types({a, b})}, {"B", json_count(s->batch)}};
  if (auto transpose = tensile_transpose(call)) cost.params.push_back({"transpose", *transpose});
  return cost;
}

// Tokens T × K, each row with the weights of its expert: E × K × N.
std::optional<Cost> grouped_gemm(const CostCall& call) {
  const ArgValue *a = call.tensor("a"), *b = call.tensor("b");
  if (a == nullptr || b == nullptr || a->shape.dims.size() < 2 || b->shape.dims.size() != 3)
    return {};
  const ElementType *type_a = find_element_type(a->type), *type_b = find_element_type(b->type),
                    *out = output_type(call, *a);
  if (type_a == nullptr || type_b == nullptr || out == nullptr) return {};
  const double rows =
      count_of(a->shape.dims) / static_cast<double>(std::max<int64_t>(1, a->shape.dims.back()));
  const double k = static_cast<double>(a->shape.dims.back());
  const double n = count_of(b->shape.dims) /
                   static_cast<double>(std::max<int64_t>(1, b->shape.dims[0])) / std::max(1.0, k);
  // Experts that get no token are not read; with few tokens that is most of them.
  const double experts = std::min(static_cast<double>(b->shape.dims[0]), rows);
  Cost cost;
  cost.flops = 2 * rows * n * k;
  cost.bytes =
      rows * k * type_a->bytes() + experts * k * n * type_b->bytes() + rows * n * out->bytes();
  cost.spec = spec_name("matrix", type_a);
  cost.params = {{"M", json_count(rows)},
                 {"N", json_count(n)},
                 {"K", json_count(k)},
                 {"E", json_count(static_cast<double>(b->shape.dims[0]))},
                 {"dtype_A_B", json_types({a, b})}};
  cost.assumption = "every expert that can have a token has one";
  return cost;
}

namespace {

struct Convolution {
  const ArgValue *input, *weight;
  Dims output;
  const ElementType *in_type, *weight_type;
  bool transposed;
  // One multiplication and one addition for each weight that each result meets.
  double flops() const {
    const Dims filter(weight->shape.dims.begin() + 1, weight->shape.dims.end());
    return 2 * count_of(filter) * count_of(transposed ? input->shape.dims : output);
  }
};

int64_t at_or(const std::optional<Dims>& list, size_t i, int64_t otherwise) {
  if (!list || list->empty()) return otherwise;
  return i < list->size() ? (*list)[i] : list->back();
}

// Output sizes by the rule of the documentation of Conv2d and ConvTranspose2d.
std::optional<Dims> output_dims(const CostCall& call, const Dims& in, const Dims& weight,
                                bool transposed) {
  const auto stride = call.int_list("stride"), padding = call.int_list("padding"),
             dilation = call.int_list("dilation"), extra = call.int_list("output_padding");
  int64_t groups = 1;
  if (const std::string_view text = call.concrete("groups"); !text.empty()) {
    const auto list = read_int_list("[" + std::string(text) + "]");
    if (!list || list->size() != 1 || (*list)[0] < 1) return {};
    groups = (*list)[0];
  }
  Dims out = {in[0], transposed ? weight[1] * groups : weight[0]};
  for (size_t i = 0; i + 2 < in.size(); ++i) {
    const int64_t s = at_or(stride, i, 1), p = at_or(padding, i, 0), d = at_or(dilation, i, 1);
    if (s < 1) return {};
    const int64_t reach = d * (weight[i + 2] - 1);
    const int64_t size = transposed ? (in[i + 2] - 1) * s - 2 * p + reach + at_or(extra, i, 0) + 1
                                    : (in[i + 2] + 2 * p - reach - 1) / s + 1;
    if (size < 0) return {};
    out.push_back(size);
  }
  return out;
}

std::optional<Convolution> read_convolution(const CostCall& call) {
  Convolution c{call.tensor("input"),      call.tensor("weight"), {}, nullptr, nullptr,
                call.is_true("transposed")};
  if (c.input == nullptr || c.weight == nullptr) return {};
  const Dims &in = c.input->shape.dims, &weight = c.weight->shape.dims;
  if (in.size() != weight.size() || in.size() < 3) return {};
  const std::optional<Dims> out = output_dims(call, in, weight, c.transposed);
  c.in_type = find_element_type(c.input->type);
  c.weight_type = find_element_type(c.weight->type);
  if (!out || c.in_type == nullptr || c.weight_type == nullptr) return {};
  c.output = *out;
  return c;
}

std::vector<CostParam> convolution_params(const CostCall& call, const Convolution& c, bool bias) {
  const auto list = [&call](std::string_view key) {
    const auto ints = call.int_list(key);
    return ints ? json_ints(*ints) : std::string("null");
  };
  const std::string_view groups = call.concrete("groups");
  return {{"convNd", json_quoted("conv" + std::to_string(c.input->shape.dims.size() - 2) + "d")},
          {"input_shape", json_ints(c.input->shape.dims)},
          {"filter_shape", json_ints(c.weight->shape.dims)},
          {"dtype_input_weight", json_types({c.input, c.weight})},
          {"input_stride", json_strides(c.input)},
          {"weight_stride", json_strides(c.weight)},
          {"bias", json_bool(bias)},
          {"stride", list("stride")},
          {"padding", list("padding")},
          {"dilation", list("dilation")},
          {"transposed_conv", json_bool(c.transposed)},
          {"output_padding", list("output_padding")},
          {"groups", groups.empty() ? "1" : std::string(groups)}};
}

}  // namespace

std::optional<Cost> convolution(const CostCall& call) {
  const std::optional<Convolution> c = read_convolution(call);
  if (!c) return {};
  const ArgValue* bias = call.tensor("bias");
  Cost cost;
  const double results = count_of(c->output);
  cost.flops = c->flops() + (bias != nullptr ? results : 0);
  cost.bytes = count_of(c->input->shape.dims) * c->in_type->bytes() +
               count_of(c->weight->shape.dims) * c->weight_type->bytes() +
               results * c->in_type->bytes() +
               (bias != nullptr ? distinct_bytes(*bias).value_or(0) : 0);
  cost.spec = spec_name("matrix", c->in_type);
  cost.params = convolution_params(call, *c, bias != nullptr);
  return cost;
}

// The gradients that the output mask asks for; input and weights cost one convolution each.
std::optional<Cost> convolution_backward(const CostCall& call) {
  const std::optional<Convolution> c = read_convolution(call);
  if (!c) return {};
  const std::string_view mask = call.concrete("output_mask");  // [True, True, False]
  bool wanted[3] = {true, true, false};
  if (mask.starts_with('[')) {
    const auto words = split(mask.substr(1), ',');
    for (size_t i = 0; i < 3 && i < words.size(); ++i) {
      wanted[i] = words[i].find("True") != std::string_view::npos;
    }
  }
  const double input = count_of(c->input->shape.dims) * c->in_type->bytes(),
               weight = count_of(c->weight->shape.dims) * c->weight_type->bytes(),
               results = count_of(c->output);
  Cost cost;
  cost.flops = (wanted[0] + wanted[1]) * c->flops() + (wanted[2] ? results : 0);
  cost.bytes = results * c->in_type->bytes();   // the gradient of the output
  if (wanted[0]) cost.bytes += weight + input;  // reads weights, writes the input's
  if (wanted[1]) cost.bytes += input + weight;  // reads the input, writes the weights'
  cost.spec = spec_name("matrix", c->in_type);
  cost.params = convolution_params(call, *c, wanted[2]);
  return cost;
}

}  // namespace fathom::costs
