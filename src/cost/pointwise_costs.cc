// Ops that touch each element a fixed number of times: elementwise, reductions, normalisations,
// pooling.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/json_writer.h"
#include "base/tsv.h"
#include "cost/cost_functions.h"

namespace fathom::costs {
namespace {

using Dims = std::vector<int64_t>;

// Sizes of several operands stretched over each other; nothing where they do not fit.
std::optional<Dims> broadcast(const std::vector<const ArgValue*>& operands) {
  Dims out;
  for (const ArgValue* operand : operands) {
    const Dims& dims = operand->shape.dims;
    if (dims.size() > out.size()) out.insert(out.begin(), dims.size() - out.size(), 1);
    for (size_t i = 0; i < dims.size(); ++i) {
      int64_t& size = out[out.size() - dims.size() + i];
      if (size == 1) {
        size = dims[i];
      } else if (dims[i] != 1 && dims[i] != size) {
        return {};
      }
    }
  }
  return out;
}

// What arithmetic between these gives: the widest, and a float before any integer. Tensors without
// dimensions take what the others are.
const ElementType* promoted(const std::vector<const ArgValue*>& operands) {
  const ElementType* widest = nullptr;
  const bool any_dims = std::ranges::any_of(operands, &ArgValue::is_tensor);
  for (const ArgValue* operand : operands) {
    if (any_dims && !operand->is_tensor()) continue;
    const ElementType* type = find_element_type(operand->type);
    if (type == nullptr) return nullptr;
    if (widest == nullptr ||
        std::pair(type->is_float, type->bits) > std::pair(widest->is_float, widest->bits)) {
      widest = type;
    }
  }
  return widest;
}

std::optional<double> total_bytes(const std::vector<const ArgValue*>& operands) {
  double bytes = 0;
  for (const ArgValue* operand : operands) {
    const std::optional<double> each = distinct_bytes(*operand);
    if (!each) return {};
    bytes += *each;
  }
  return bytes;
}

const ElementType* result_type(const CostCall& call, const ElementType* otherwise) {
  if (call.has("out_type")) return find_element_type(call.setting("out_type"));
  if (const ElementType* named = find_scalar_type(call.concrete("out_dtype"))) return named;
  return otherwise;
}

std::vector<CostParam> elementwise_params(const std::vector<const ArgValue*>& in,
                                          const ArgValue* out) {
  if (in.size() == 2) {
    return {{"shape_in1", json_ints(in[0]->shape.dims)},
            {"shape_in2", json_ints(in[1]->shape.dims)},
            {"dtype_in1_in2_out", json_types({in[0], in[1], out})},
            {"stride_input1", json_strides(in[0])},
            {"stride_input2", json_strides(in[1])},
            {"stride_output", json_strides(out)}};
  }
  if (in.size() > 2) {
    std::vector<std::string> shapes;
    for (const ArgValue* each : in) shapes.push_back(json_ints(each->shape.dims));
    return {{"shapes_in", fmt::format("[{}]", fmt::join(shapes, ","))}};
  }
  const ArgValue* first = in.empty() ? out : in[0];
  return {{"op_shape", json_ints(first->shape.dims)},
          {"dtype_in_out", json_types({in.empty() ? nullptr : in[0], out})},
          {"stride_input", in.empty() ? "null" : json_strides(in[0])},
          {"stride_output", json_strides(out)}};
}

}  // namespace

// The result's sizes where the op is told them (sizes: the last dimensions) or what to add at the
// edges (pad: before and after, from the last dimension on).
std::optional<Dims> resized(const CostCall& call, Dims dims) {
  if (const auto sizes = call.int_list("sizes")) {
    if (sizes->size() > dims.size()) return {};
    std::ranges::copy(*sizes, dims.end() - static_cast<std::ptrdiff_t>(sizes->size()));
  }
  if (const auto pad = call.int_list("pad")) {
    for (size_t i = 0; i < pad->size() && i / 2 < dims.size(); ++i) {
      dims[dims.size() - 1 - i / 2] += (*pad)[i];
    }
  }
  return std::ranges::any_of(dims, [](int64_t d) { return d < 0; }) ? std::nullopt
                                                                    : std::optional(dims);
}

// in: operands read; out: the operand written, else as large as the operands stretched over each
// other; extra: bytes written for each result beside it; flops: for each result, 1 where not said.
std::optional<Cost> elementwise(const CostCall& call) {
  const std::vector<const ArgValue*> in = call.tensors("in");
  const ArgValue* out = call.tensor("out");
  if (in.empty() && out == nullptr) return {};
  std::optional<Dims> dims = out != nullptr ? out->shape.dims : broadcast(in);
  if (dims) dims = resized(call, *dims);
  const ElementType* type =
      out != nullptr ? find_element_type(out->type) : result_type(call, promoted(in));
  const std::optional<double> read = total_bytes(in);
  if (!dims || type == nullptr || !read) return {};
  const double results = count_of(*dims);
  Cost cost;
  cost.flops = results * call.number("flops", 1);
  cost.bytes =
      *read + results * (type->bytes() * call.number("copies", 1) + call.number("extra", 0));
  cost.spec = spec_name("vector", in.empty() ? type : promoted(in));
  const bool in_place = std::ranges::find(in, out) != in.end();
  cost.params = elementwise_params(in, in_place ? nullptr : out);
  return cost;
}

namespace {

// The sizes left when the dimensions named are gone. None named: one value.
double reduced_count(const Dims& dims, const std::optional<Dims>& over) {
  if (!over || over->empty()) return 1;
  std::vector<bool> gone(dims.size());
  for (int64_t d : *over) {
    const auto rank = static_cast<int64_t>(dims.size());
    if (d >= -rank && d < rank) gone[static_cast<size_t>(d < 0 ? d + rank : d)] = true;
  }
  double count = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!gone[i]) count *= static_cast<double>(dims[i]);
  }
  return count;
}

}  // namespace

