// Ops that touch each element a fixed number of times: elementwise, reductions, pooling.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

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

// The result's sizes where the op is told them (sizes: the last dimensions) or what to add at the
// edges (pad: before and after, from the last dimension on).
std::optional<Dims> resized(const CostCall& call, Dims dims) {
  if (const auto sizes = call.int_list("sizes")) {
    if (sizes->size() > dims.size()) return {};
    std::ranges::copy(*sizes, dims.end() - static_cast<std::ptrdiff_t>(sizes->size()));
  }
  if (const auto pad = call.int_list("pad")) {
    for (size_t i = 0; i < pad->size() && i / 2 < dims.size(); ++i) {
      int64_t& size = dims[dims.size() - 1 - i / 2];
      if (__builtin_add_overflow(size, (*pad)[i], &size)) return {};
    }
  }
  return std::ranges::any_of(dims, [](int64_t d) { return d < 0; }) ? std::nullopt
                                                                    : std::optional(dims);
}

// A scale of four bytes for each group of so many elements.
double scale_bytes(const CostCall& call, double elements) {
  const std::optional<int64_t> group = call.integer("group");
  return group && *group > 0 ? 4 * elements / static_cast<double>(*group) : 0;
}

}  // namespace

std::optional<Cost> elementwise(const CostCall& call) {
  const std::vector<const ArgValue*> in = call.tensors("in");
  const ArgValue* out = call.tensor_or_element("out");
  if (in.empty() && out == nullptr) return {};
  std::optional<Dims> dims = out != nullptr ? out->shape.dims : broadcast(in);
  if (dims) dims = resized(call, *dims);
  const ElementType* type =
      out != nullptr ? find_element_type(out->type) : result_type(call, promoted(in));
  const std::optional<double> read = total_bytes(in), more = total_bytes(call.tensors("reads"));
  if (!dims || type == nullptr || !read || !more) return {};
  const ArgValue* taps = call.tensor("taps");
  const double results = count_of(*dims);
  Cost cost;
  cost.flops = results * call.number("flops", 1);
  if (taps != nullptr) cost.flops *= last_of(taps->shape.dims);
  const double written = call.number("out_bytes", type->bytes());
  cost.bytes =
      *read + *more + results * (written + call.number("extra", 0)) + scale_bytes(call, results);
  if (taps != nullptr) cost.bytes += distinct_bytes(*taps).value_or(0);
  cost.spec = spec_name("vector", in.empty() ? type : promoted(in));
  const bool in_place = std::ranges::find(in, out) != in.end();
  cost.params = elementwise_params(in, in_place ? nullptr : out);
  return cost;
}

namespace {

// The sum of some sizes: times=6:1,7:0 is size 1 of operand 6 and size 0 of operand 7.
std::optional<double> sum_of_sizes(const CostCall& call, std::string_view sizes) {
  double sum = 0;
  for (std::string_view word : split(sizes, ',')) {
    const size_t colon = word.find(':');
    size_t operand = 0, place = 0;
    std::from_chars(word.data(), word.data() + word.size(), operand);
    if (colon == std::string_view::npos) return {};
    std::from_chars(word.data() + colon + 1, word.data() + word.size(), place);
    const ArgValue* value = call.args().at(operand);
    if (value == nullptr || place >= value->shape.dims.size()) return {};
    sum += static_cast<double>(value->shape.dims[place]);
  }
  return sum;
}

// The part of each element's neighbours that is touched: fraction=4,3 is the last size of operand 4
// over the number in argument 3 (a rotation of the first 64 of 128).
double touched_fraction(const CostCall& call) {
  const std::vector<std::string_view> places = split(call.setting("fraction"), ',');
  if (places.size() != 2) return 1;
  size_t part = 0, whole = 0;
  std::from_chars(places[0].data(), places[0].data() + places[0].size(), part);
  std::from_chars(places[1].data(), places[1].data() + places[1].size(), whole);
  const ArgValue *size = call.args().at(part), *number = call.args().at(whole);
  if (size == nullptr || number == nullptr || !size->is_tensor()) return 1;
  const auto all = read_int_list("[" + number->concrete + "]");
  if (!all || all->size() != 1 || (*all)[0] < 1) return 1;
  return std::clamp(last_of(size->shape.dims) / static_cast<double>((*all)[0]), 0.0, 1.0);
}

}  // namespace

