#include "sheet_rules.h"

#include "base/glob.h"
#include "differences.h"

namespace fathom::agreement {
namespace {

struct ColumnRule {
  std::string_view pattern;
  ColumnKind kind;
};

// The first that matches counts.
constexpr ColumnRule column_rules[] = {
    {"Cumulative Percentage (%)", ColumnKind::cumulative},
    {"Percentage (%)", ColumnKind::percent},
    {"Percent of *", ColumnKind::percent},
    {"* percent of total time", ColumnKind::percent},
    {"percent", ColumnKind::percent},
    {"time ms", ColumnKind::timeline},
    {"total_*_kernel_time_sum", ColumnKind::busy_sum},
    {"total_*_kernel_time_ms", ColumnKind::busy_sum},
    {"total_*_kernel_time_*", ColumnKind::busy_stat},
    {"Kernel Time (µs)_sum", ColumnKind::busy_sum},
    {"Kernel Time (µs)_*", ColumnKind::busy_stat},
    {"Kernel duration (µs)_count", ColumnKind::text},
    {"Kernel duration (µs)_*", ColumnKind::duration},
    {"Short Kernel duration (µs) *", ColumnKind::duration},
    {"total_duration_us", ColumnKind::duration},
    {"mean_duration_us", ColumnKind::duration},
    {"std_duration_us", ColumnKind::duration},
    {"duration_us_*", ColumnKind::duration},
    {"bin_start", ColumnKind::duration},
    {"bin_end", ColumnKind::duration},
    {"TB/s_*", ColumnKind::rate},
    {"TFLOPS/s_*", ColumnKind::rate},
    {"GFLOPS*", ColumnKind::cost},
    {"Data Moved (MB)*", ColumnKind::cost},
    {"FLOPS/Byte*", ColumnKind::cost},
    {"kernel_details*", ColumnKind::details},
    {"trunc_kernel_details", ColumnKind::cut_details},
    {"perf_params", ColumnKind::params},
};

const std::vector<std::string_view>& op_keys() {
  static const std::vector<std::string_view> keys = {
      "name",       "op category", "process_name",  "process_label",  "thread_name",
      "Input Dims", "Input type",  "Input Strides", "Concrete Inputs"};
  return keys;
}

std::vector<SheetRule> make_core_sheets() {
  return {
      {"gpu_timeline", {"type"}, "", "", false, {}},
      {"ops_summary_by_category", {"op category"}, "total_direct_kernel_time_ms", "", false, {}},
      {"ops_summary", {"name"}, "total_direct_kernel_time_sum", "", false, {}},
      {"ops_unique_args", op_keys(), "total_direct_kernel_time_sum", "ex_UID", false, {}},
      {"kernel_summary",
       {"Parent op category", "Parent cpu_op", "Kernel name", "Kernel stream"},
       "Kernel duration (µs)_sum",
       "",
       false,
       {}},
      {"short_kernel_histogram", {}, "", "", false, {}},
      {"short_kernels_summary",
       {"Parent cpu_op", "Input dims", "Input strides", "Concrete Inputs", "Kernel name"},
       "Short Kernel duration (µs) sum",
       "",
       false,
       {"Parent cpu_op", "Input dims", "Input strides", "Concrete Inputs", "Kernel name",
        "Short Kernel duration (µs) sum", "Short Kernel count", "Short Kernel duration (µs) mean",
        "Short Kernel duration (µs) percent of total time"}},
      {"unified_perf_summary", op_keys(), "Kernel Time (µs)_sum", "ex_UID", false, {}},
  };
}

}  // namespace

ColumnKind find_column_kind(std::string_view column) {
  for (const auto& rule : column_rules) {
    if (glob_matches(rule.pattern, column)) return rule.kind;
  }
  return ColumnKind::text;
}

const std::vector<SheetRule>& list_core_sheets() {
  static const std::vector<SheetRule> sheets = make_core_sheets();
  return sheets;
}

std::vector<SheetRule> list_family_sheets() {
  std::vector<SheetRule> sheets;
  for (const auto name : family_sheets) {
    sheets.push_back({name,
                      {"name", "Input Dims_first", "Input type_first", "Input Strides_first",
                       "Concrete Inputs_first"},
                      "Kernel Time (µs)_sum",
                      "UID_first",
                      true,
                      {}});
  }
  return sheets;
}

}  // namespace fathom::agreement
