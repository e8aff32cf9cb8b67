#pragma once

#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/table.h"
#include "measure/counter_join.h"
#include "report/report_listing.h"
#include "report/screen.h"
#include "report/trace/summary.h"
#include "sheets/kernel_contexts.h"

// A report of hardware counters without a trace.
namespace fathom {

struct CounterReport {
  struct Source {
    std::string file, tool, gpu;  // gpu may be empty: not known
    int64_t launches = 0, metrics = 0;
  };
  Table kernels;  // kernel_counters
  std::vector<Source> sources;
  Diagnostics diagnostics;
  int64_t left_out = 0;                      // values that counters.csv has no room for
  std::vector<KernelContext> contexts = {};  // with tested hypotheses, the longest first
  std::vector<Summary::Counters::Bottleneck> bottlenecks = {};  // with the most to save
};

// "Nsight Compute 2025.3.1.0, report file"
std::string tool_text(const CounterOrigin& origin);

std::string counters_text(const CounterReport& report, const TerminalStyle& style,
                          const ReportListing& written = {});
// The kernels with the columns that matter most, and what the tool's own rules say of them.
std::string counters_markdown(const CounterReport& report, const std::vector<CounterFile>& files);
std::string counters_json(const CounterReport& report, const ReportListing& written = {});

}  // namespace fathom
