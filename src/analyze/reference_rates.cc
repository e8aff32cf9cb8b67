#include "analyze/reference_rates.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <vector>

#include "analyze/assessment.h"
#include "base/tsv.h"

extern const std::string_view reference_rates_tsv;

namespace fathom {
namespace {

constexpr std::string_view kMeasuredOn = "H200";
// Shapes that differ by more than this many powers of two, over all dimensions, tell nothing.
constexpr double kFarthest = 2.5;
constexpr size_t kNeighbours = 4;
constexpr double kOtherLayout = 1;

using Sizes = std::array<double, 4>;  // logarithms to base 2

struct MeasuredRow {
  Sizes sizes{};
  std::string_view layout;  // of a product: "kk", "kn", "mn"
  double bytes = 0, seconds = 0;
  double efficiency = 0;  // of the limits of the GPU it was measured on
};

struct ReferenceTables {
  // By function and spec, and by op and spec; the latter in the order of bytes.
  std::map<std::pair<std::string_view, std::string_view>, std::vector<MeasuredRow>> by_shape;
  std::map<std::pair<std::string_view, std::string_view>, std::vector<MeasuredRow>> by_bytes;
  double lookup_row_seconds = 0, lookup_row_bytes = 0;
};

double table_number(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

const Platform& measured_platform() {
  static const Platform& platform = *Platforms::built_in().find(kMeasuredOn).value();
  return platform;
}

const ReferenceTables& reference_tables() {
  static const ReferenceTables all = [] {
    ReferenceTables made;
    for (const auto& row : read_tsv(reference_rates_tsv, 11)) {
      Cost cost;
      cost.spec = row[2];
      cost.flops = table_number(row[8]);
      cost.bytes = table_number(row[9]);
      MeasuredRow measured;
      measured.bytes = cost.bytes;
      measured.seconds = table_number(row[10]) / 1e6;
      measured.layout = row[7];
      if (row[0] == "lookup") {
        made.lookup_row_seconds = measured.seconds / table_number(row[3]);
        made.lookup_row_bytes = table_number(row[4]);
        continue;
      }
      const auto bound = bound_of(cost, &measured_platform());
      if (!bound || measured.seconds <= 0) continue;
      measured.efficiency = bound->seconds() / measured.seconds;
      if (row[0].empty()) {
        made.by_bytes[{row[1], row[2]}].push_back(measured);
        continue;
      }
      for (size_t i = 0; i < measured.sizes.size(); ++i) {
        const double size = table_number(row[3 + i]);
        measured.sizes[i] = size > 0 ? std::log2(size) : 0;
      }
      // Convolutions have no common sizes: by their arithmetic and bytes.
      if (row[3].empty()) measured.sizes = {std::log2(cost.flops), std::log2(cost.bytes), 0, 0};
      made.by_shape[{row[0], row[2]}].push_back(measured);
    }
    for (auto& [key, rows] : made.by_bytes) std::ranges::sort(rows, {}, &MeasuredRow::bytes);
    return made;
  }();
  return all;
}

std::optional<double> cost_param(const Cost& cost, std::string_view name) {
  const auto found = std::ranges::find(cost.params, name, &CostParam::name);
  if (found == cost.params.end()) return {};
  const double value = table_number(found->json);
  return value > 0 ? std::optional(value) : std::nullopt;
}

struct ComparedShape {
  std::string_view function;
  Sizes sizes{};
  std::string layout = {};  // of a product; empty: not known
};

// The last stride but `from_end` of "[512,1]"; nothing where it has none.
std::optional<int64_t> product_stride(const Cost& cost, std::string_view name, size_t from_end) {
  const auto found = std::ranges::find(cost.params, name, &CostParam::name);
  if (found == cost.params.end()) return {};
  std::string_view list = found->json;
  if (list.size() < 2 || list.front() != '[') return {};
  list = list.substr(1, list.size() - 2);
  const std::vector<std::string_view> strides = split(list, ',');
  if (strides.size() <= from_end) return {};
  return static_cast<int64_t>(table_number(strides[strides.size() - 1 - from_end]));
}

// k: the summed dimension is contiguous, as in x @ weight.t(); for A, then for B.
std::string product_layout(const Cost& cost) {
  const auto a = product_stride(cost, "stride_A", 0), b = product_stride(cost, "stride_B", 1);
  if (!a || !b) return {};
  return std::string(*a == 1 ? "k" : "m") + (*b == 1 ? "k" : "n");
}

// Of a product, attention or convolution; nothing for ops that are compared by bytes.
std::optional<ComparedShape> shape_of(const UsualQuestion& q) {
  const std::string_view function = cost_function_of(q.op);
  const Cost& cost = *q.cost;
  const auto m = cost_param(cost, "M"), n = cost_param(cost, "N"), k = cost_param(cost, "K");
  if (function == "gemm" && m && n && k) {
    return ComparedShape{
        "gemm",
        {std::log2(*m), std::log2(*n), std::log2(*k), std::log2(cost_param(cost, "B").value_or(1))},
        product_layout(cost)};
  }
  const auto queries = cost_param(cost, "N_Q"), keys = cost_param(cost, "N_KV"),
             heads = cost_param(cost, "H_Q"), width = cost_param(cost, "d_h_qk");
  if (queries && keys && heads && width) {
    const bool backward = q.gradient || function == "attention_backward";
    if (!backward && function != "attention") return {};
    return ComparedShape{backward ? "attention_backward" : "attention",
                         {std::log2(cost_param(cost, "B").value_or(1) * *heads),
                          std::log2(*queries), std::log2(*keys), std::log2(*width)}};
  }
  const bool convolves = function == "convolution" || function == "convolution_backward";
  if (convolves && cost.flops > 0 && cost.bytes > 0) {
    const bool backward = q.gradient || function == "convolution_backward";
    return ComparedShape{backward ? "convolution_backward" : "convolution",
                         {std::log2(cost.flops), std::log2(cost.bytes), 0, 0}};
  }
  return {};
}

// The op whose times stand for others of its kind.
std::string_view representative(std::string_view op) {
  if (op.find("log_softmax") != std::string_view::npos) return "aten::_log_softmax";
  if (op.find("softmax") != std::string_view::npos) return "aten::_softmax";
  const std::string_view function = cost_function_of(op);
  if (op.find("layer_norm") != std::string_view::npos && function == "normalization")
    return "aten::layer_norm";
  if (op.find("rms_norm") != std::string_view::npos) return "aten::_fused_rms_norm";
  struct Kind {
    std::string_view function, op;
  };
  static constexpr Kind kKinds[] = {{"elementwise", "aten::mul"},
                                    {"streams", "aten::mul"},
                                    {"reduce", "aten::sum"},
                                    {"normalization", "aten::layer_norm"},
                                    {"gather", "aten::gather"},
                                    {"index", "aten::gather"},
                                    {"concatenate", "aten::cat"},
                                    {"multi_tensor", "aten::_foreach_add_"},
                                    {"scatter", "aten::index_add_"},
                                    {"normalization_backward", "aten::native_layer_norm_backward"}};
  const auto found = std::ranges::find(kKinds, function, &Kind::function);
  return found == std::end(kKinds) ? std::string_view() : found->op;
}

// Half and bfloat16 run at one rate; where a type was not measured, bytes decide.
std::vector<std::string_view> similar_specs(std::string_view spec) {
  if (spec == "matrix_fp16") return {"matrix_fp16", "matrix_bf16"};
  if (spec == "vector_fp16") return {"vector_bf16"};
  if (spec == "vector_bf16") return {"vector_bf16", "vector_fp32", ""};
  return {spec, "vector_fp32", "vector_bf16", ""};
}

double shape_distance(const Sizes& x, const Sizes& y) {
  double squares = 0;
  for (size_t i = 0; i < x.size(); ++i) squares += (x[i] - y[i]) * (x[i] - y[i]);
  return std::sqrt(squares);
}

// The mean of the nearest, the near ones counting more; nothing where none is near.
std::optional<double> efficiency_near(const std::vector<MeasuredRow>& rows,
                                      const ComparedShape& shape) {
  std::vector<std::pair<double, double>> near;  // distance, logarithm of the efficiency
  for (const MeasuredRow& row : rows) {
    double away = shape_distance(row.sizes, shape.sizes);
    if (shape.function == "gemm") {
      // A product and its transpose are the same work.
      const Sizes turned = {shape.sizes[1], shape.sizes[0], shape.sizes[2], shape.sizes[3]};
      away = std::min(away, shape_distance(row.sizes, turned));
    }
    // A row of another layout counts as one farther away.
    if (!shape.layout.empty() && !row.layout.empty() && shape.layout != row.layout)
      away += kOtherLayout;
    if (away <= kFarthest) near.emplace_back(away, std::log(row.efficiency));
  }
  if (near.empty()) return {};
  const size_t count = std::min(kNeighbours, near.size());
  std::ranges::partial_sort(near, near.begin() + static_cast<std::ptrdiff_t>(count));
  double weights = 0, sum = 0;
  for (size_t i = 0; i < count; ++i) {
    const double weight = 1 / (near[i].first * near[i].first + 0.02);
    weights += weight;
    sum += weight * near[i].second;
  }
  return std::exp(sum / weights);
}

// Between two sizes along a straight line in logarithms; the smallest has the fixed cost of a
// kernel, beyond the largest time grows with the bytes.
double seconds_by_bytes(const std::vector<MeasuredRow>& rows, double bytes) {
  if (bytes <= rows.front().bytes) return rows.front().seconds;
  if (bytes >= rows.back().bytes) return rows.back().seconds * bytes / rows.back().bytes;
  const auto above = std::ranges::lower_bound(rows, bytes, {}, &MeasuredRow::bytes);
  const auto below = above - 1;
  const double part = std::log(bytes / below->bytes) / std::log(above->bytes / below->bytes);
  return below->seconds * std::pow(above->seconds / below->seconds, part);
}

// The last number of "[1000,128]".
double last_of_list(std::string_view list) {
  const size_t comma = list.rfind(',');
  return table_number(list.substr(comma == std::string_view::npos ? 1 : comma + 1));
}

// A lookup of rows runs a block for each, so that many short rows take longer than their bytes.
// Rows that are too narrow for a block's loads are a fault: nothing is usual for them.
double seconds_by_rows(const UsualQuestion& q) {
  const std::vector<CostParam>& params = q.cost->params;
  const auto table = std::ranges::find(params, "op_shape", &CostParam::name);
  const auto elements = cost_param(*q.cost, "num_output_elems");
  if (cost_function_of(q.op) != "gather" || table == params.end() || !elements) return 0;
  const double width = last_of_list(table->json);
  const double rows = width > 0 ? *elements / width : 0;
  const ReferenceTables& tables = reference_tables();
  // Each row is read and written.
  if (rows < 1 || q.cost->bytes < 2 * rows * tables.lookup_row_bytes) return 0;
  return rows * tables.lookup_row_seconds;
}

// On the GPU that was measured.
std::optional<double> measured_seconds(const UsualQuestion& q) {
  if (const auto shape = shape_of(q)) {
    for (const std::string_view spec : similar_specs(q.cost->spec)) {
      const auto found = reference_tables().by_shape.find({shape->function, spec});
      if (found == reference_tables().by_shape.end()) continue;
      const auto efficiency = efficiency_near(found->second, *shape);
      const auto bound = bound_of(*q.cost, &measured_platform());
      if (!efficiency || !bound) return {};
      return bound->seconds() / *efficiency;
    }
    return {};
  }
  for (const std::string_view op : {q.op, representative(q.op)}) {
    if (op.empty()) continue;
    for (const std::string_view spec : similar_specs(q.cost->spec)) {
      const auto found = reference_tables().by_bytes.find({op, spec});
      if (found != reference_tables().by_bytes.end())
        return std::max(seconds_by_bytes(found->second, q.cost->bytes), seconds_by_rows(q));
    }
  }
  return {};
}

}  // namespace

std::optional<UsualTime> usual_time(const UsualQuestion& q, const Platform& platform) {
  if (q.cost == nullptr || q.cost->bytes <= 0) return {};
  const std::optional<double> seconds = measured_seconds(q);
  if (!seconds) return {};
  if (platform.name == kMeasuredOn) return UsualTime{*seconds, false};
  const auto here = bound_of(*q.cost, &platform), there = bound_of(*q.cost, &measured_platform());
  if (!here || !there || there->seconds() <= 0) return {};
  return UsualTime{*seconds * here->seconds() / there->seconds(), true};
}

}  // namespace fathom
