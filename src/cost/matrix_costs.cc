// Matrix products: dense, batched, grouped; convolutions.
#include <algorithm>
#include <cmath>

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

// What the product is written as: the operand that takes it, the row's word, the argument that
// names it, else A's type.
const ElementType* output_type(const CostCall& call, const ArgValue& a) {
  if (const ArgValue* out = call.tensor("out")) return find_element_type(out->type);
  return result_type(call, product_type(find_element_type(a.type)));
}

struct Sizes {
  double batch, m, n, k;
};

// A is M × K, and K × M where the call says it is transposed. B is K × N, and N × K where the row
// or the call says so. Both may be batched; a packed operand has several elements of K in one.
std::optional<Sizes> product_sizes(const CostCall& call, const Dims& a, const Dims& b) {
  if (a.size() < 2 || b.empty()) return {};
  const bool b_is_vector = b.size() == 1,
             b_is_nk = call.setting("b_layout") == "nk" || call.is_true("b_transposed"),
             a_is_km = call.is_true("a_transposed");
  const auto from_end = [](const Dims& dims, size_t place) {
    return static_cast<double>(dims[dims.size() - place]);
  };
  const double k = from_end(a, a_is_km ? 2 : 1) * call.number("a_packed", 1);
  const double k_of_b = from_end(b, b_is_vector || b_is_nk ? 1 : 2) * call.number("b_packed", 1);
  if (k != k_of_b) return {};
  Sizes sizes{1, from_end(a, a_is_km ? 1 : 2), b_is_vector ? 1 : from_end(b, b_is_nk ? 2 : 1), k};
  const double batch_a = count_of(Dims(a.begin(), a.end() - 2));
  if (b.size() <= 2) {
    sizes.m *= batch_a;  // a batch over the same B is one long product
    return sizes;
  }
  const double batch_b = count_of(Dims(b.begin(), b.end() - 2));
  if (batch_a == batch_b || batch_a == 1 || batch_b == 1) {
    sizes.batch = std::max(batch_a, batch_b);
  } else if (a.size() == 3 && sizes.m == batch_b) {  // M × batch × K
    sizes = {batch_b, batch_a, sizes.n, k};
  } else {
    return {};
  }
  return sizes;
}

// An empty tensor stands for no bias.
const ArgValue* bias_of(const CostCall& call) {
  const ArgValue* bias = call.tensor("bias");
  return bias != nullptr && count_of(bias->shape.dims) > 0 ? bias : nullptr;
}

}  // namespace

std::optional<Cost> gemm(const CostCall& call) {
  const ArgValue *a = call.tensor("a"), *b = call.tensor("b"), *bias = bias_of(call);
  if (a == nullptr || b == nullptr) return {};
  const std::optional<Sizes> s = product_sizes(call, a->shape.dims, b->shape.dims);
  const std::optional<double> bytes_a = distinct_bytes(*a), bytes_b = distinct_bytes(*b);
  const ElementType *type_a = find_element_type(a->type), *out = output_type(call, *a);
  if (!s || !bytes_a || !bytes_b || out == nullptr) return {};
  Cost cost;
  const double results = s->batch * s->m * s->n;
  cost.flops = 2 * results * s->k + (bias != nullptr ? results : 0);
  cost.bytes = *bytes_a + *bytes_b + results * out->bytes();
  if (bias != nullptr) cost.bytes += distinct_bytes(*bias).value_or(0);
  for (const ArgValue* scale : call.tensors("scales")) {
    cost.bytes += distinct_bytes(*scale).value_or(0);
  }
  cost.spec = call.has("spec") ? std::string(call.setting("spec")) : spec_name("matrix", type_a);
  cost.params = {{"M", json_count(s->m)},           {"N", json_count(s->n)},
                 {"K", json_count(s->k)},           {"bias", json_bool(bias != nullptr)},
                 {"stride_A", json_strides(a)},     {"stride_B", json_strides(b)},
                 {"dtype_A_B", json_types({a, b})}, {"B", json_count(s->batch)}};
  if (auto transpose = tensile_transpose(call)) cost.params.push_back({"transpose", *transpose});
  return cost;
}

namespace {

// A product for each group, all of one shape but for one size: tokens, each row with the weights
// of its expert (T × K, E × K × N), or the weights' gradients, a sum over the tokens of each
// expert (T × K and T × N give E × K × N).
struct GroupedProduct {
  double rows, k, n, groups, groups_read;
  bool sums_over_rows;
};

std::optional<GroupedProduct> weights_product(const CostCall& call, const Dims& a, const Dims& b) {
  const double k = last_of(a), experts = size_at(b, 0);
  if (k <= 0 || experts <= 0 || (b[1] != a.back() && b[2] != a.back())) return {};
  GroupedProduct p{count_of(a) / k, k, count_of(b) / experts / k, experts, experts, false};
  const ArgValue* routes = call.tensor("routes");
  if (routes != nullptr && routes->shape.dims.size() == 2) {  // tokens, experts of each
    p.rows = count_of(routes->shape.dims);
    p.groups_read =
        active_experts(experts, last_of(routes->shape.dims), size_at(routes->shape.dims, 0));
  } else {
    // Experts that get no token are not read; with few tokens that is most of them.
    p.groups_read = std::min(experts, p.rows);
  }
  return p;
}

std::optional<GroupedProduct> gradients_product(const CostCall& call, const Dims& a,
                                                const Dims& b) {
  const ArgValue* groups = call.tensor("groups");
  if (groups == nullptr || a.size() != 2) return {};
  const double count = count_of(groups->shape.dims);
  if (a[0] == b[0])
    return GroupedProduct{size_at(a, 0), size_at(a, 1), size_at(b, 1), count, count, true};
  if (a[1] == b[0])
    return GroupedProduct{size_at(a, 1), size_at(a, 0), size_at(b, 1), count, count, true};
  return {};
}

}  // namespace

