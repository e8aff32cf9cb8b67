#include "sheets/sheets.h"

namespace fathom {

std::vector<Table> all_sheets(const SheetInput& input) {
  const std::vector<Launcher> launchers = find_launchers(input);
  std::vector<Table> sheets;
  sheets.push_back(gpu_timeline_sheet(input));
  sheets.push_back(ops_summary_by_category_sheet(input, launchers));
  sheets.push_back(ops_summary_sheet(input, launchers));
  sheets.push_back(ops_unique_args_sheet(input, launchers));
  sheets.push_back(unified_perf_summary_sheet(input, launchers));
  sheets.push_back(kernel_summary_sheet(input, launchers));
  sheets.push_back(short_kernel_histogram_sheet(input));
  sheets.push_back(short_kernels_summary_sheet(input));
  sheets.push_back(collectives_sheet(input));
  return sheets;
}

}  // namespace fathom
