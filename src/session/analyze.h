#pragma once

#include <filesystem>

#include "analyze/critical/what_if.h"
#include "base/output_directory.h"
#include "measure/counter_join.h"
#include "platform/platform.h"
#include "replay/package.h"
#include "report/trace/analysis_files.h"
#include "report/trace/summary.h"
#include "session/known_code.h"
#include "session/trace.h"

namespace fathom {

struct PackageInReport {
  std::string path;
  ReplayPackage package;
};

// A report in memory, made once: the sheets that the known report has, and what was found.
struct Analysis {
  Summary summary;
  std::vector<Table> sheets;
  std::vector<ReportFile> files;  // analyses and reports
  std::vector<PackageInReport> packages;
};

struct AnalyzeOptions {
  size_t threads = 0;                  // 1, or (0) as many as help
  const Platform* platform = nullptr;  // null: detected from the trace
  const KnownCode* code = nullptr;     // of the repository whose kernels ran; null: not known
  // Hardware counters of the trace's kernels; null or empty: none. They outlive the call.
  const std::vector<CounterFile>* counters = nullptr;
  // PC samples of the trace's kernels; null: none. They outlive the call.
  const StallSamples* samples = nullptr;
  std::vector<WhatIfQuestion> what_if = {};
  bool page = false;  // report.html too
};

// Fails where the trace has nothing of the scope.
Result<Analysis> analyze(const Trace& trace, const Scope& scope,
                         const AnalyzeOptions& options = {});

struct WrittenReport {
  ReportListing listing;
  std::vector<std::string> notes;  // what to tell the user about files that were in the way
};
// Writes the report, whole or not at all.
Result<WrittenReport> write_report(const Analysis& analysis, const OutputPlace& place);

// Where a trace's report goes when nobody says: traces/llama.json.gz → traces/llama.fathom
std::filesystem::path default_report_directory(const std::string& trace_path);

// Where a report's trace is cached: traces/llama.fathom → traces/llama.fathom.cache
std::filesystem::path cache_beside(const std::filesystem::path& report_directory);

}  // namespace fathom
