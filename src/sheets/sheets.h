#pragma once

#include <future>
#include <memory>
#include <vector>

#include "base/table.h"
#include "sheets/gpu_selection.h"
#include "sheets/launchers.h"
#include "sheets/op_groups.h"

// The sheets of the performance report. Names, columns and meanings are those that TraceLens users
// know; where they differ, docs/differences.tsv says why.
namespace fathom {

struct KernelContext;

// Where the GPU's time went. Comparable with the sum of the parts: computation + exposed
// communication + exposed copies + idle = total.
struct GpuTimeline {
  Nanos computation, exposed_communication, exposed_copies, busy, idle, total;
  Nanos communication, copies;
  Nanos begin, end;  // of the first and the last work
};
// Of the scope's linked work, and of its unlinked work where the scope asks for it.
GpuTimeline measure_timeline(const SheetInput& input);

Table gpu_timeline_sheet(const SheetInput& input);
Table ops_summary_by_category_sheet(const SheetInput& input,
                                    const std::vector<Launcher>& launchers);
Table ops_summary_sheet(const SheetInput& input, const std::vector<Launcher>& launchers);
Table ops_unique_args_sheet(const SheetInput& input, const std::vector<Launcher>& launchers);
Table unified_perf_summary_sheet(const SheetInput& input, const MeasuredOps& ops);
Table kernel_summary_sheet(const SheetInput& input, const std::vector<Launcher>& launchers);
Table short_kernel_histogram_sheet(const SheetInput& input);
Table short_kernels_summary_sheet(const SheetInput& input);
Table collectives_sheet(const SheetInput& input);

// One where the trace holds counters, else none.
std::vector<Table> counter_sheets(const SheetInput& input);

// One for each family of ops that the scope has and that has costs.
std::vector<Table> family_sheets(const SheetInput& input, const MeasuredOps& ops);

// Made elsewhere, and waited for only by the sheets that need them.
using MeasuredOpsLater = std::shared_future<std::shared_ptr<const MeasuredOps>>;

// All of them, in the order of the report: the only list of sheets. `contexts`: of the kernels,
// where counters were given.
std::vector<Table> all_sheets(const SheetInput& input, const std::vector<Launcher>& launchers,
                              const MeasuredOpsLater& ops, size_t threads = 0,
                              const std::vector<KernelContext>* contexts = nullptr);

}  // namespace fathom
