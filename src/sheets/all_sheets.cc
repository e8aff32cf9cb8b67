#include <functional>
#include <future>

#include "base/threads.h"
#include "sheets/counter_sheets.h"
#include "sheets/cpu_ops.h"
#include "sheets/host_activity.h"
#include "sheets/kernel_clocks.h"
#include "sheets/kernel_contexts.h"
#include "sheets/sheets.h"
#include "sheets/stall_sheets.h"

namespace fathom {

// Each sheet only reads its input, so they are made side by side; the order stays that of the list.
std::vector<Table> all_sheets(const SheetInput& input, const std::vector<Launcher>& launchers,
                              const MeasuredOpsLater& ops, size_t threads,
                              const std::vector<KernelContext>* contexts) {
  const std::vector<std::function<Table()>> makers = {
      [&] { return gpu_timeline_sheet(input); },
      [&] { return ops_summary_by_category_sheet(input, launchers); },
      [&] { return ops_summary_sheet(input, launchers); },
      [&] { return ops_unique_args_sheet(input, launchers); },
      [&] { return unified_perf_summary_sheet(input, *ops.get()); },
      [&] { return kernel_summary_sheet(input, launchers); },
      [&] { return short_kernel_histogram_sheet(input); },
      [&] { return short_kernels_summary_sheet(input); },
      [&] { return collectives_sheet(input); },
  };
  std::vector<std::future<Table>> running;
  running.reserve(makers.size());
  for (const auto& make : makers) running.push_back(start_beside(make, threads != 1));
  std::future<std::vector<Table>> families =
      start_beside([&] { return family_sheets(input, *ops.get()); }, threads != 1);
  std::vector<Table> sheets;
  sheets.reserve(running.size());
  for (std::future<Table>& sheet : running) sheets.push_back(sheet.get());
  for (Table& sheet : families.get()) sheets.push_back(std::move(sheet));
  for (Table& sheet : cpu_sheets(input)) sheets.push_back(std::move(sheet));
  for (Table& sheet : host_sheets(input)) sheets.push_back(std::move(sheet));
  if (input.kernels.counters() != nullptr) sheets.push_back(kernel_counters_sheet(input));
  if (const StallSamples* samples = input.kernels.samples())
    sheets.push_back(stall_samples_sheet(input, *samples));
  if (const auto clocks = measure_clocks(input))
    sheets.push_back(kernel_clocks_sheet(input, *clocks));
  if (contexts != nullptr && !contexts->empty()) {
    sheets.push_back(kernels_sheet(*contexts));
    sheets.push_back(hypotheses_sheet(*contexts, kMostKernelPages));
  }
  for (Table& sheet : counter_sheets(input)) sheets.push_back(std::move(sheet));
  return sheets;
}

}  // namespace fathom