// Operands that are read and operands that are written, whatever their shapes.
std::optional<Cost> streams(const CostCall& call) {
  const std::vector<const ArgValue*> in = call.tensors("in"), out = call.tensors("out"),
                                     stored = call.tensors("stored");
  const std::optional<double> read = total_bytes(in), written = total_bytes(out);
  if (in.empty() || (out.empty() && stored.empty()) || !read || !written) return {};
  double per = 0, kept = 0;
  const std::vector<const ArgValue*> counted =
      call.has("per") ? call.tensors("per") : std::vector{in[0]};
  for (const ArgValue* each : counted) per += count_of(each->shape.dims);
  if (!stored.empty()) {  // as many elements, of the type of the table they are stored in
    const ArgValue* table = call.tensor("store");
    const ElementType* type = table != nullptr ? find_element_type(table->type) : nullptr;
    if (type == nullptr) return {};
    for (const ArgValue* each : stored) kept += count_of(each->shape.dims) * type->bytes();
  }
  double each = call.number("flops", 1);
  if (call.has("times")) {
    const std::optional<double> sum = sum_of_sizes(call, call.setting("times"));
    if (!sum) return {};
    each *= *sum;
  }
  const double fraction = touched_fraction(call);
  Cost cost;
  cost.flops = per * (each + call.number("base", 0)) * fraction;
  cost.bytes = (*read + *written) * fraction + kept;
  cost.spec = spec_name(call.setting("unit", "vector"), find_element_type(in[0]->type));
  const ArgValue* result = out.empty() ? nullptr : out[0];
  cost.params = {{"op_shape", json_ints(in[0]->shape.dims)},
                 {"dtype_in_out", json_types({in[0], result})},
                 {"stride_input", json_strides(in[0])},
                 {"stride_output", json_strides(result)}};
  return cost;
}

namespace {

// The sizes left when the dimensions named are gone. None named, or one that is not there (a number
// that means something else): one value.
double reduced_count(const Dims& dims, const std::optional<Dims>& over) {
  if (!over || over->empty()) return 1;
  std::vector<bool> gone(dims.size());
  const auto rank = static_cast<int64_t>(dims.size());
  for (int64_t d : *over) {
    if (d < -rank || d >= rank) return 1;
    gone[static_cast<size_t>(d < 0 ? d + rank : d)] = true;
  }
  double count = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!gone[i]) count *= static_cast<double>(dims[i]);
  }
  return count;
}

}  // namespace

std::optional<Cost> reduce(const CostCall& call) {
  const ArgValue* in = call.tensor_or_element("in");
  if (in == nullptr) return {};
  const ElementType* type = find_element_type(in->type);
  const ElementType* out = result_type(call, type);
  const std::optional<double> read = distinct_bytes(*in);
  if (type == nullptr || out == nullptr || !read) return {};
  const std::optional<double> more = total_bytes(call.tensors("reads"));
  if (!more) return {};
  const double inputs = count_of(in->shape.dims);
  const bool over_last = call.setting("over") == "last";
  double results = reduced_count(in->shape.dims, over_last ? Dims{-1} : call.int_list("dims"));
  if (call.has("kept")) {  // topk keeps several of each
    const std::optional<int64_t> kept = call.integer("kept");
    if (!kept || *kept < 0) return {};
    results *= static_cast<double>(*kept);
  }
  Cost cost;
  cost.flops = inputs * call.number("flops", 1);
  cost.bytes = *read + *more + results * (out->bytes() + call.number("extra", 0));
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

std::optional<Cost> pooling(const CostCall& call) {
  const ArgValue* in = call.tensor("in");
  const ElementType* type = in != nullptr ? find_element_type(in->type) : nullptr;
  const auto window = call.int_list("window"), padding = call.int_list("padding");
  auto stride = call.int_list("stride");
  if (type == nullptr || !window || window->empty()) return {};
  if (!stride || stride->empty()) stride = window;
  const Dims& dims = in->shape.dims;
  if (dims.size() < window->size()) return {};
  const size_t first = dims.size() - window->size();
  double results = count_of({dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(first)});
  double reach = 1;
  for (size_t k = 0; k < window->size(); ++k) {
    const auto at = [k](const Dims& list) {
      return static_cast<double>(k < list.size() ? list[k] : list.back());
    };
    const double step = at(*stride), pad = padding && !padding->empty() ? at(*padding) : 0,
                 size = static_cast<double>(dims[first + k]) + 2 * pad - at(*window);
    if (step < 1 || pad < 0 || at(*window) < 1 || size < 0) return {};
    results *= std::floor(size / step) + 1;
    reach *= at(*window);
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
