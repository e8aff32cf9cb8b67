#pragma once

#include <array>
#include <string_view>
#include <vector>

namespace fathom::agreement {

// How two cells of a column are compared. Each kind's limit is in tolerance.h.
enum class ColumnKind {
  text,  // byte for byte; integers too
  percent,
  cumulative,   // a running percentage: belongs to the rank, not to the row (rows may tie)
  duration,     // statistics of the trace's `dur`, which both tools read exactly
  busy_sum,     // sums of interval lengths, which theirs takes from rounded timestamps
  busy_stat,    // mean, median, min, max, std of such lengths
  timeline,     // gpu_timeline's times
  rate,         // something per second of busy time
  cost,         // a count from a formula, no clock involved
  details,      // kernel_details*
  cut_details,  // trunc_kernel_details
  params,       // perf_params
};

// A column no rule names is text, the strictest kind.
ColumnKind find_column_kind(std::string_view column);

// Whether cells of this kind are a Python literal in theirs and JSON in ours.
constexpr bool holds_literal(ColumnKind kind) {
  return kind == ColumnKind::details || kind == ColumnKind::cut_details ||
         kind == ColumnKind::params;
}

struct SheetRule {
  std::string_view name;
  // Columns that say which row it is; none: the position says it (histogram bins).
  std::vector<std::string_view> keys;
  // Rows come in falling order of this column, then in rising order of `then_by`; empty: fixed
  // order.
  std::string_view sorted_by;
  std::string_view then_by;
  // May be absent from both reports: a family sheet without rows is not written.
  bool optional = false;
  // pandas writes an empty frame without its header; ours must then still have this one.
  std::vector<std::string_view> header_when_blank;
};

const std::vector<SheetRule>& list_core_sheets();

// One sheet per op family.
inline constexpr bool compare_family_sheets = true;
inline constexpr std::array<std::string_view, 14> family_sheets = {
    "GEMM",
    "CONV_fwd",
    "CONV_bwd",
    "SDPA_fwd",
    "SDPA_bwd",
    "UnaryElementwise",
    "BinaryElementwise",
    "Normalization",
    "Reduce_fwd",
    "Reduce_bwd",
    "RMSNorm_fwd",
    "RoPE_fwd",
    "InferenceAttention_fwd",
    "MoE",
};

std::vector<SheetRule> list_family_sheets();

}  // namespace fathom::agreement
