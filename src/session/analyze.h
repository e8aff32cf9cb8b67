#pragma once

#include <filesystem>

#include "report/summary.h"
#include "session/trace.h"

namespace fathom {

// What the known report says of a trace, in memory.
struct Analysis {
  Summary summary;
  std::vector<Table> sheets;
};

// What a report says first, but for its ops. Fails where the trace has nothing of the scope.
Result<Summary> summarize(const Trace& trace, const SheetInput& input);

// One thread, or (0) as many as help.
Result<Analysis> analyze(const Trace& trace, const Scope& scope, size_t threads = 0);

// Writes perf_report_csvs/ and summary.json, whole or not at all, and notes where in the summary.
Status write_report(Analysis& analysis, const std::filesystem::path& directory);

// Where a trace's report goes when nobody says: traces/llama.json.gz → traces/llama.fathom
std::filesystem::path default_report_directory(const std::string& trace_path);

// Where a report's trace is cached: traces/llama.fathom → traces/llama.fathom.cache
std::filesystem::path cache_beside(const std::filesystem::path& report_directory);

}  // namespace fathom
