#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/output_directory.h"
#include "measure/counter_join.h"
#include "report/report_listing.h"
#include "report/trace/analysis_files.h"
#include "report/trace/counters_report.h"
#include "session/analyze.h"

namespace fathom {

struct KernelContext;

// Hardware counters by what the file holds: Nsight Compute's CSV pages and reports, rocprof's CSV,
// plain, gzip or zstd. None: it is something else, or no file. Fails on counters that cannot be
// read.
Result<std::optional<CounterFile>> open_counters(const std::string& path);

// The counters inside a capture, and what was sampled of its kernels; none: it is no capture, or
// has none.
Result<std::vector<CounterFile>> open_capture_counters(const Trace& trace);

// How a counted kernel was launched, as a trace would tell it.
GpuWork counted_work(const CounterRow& row);

// How much of the scope's kernel time the joined counters cover.
Summary::Counters summarize_counters(const SheetInput& input);
// The confirmed hypotheses with the most to save, each kernel once.
std::vector<Summary::Counters::Bottleneck> summarize_bottlenecks(
    const std::vector<KernelContext>& kernels);
// perf_report_csvs/counters.csv: every value.
ReportFile counter_values_file(const std::vector<CounterFile>& files, int64_t& left_out);

// A report of counters alone. `platform` may be null: the GPU that the counters name.
CounterReport analyze_counters(const std::vector<CounterFile>& files,
                               const Platform* platform = nullptr);
Result<WrittenReport> write_counter_report(const CounterReport& report,
                                           const std::vector<CounterFile>& files, bool page,
                                           const OutputPlace& place);

}  // namespace fathom