// dims: the operand that lists the dimensions to reduce, as [0, 1] or as one number.
std::optional<Cost> reduce(const CostCall& call) {
  const ArgValue* in = call.tensor("in");
  if (in == nullptr) return {};
  const ElementType* type = find_element_type(in->type);
  const ElementType* out = result_type(call, type);
  const std::optional<double> read = distinct_bytes(*in);
  if (type == nullptr || out == nullptr || !read) return {};
  std::optional<Dims> over = call.int_list("dims");
  if (!over) over = read_int_list("[" + std::string(call.concrete("dims")) + "]");
  const double inputs = count_of(in->shape.dims);
  double results = reduced_count(in->shape.dims, over);
  if (call.has("kept")) {  // topk keeps several of each
    const auto kept = read_int_list("[" + std::string(call.concrete("kept")) + "]");
    if (!kept || kept->size() != 1 || (*kept)[0] < 0) return {};
    results *= static_cast<double>((*kept)[0]);
  }
  Cost cost;
  cost.flops = inputs * call.number("flops", 1);
  cost.bytes = *read + results * (out->bytes() + call.number("extra", 0));
  cost.spec = spec_name("vector", type);
  std::string_view kind = call.op();
  if (const size_t colons = kind.rfind("::"); colons != std::string_view::npos) {
    kind.remove_prefix(colons + 2);
  }
  cost.params = {{"num_input_elems", json_count(inputs)},
                 {"num_output_elems", json_count(results)},
                 {"dtype_in_out", json_types({in, nullptr})},
                 {"reduce_type", json_quoted(kind)}};
  return cost;
}

namespace {

// How many values are scaled alike: layer and RMS norm have a weight for each place of the last
// dimensions, batch and group norm for each channel, which is dimension 1.
double channel_count(const CostCall& call, const Dims& dims) {
  if (call.setting("channels") == "1") return dims.size() > 1 ? static_cast<double>(dims[1]) : 1;
  if (const auto shape = call.int_list("shape")) return count_of(*shape);
  return dims.empty() ? 1 : static_cast<double>(dims.back());
}

// Means and variances that are written: for each channel with running statistics, else for each
// row.
double statistics_bytes(const CostCall& call, double elements, double channels, bool training) {
  constexpr double kFloat = 4;
  if (call.has("running_mean")) return channels * kFloat * (training ? 4 : 2);
  if (call.setting("statistics") == "rms") return 0;
  return elements / std::max(1.0, channels) * 2 * kFloat;
}

}  // namespace

std::optional<Cost> normalization(const CostCall& call) {
  const ArgValue *in = call.tensor("in"), *weight = call.tensor("weight"),
                 *bias = call.tensor("bias"), *residual = call.tensor("residual");
  if (in == nullptr) return {};
  const ElementType* type = find_element_type(in->type);
  if (type == nullptr) return {};
  const bool rms = call.setting("statistics") == "rms";
  // Layer norm has no statistics to reuse: it computes them whether it trains or not.
  const bool training = !call.has("training") || call.is_true("training");
  const double elements = count_of(in->shape.dims), channels = channel_count(call, in->shape.dims);
  Cost cost;
  cost.flops = rms ? elements / std::max(1.0, channels) * (2 * channels + 2) + 2 * elements
                   : 6 * channels + (training ? 3 : 0) * elements + 2 * elements;
  if (residual != nullptr) cost.flops += elements;
  cost.bytes = 2 * elements * type->bytes() + statistics_bytes(call, elements, channels, training);
  if (residual != nullptr) cost.bytes += 2 * elements * type->bytes();  // read, and the sum written
  for (const ArgValue* operand : {weight, bias}) {
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
  const ArgValue *grad = call.tensor("grad"), *in = call.tensor("in"),
                 *weight = call.tensor("weight");
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

// window, stride, padding: operands; extra: bytes written for each result beside it.
std::optional<Cost> pooling(const CostCall& call) {
  const ArgValue* in = call.tensor("in");
  const ElementType* type = in != nullptr ? find_element_type(in->type) : nullptr;
  const auto window = call.int_list("window"), padding = call.int_list("padding");
  auto stride = call.int_list("stride");
  if (type == nullptr || !window || window->empty()) return {};
  if (!stride || stride->empty()) stride = window;
  const Dims& dims = in->shape.dims;
  const size_t first = dims.size() - std::min(dims.size(), window->size());
  double results = 1, reach = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i < first) {
      results *= static_cast<double>(dims[i]);
      continue;
    }
    const size_t k = i - first;
    const int64_t step = k < stride->size() ? (*stride)[k] : stride->back();
    const int64_t pad = padding && k < padding->size() ? (*padding)[k] : 0;
    if (step < 1 || dims[i] + 2 * pad < (*window)[k]) return {};
    results *= static_cast<double>((dims[i] + 2 * pad - (*window)[k]) / step + 1);
    reach *= static_cast<double>((*window)[k]);
  }
  Cost cost;
  cost.flops = results * reach;
  cost.bytes =
      distinct_bytes(*in).value_or(0) + results * (type->bytes() + call.number("extra", 0));
  cost.spec = spec_name("vector", type);
  cost.params = {{"op_shape", json_ints(dims)},
                 {"window", json_ints(*window)},
                 {"num_output_elems", json_count(results)}};
  return cost;
}

}  // namespace fathom::costs
