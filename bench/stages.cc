#include "stages.h"

#include <fmt/format.h>

#include <chrono>

#include "analyze/pipeline.h"
#include "ingest/kineto/reader.h"
#include "report/csv.h"
#include "sheets/sheets.h"

namespace fathom::bench {
namespace {

class Stopwatch {
 public:
  // The time since the last lap.
  void lap(std::string_view stage) {
    const auto now = std::chrono::steady_clock::now();
    fmt::print("{:<28} {:8.1f} ms\n", stage,
               std::chrono::duration<double, std::milli>(now - last_).count());
    last_ = std::chrono::steady_clock::now();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

bool print_stages(const std::string& trace) {
  Stopwatch watch;
  const Result<EventStore> store = kineto::read_trace(trace);
  if (!store.ok()) {
    fmt::print(stderr, "{}\n", store.error().message);
    return false;
  }
  watch.lap("read");
  const CallTree tree = build_call_tree(store.value());
  watch.lap("link");
  const Scope scope;
  const SheetInput input(store.value(), tree, scope);
  watch.lap("select");
  const std::vector<Launcher> launchers = find_launchers(input);
  watch.lap("launchers");
  std::vector<Table> sheets;
  const auto sheet = [&](Table table) {
    watch.lap(table.name());
    sheets.push_back(std::move(table));
  };
  sheet(gpu_timeline_sheet(input));
  sheet(ops_summary_by_category_sheet(input, launchers));
  sheet(ops_summary_sheet(input, launchers));
  sheet(ops_unique_args_sheet(input, launchers));
  const MeasuredOps ops(input, launchers);
  watch.lap("ops and costs");
  sheet(unified_perf_summary_sheet(input, ops));
  for (Table& family : family_sheets(input, ops)) sheet(std::move(family));
  sheet(kernel_summary_sheet(input, launchers));
  sheet(short_kernel_histogram_sheet(input));
  sheet(short_kernels_summary_sheet(input));
  sheet(collectives_sheet(input));
  const Assessment assessment(input, ops, Platforms::built_in().find("H200").value());
  watch.lap("assessment");
  const std::vector<Finding> findings = find_all(assessment);
  watch.lap(fmt::format("{} findings", findings.size()));
  size_t bytes = 0;
  for (const Table& table : sheets) bytes += to_csv(table).size();
  watch.lap(fmt::format("{:.1f} MB as CSV", static_cast<double>(bytes) / 1e6));
  return true;
}

}  // namespace fathom::bench
