// Ops that move chosen elements: gather, scatter, concatenate; and those whose sizes the trace
// shows only in how their kernels were launched.
#include <algorithm>
#include <charconv>

#include "base/json_writer.h"
#include "base/tsv.h"
#include "cost/cost_functions.h"

namespace fathom::costs {
namespace {

using Dims = std::vector<int64_t>;

// What is read from `source` and written: a row (or element) for each index.
std::optional<double> gathered_count(const CostCall& call, const Dims& source, const Dims& index) {
  const std::string_view shape = call.setting("shape");
  if (shape == "index") return count_of(index);  // gather: the result has the index's sizes
  if (shape == "rows") {                         // embedding: a row of the table for each index
    const double rows = source.empty() ? 1 : static_cast<double>(source[0]);
    return rows > 0 ? count_of(index) * count_of(source) / rows : 0;
  }
  const std::optional<int64_t> dim = call.integer("dim");  // index_select
  if (!dim) return {};
  const auto rank = static_cast<int64_t>(source.size());
  const int64_t d = *dim < 0 ? *dim + rank : *dim;
  if (d < 0 || d >= rank || source[static_cast<size_t>(d)] == 0) return {};
  return count_of(source) / static_cast<double>(source[static_cast<size_t>(d)]) * count_of(index);
}

std::vector<CostParam> indexing_params(const ArgValue& table, const ArgValue& index, double moved) {
  return {{"op_shape", json_ints(table.shape.dims)},
          {"index_shape", json_ints(index.shape.dims)},
          {"num_output_elems", json_count(moved)},
          {"dtype_in_out", json_types({&table, &table})}};
}

// The last number of a template's arguments: kernel<128, 4, …> has 4 elements a thread.
std::optional<int> elements_per_thread(std::string_view kernel) {
  const size_t open = kernel.find('<');
  if (open == std::string_view::npos) return {};
  int numbers[2] = {0, 0};
  size_t at = open + 1;
  for (int& number : numbers) {
    const auto [end, error] =
        std::from_chars(kernel.data() + at, kernel.data() + kernel.size(), number);
    if (error != std::errc()) break;
    at = static_cast<size_t>(end - kernel.data());
    while (at < kernel.size() && (kernel[at] == ',' || kernel[at] == ' ')) ++at;
  }
  if (numbers[1] > 0) return numbers[1];
  if (numbers[0] > 0) return numbers[0];
  return {};
}

double threads_in(const Dim3& d) { return double{1} * d.x * d.y * d.z; }

// OpaqueType<4u> stands for any type of four bytes.
std::optional<double> opaque_bytes(const CostCall& call) {
  for (const LaunchedKernel& kernel : call.kernels()) {
    static constexpr std::string_view kMark = "OpaqueType<";
    const size_t at = kernel.name.find(kMark);
    if (at == std::string_view::npos) continue;
    int bytes = 0;
    const char* begin = kernel.name.data() + at + kMark.size();
    std::from_chars(begin, kernel.name.data() + kernel.name.size(), bytes);
    if (bytes > 0 && bytes <= 16) return bytes;
  }
  return {};
}

}  // namespace

std::optional<Cost> gather(const CostCall& call) {
  const ArgValue *source = call.tensor("in"), *index = call.tensor_or_element("index");
  if (source == nullptr || index == nullptr) return {};
  const ElementType* type = find_element_type(source->type);
  const std::optional<double> moved = gathered_count(call, source->shape.dims, index->shape.dims);
  if (type == nullptr || !moved) return {};
  Cost cost;
  cost.bytes = 2 * *moved * type->bytes() + distinct_bytes(*index).value_or(0);
  cost.spec = spec_name("vector", type);
  cost.params = indexing_params(*source, *index, *moved);
  return cost;
}

// source: what is added or copied; each element is read, and its place written (and read before,
// where it is added to).
std::optional<Cost> scatter(const CostCall& call) {
  const ArgValue *table = call.tensor("out"), *index = call.tensor("index"),
                 *source = call.tensor("source");
  if (table == nullptr || index == nullptr) return {};
  const ElementType* type = find_element_type(table->type);
  if (type == nullptr) return {};
  const double moved = count_of(source != nullptr ? source->shape.dims : index->shape.dims);
  Cost cost;
  cost.flops = call.has("adds") ? moved : 0;
  cost.bytes = (source != nullptr ? distinct_bytes(*source).value_or(0) : 0) +
               moved * type->bytes() * (call.has("adds") ? 2 : 1) +
               distinct_bytes(*index).value_or(0);
  // A result of its own begins as a copy, or as zeros: so many rows, each as long as the source's.
  if (call.has("copies_table")) cost.bytes += 2 * count_of(table->shape.dims) * type->bytes();
  if (call.has("rows")) {
    const std::optional<int64_t> rows = call.integer("rows");
    if (!rows) return {};
    cost.bytes += static_cast<double>(*rows) * last_of(table->shape.dims) * type->bytes();
  }
  cost.spec = spec_name("vector", type);
  cost.params = indexing_params(*table, *index, moved);
  return cost;
}

std::optional<Cost> concatenate(const CostCall& call) {
  const ArgValue* list = call.operand("in");
  if (list == nullptr || list->list.empty()) return {};
  double elements = 0;
  for (const ArgValue::Shape& shape : list->list) elements += count_of(shape.dims);
  // Lists have no element type in the trace; the kernel's name tells its size.
  const std::optional<double> size = opaque_bytes(call);
  if (!size) return {};
  Cost cost;
  cost.bytes = 2 * elements * *size;
  cost.params = {{"num_output_elems", json_count(elements)},
                 {"bytes_per_element", json_count(*size)}};
  return cost;
}

// Optimizers and other loops over lists of tensors. Where the trace does not show their sizes: each
// block has a chunk of a tensor, so the grid tells how many elements there are at most. A launch of
// the most blocks is of few tensors, whose chunks are mostly full; of a smaller one it is not known
// whether they are chunks or single numbers.
std::optional<Cost> multi_tensor(const CostCall& call) {
  constexpr double kChunk = 65536, kMostBlocks = 320;
  double elements = 0, bytes_each = 0, full = 0;
  for (const LaunchedKernel& kernel : call.kernels()) {
    if (!kernel.grid || kernel.name.find("multi_tensor_apply") == std::string_view::npos) continue;
    const double blocks = threads_in(*kernel.grid);
    elements += blocks * kChunk;
    if (blocks >= kMostBlocks) full += blocks * kChunk;
    bytes_each = kernel.name.find("BFloat16") != std::string_view::npos ||
                         kernel.name.find("Half") != std::string_view::npos
                     ? 2
                     : 4;
  }
  if (elements == 0) return {};
  const std::vector<ArgValue>& inputs = call.args().inputs;
  const bool has_sizes = !inputs.empty() && !inputs[0].list.empty();
  if (has_sizes) {
    elements = 0;
    for (const ArgValue::Shape& shape : inputs[0].list) elements += count_of(shape.dims);
  } else if (2 * full < elements) {
    return {};
  }
  Cost cost;
  cost.flops = elements * call.number("flops", 1);
  cost.bytes = elements * bytes_each * (call.number("reads", 1) + call.number("writes", 1));
  cost.spec = "vector_fp32";
  cost.params = {{has_sizes ? "num_elems" : "num_elems_at_most", json_count(elements)},
                 {"bytes_per_element", json_count(bytes_each)}};
  if (!has_sizes) cost.assumption = "elements from the kernels' grids: full chunks";
  return cost;
}

namespace {

// The source is spread out to the result's sizes before its elements are picked: the op's own call
// of as_strided on it names them.
std::optional<double> spread_elements(const CostCall& call, const ArgValue& in) {
  for (const CalledOp& op : call.below()) {
    if (op.name != "aten::as_strided" || op.args.inputs.size() < 2) continue;
    if (op.args.inputs[0].shape.dims != in.shape.dims) continue;
    if (const auto sizes = read_int_list(op.args.inputs[1].concrete)) return count_of(*sizes);
  }
  return {};
}

double launched_elements(const CostCall& call) {
  double elements = 0;
  for (const LaunchedKernel& kernel : call.kernels()) {
    const std::optional<int> each = elements_per_thread(kernel.name);
    if (!kernel.grid || !kernel.block || !each ||
        kernel.name.find("elementwise") == std::string_view::npos)
      continue;
    elements = std::max(elements, threads_in(*kernel.grid) * threads_in(*kernel.block) * *each);
  }
  return elements;
}

}  // namespace

// x[i, j, …] and x[i, j, …] = y: lists of indices, which the trace does not show. Results are
// counted from the call below that names them, else from the launch.
std::optional<Cost> index(const CostCall& call) {
  const ArgValue* in = call.tensor("in");
  const ElementType* type = in != nullptr ? find_element_type(in->type) : nullptr;
  if (type == nullptr) return {};
  const std::optional<double> spread = spread_elements(call, *in);
  const double elements = spread ? *spread : launched_elements(call);
  if (!spread && elements == 0) return {};
  // Each index names a row at most as long as the last dimension.
  constexpr double kIndex = 8;
  const double rows = elements / std::max(1.0, last_of(in->shape.dims));
  Cost cost;
  // Rows of a small table are read once and written many times.
  const double read = std::min(elements, count_of(in->shape.dims));
  cost.bytes = (elements + read) * type->bytes() + (spread ? rows : elements) * kIndex;
  cost.spec = spec_name("vector", type);
  cost.params = {{"op_shape", json_ints(in->shape.dims)}};
  if (spread) {
    cost.params.push_back({"num_output_elems", json_count(elements)});
    cost.assumption = "an index for each row";
  } else {
    cost.params.push_back({"num_output_elems_at_most", json_count(elements)});
    cost.assumption = "elements from the kernel's launch: full blocks, an index for each";
  }
  return cost;
}

// Over a link between GPUs: what this GPU reads and writes. No peak of the GPU is its limit.
std::optional<Cost> transfer(const CostCall& call) {
  double read = 0, written = 0;
  for (const ArgValue* operand : call.tensors("in")) read += distinct_bytes(*operand).value_or(0);
  for (const ArgValue* operand : call.tensors("out")) {
    written += distinct_bytes(*operand).value_or(0);
  }
  if (read == 0) return {};
  Cost cost;
  cost.bytes = read + written;
  cost.spec = "link";
  cost.params = {{"message_bytes", json_count(read)}};
  return cost;
}

}  // namespace fathom::costs