std::optional<Cost> grouped_gemm(const CostCall& call) {
  const ArgValue *a = call.tensor("a"), *b = call.tensor("b");
  if (a == nullptr || b == nullptr || a->shape.dims.size() < 2) return {};
  const Dims &dims_a = a->shape.dims, &dims_b = b->shape.dims;
  std::optional<GroupedProduct> p;
  if (dims_b.size() == 3) p = weights_product(call, dims_a, dims_b);
  if (dims_b.size() == 2) p = gradients_product(call, dims_a, dims_b);
  const ElementType *type_a = find_element_type(a->type), *type_b = find_element_type(b->type),
                    *out = output_type(call, *a);
  if (!p || type_a == nullptr || type_b == nullptr || out == nullptr) return {};
  const double weights = p->k * p->n;
  Cost cost;
  cost.flops = 2 * p->rows * weights;
  if (p->sums_over_rows) {
    cost.bytes = p->rows * (p->k * type_a->bytes() + p->n * type_b->bytes()) +
                 p->groups * weights * out->bytes();
  } else {
    cost.bytes = p->rows * p->k * type_a->bytes() + p->groups_read * weights * type_b->bytes() +
                 p->rows * p->n * out->bytes();
    cost.assumption = "every expert that can have a token has one";
  }
  cost.spec = spec_name("matrix", type_a);
  cost.params = {{"M", json_count(p->rows)},
                 {"N", json_count(p->n)},
                 {"K", json_count(p->k)},
                 {"E", json_count(p->groups)},
                 {"dtype_A_B", json_types({a, b})}};
  if (call.has("routes")) cost.assumption = "tokens choose experts evenly";
  return cost;
}

namespace {

struct Convolution {
  const ArgValue *input, *weight;
  double results;
  const ElementType *in_type, *weight_type;
  bool transposed;
  // One multiplication and one addition for each weight that each result meets.
  double flops() const {
    const Dims filter(weight->shape.dims.begin() + 1, weight->shape.dims.end());
    return 2 * count_of(filter) * (transposed ? count_of(input->shape.dims) : results);
  }
};

double at_or(const std::optional<Dims>& list, size_t i, double otherwise) {
  if (!list || list->empty()) return otherwise;
  return static_cast<double>(i < list->size() ? (*list)[i] : list->back());
}

// Results by the rule of the documentation of Conv2d and ConvTranspose2d. In doubles, because the
// trace may hold any number.
std::optional<double> result_count(const CostCall& call, const Dims& in, const Dims& weight,
                                   bool transposed) {
  const auto stride = call.int_list("stride"), padding = call.int_list("padding"),
             dilation = call.int_list("dilation"), extra = call.int_list("output_padding");
  double groups = 1;
  if (!call.concrete("groups").empty()) {
    const std::optional<int64_t> number = call.integer("groups");
    if (!number || *number < 1) return {};
    groups = static_cast<double>(*number);
  }
  double results = size_at(in, 0) * (transposed ? size_at(weight, 1) * groups : size_at(weight, 0));
  for (size_t i = 0; i + 2 < in.size(); ++i) {
    const double s = at_or(stride, i, 1), p = at_or(padding, i, 0), d = at_or(dilation, i, 1);
    if (s < 1) return {};
    const double length = size_at(in, i + 2), reach = d * (size_at(weight, i + 2) - 1);
    const double size = transposed ? (length - 1) * s - 2 * p + reach + at_or(extra, i, 0) + 1
                                   : std::floor((length + 2 * p - reach - 1) / s) + 1;
    if (!(size >= 0)) return {};
    results *= size;
  }
  return results;
}

std::optional<Convolution> read_convolution(const CostCall& call) {
  Convolution c{call.tensor("input"),      call.tensor("weight"), 0, nullptr, nullptr,
                call.is_true("transposed")};
  if (c.input == nullptr || c.weight == nullptr) return {};
  const Dims &in = c.input->shape.dims, &weight = c.weight->shape.dims;
  if (in.size() != weight.size() || in.size() < 3) return {};
  const std::optional<double> results = result_count(call, in, weight, c.transposed);
  c.in_type = find_element_type(c.input->type);
  c.weight_type = find_element_type(c.weight->type);
  if (!results || c.in_type == nullptr || c.weight_type == nullptr) return {};
  c.results = *results;
  return c;
}

std::vector<CostParam> convolution_params(const CostCall& call, const Convolution& c, bool bias) {
  const auto list = [&call](std::string_view key) {
    const auto ints = call.int_list(key);
    return ints ? json_ints(*ints) : std::string("null");
  };
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
          {"groups", std::to_string(call.integer("groups").value_or(1))}};
}

}  // namespace

std::optional<Cost> convolution(const CostCall& call) {
  const std::optional<Convolution> c = read_convolution(call);
  if (!c) return {};
  const ArgValue* bias = bias_of(call);
  Cost cost;
  const double results = c->results;
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
  bool wanted[3] = {true, true, bias_of(call) != nullptr};
  if (mask.starts_with('[')) {
    const auto words = split(mask.substr(1), ',');
    for (size_t i = 0; i < 3 && i < words.size(); ++i) {
      wanted[i] = words[i].find("True") != std::string_view::npos;
    }
  }
  const double input = count_of(c->input->shape.dims) * c->in_type->bytes(),
               weight = count_of(c->weight->shape.dims) * c->weight_type->bytes(),
               results = c->results;
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
