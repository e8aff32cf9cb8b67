// Layer, RMS, batch and group norm, and what is fused with them.
#include <algorithm>
#include <cmath>

#include "cost/cost_functions.h"

namespace fathom::costs {
namespace {

using Dims = std::vector<int64_t>;

// How many values are scaled alike: layer and RMS norm have a weight for each place of the last
// dimensions, batch and group norm for each channel, which is dimension 1.
double channel_count(const CostCall& call, const Dims& dims) {
  if (call.setting("channels") == "1") return dims.size() > 1 ? static_cast<double>(dims[1]) : 1;
  if (const auto shape = call.int_list("shape")) return count_of(*shape);
  return last_of(dims);
}

// Means and variances that are written: for each channel with running statistics, else for each
// row.
double statistics_bytes(const CostCall& call, double elements, double channels, bool training) {
  constexpr double kFloat = 4;
  if (call.has("running_mean")) return channels * kFloat * (training ? 4 : 2);
  if (call.setting("statistics") == "rms") return 0;
  return elements / std::max(1.0, channels) * 2 * kFloat;
}

// What is written for the result: an operand, or as many elements as the input has (rows filled up
// to a multiple), with a scale for each group where it is quantized.
std::optional<double> result_bytes(const CostCall& call, const ElementType* type, double elements,
                                   double channels) {
  double scales = 0;
  if (const ArgValue* scale = call.tensor_or_element("scale")) {
    scales = distinct_bytes(*scale).value_or(0);
  }
  if (const std::optional<int64_t> group = call.integer("group"); group && *group > 0) {
    scales += 4 * elements / static_cast<double>(*group);
  }
  if (const ArgValue* out = call.tensor("out")) {
    const std::optional<double> bytes = distinct_bytes(*out);
    return bytes ? std::optional(*bytes + scales) : std::nullopt;
  }
  if (const std::optional<int64_t> multiple = call.integer("pad_to");
      multiple && *multiple > 0 && channels > 0) {
    const auto step = static_cast<double>(*multiple);
    elements *= std::ceil(channels / step) * step / channels;
  }
  return elements * call.number("out_bytes", type->bytes()) + scales;
}

double rms_flops(double elements, double channels) {
  return elements / std::max(1.0, channels) * (2 * channels + 2) + 2 * elements;
}

}  // namespace

std::optional<Cost> normalization(const CostCall& call) {
  const ArgValue *in = call.tensor("in"), *weight = call.tensor("weight"),
                 *bias = call.tensor("bias"), *residual = call.tensor("residual"),
                 *second = call.tensor("in2");
  const ElementType* type = in != nullptr ? find_element_type(in->type) : nullptr;
  if (type == nullptr) return {};
  const bool rms = call.setting("statistics") == "rms";
  // Layer norm has no statistics to reuse: it computes them whether it trains or not.
  const bool training = !call.has("training") || call.is_true("training");
  const double elements = count_of(in->shape.dims), channels = channel_count(call, in->shape.dims);
  const std::optional<double> written = result_bytes(call, type, elements, channels);
  if (!written) return {};
  Cost cost;
  cost.flops = rms ? rms_flops(elements, channels)
                   : 6 * channels + (training ? 3 : 0) * elements + 2 * elements;
  cost.bytes =
      elements * type->bytes() + *written + statistics_bytes(call, elements, channels, training);
  if (residual != nullptr) {  // read, and the sum written
    cost.flops += elements;
    cost.bytes += 2 * elements * type->bytes();
  }
  if (call.has("quantizes")) cost.flops += 2 * elements;  // the largest, and a product with a scale
  if (second != nullptr) {                                // an RMS norm beside the first
    cost.flops += rms_flops(count_of(second->shape.dims), last_of(second->shape.dims));
    cost.bytes += 2 * distinct_bytes(*second).value_or(0);
  }
  for (const ArgValue* operand : {weight, bias, call.tensor("weight2")}) {
    if (operand != nullptr) cost.bytes += distinct_bytes(*operand).value_or(0);
  }
  cost.spec = spec_name("vector", type);
  cost.params = {
      {"op_shape", json_ints(in->shape.dims)},     {"dtype_in_out", json_types({in, nullptr})},
      {"stride_input", json_strides(in)},          {"stride_output", "null"},
      {"num_channels", json_count(channels)},      {"has_bias", json_bool(bias != nullptr)},
      {"is_affine", json_bool(weight != nullptr)}, {"is_training", json_bool(training)}};
  return cost;
}

// Reads the gradient and the input, writes the input's gradient; eight operations on each element.
std::optional<Cost> normalization_backward(const CostCall& call) {
  const ArgValue *in = call.tensor("in"), *weight = call.tensor("weight");
  // A forward op's row has no gradient; it is as large as the input.
  const ArgValue* grad = call.has("grad") ? call.tensor("grad") : in;
  if (grad == nullptr || in == nullptr) return {};
  const std::optional<double> grad_bytes = distinct_bytes(*grad), in_bytes = distinct_bytes(*in);
  const ElementType* type = find_element_type(in->type);
  if (!grad_bytes || !in_bytes || type == nullptr) return {};
  const double elements = count_of(in->shape.dims);
  Cost cost;
  cost.flops = 8 * elements;
  cost.bytes = *grad_bytes + *in_bytes + elements * type->bytes();
  if (weight != nullptr) cost.bytes += 3 * distinct_bytes(*weight).value_or(0);
  cost.spec = spec_name("vector", type);
  cost.params = {{"op_shape", json_ints(in->shape.dims)},
                 {"dtype_in_out", json_types({in, grad})},
                 {"stride_input", json_strides(in)},
                 {"stride_output", json_strides(grad)},
                 {"num_channels", json_count(channel_count(call, in->shape.dims))}};
  return cost;
}

}  // namespace fathom::costs
