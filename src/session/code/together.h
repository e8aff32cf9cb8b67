#pragma once

#include <functional>

#include "analyze/ranks/compare_ranks.h"
#include "base/output_directory.h"
#include "report/ranks/ranks_report.h"
#include "session/analyze.h"

namespace fathom {

struct TogetherOptions {
  size_t threads = 0;  // ranks that are read at the same time; 0: as many as the machine has
  int64_t max_size = 0;
  const Platform* platform = nullptr;  // null: detected from the traces; it outlives the result
  std::function<Result<Scope>(const Trace&)> scope;
  std::function<void(size_t done, size_t all)> progress;  // may be empty
};

struct Together {
  RankComparison comparison;
  std::vector<std::string> unread;  // why traces could not be read

  RanksView view() const { return {comparison, unread}; }
};

// The traces in a folder and in the folders directly in it, by name; others as they are.
Result<std::vector<std::string>> expand_traces(const std::vector<std::string>& given);

// One rank: its facts, and nothing that refers to the trace.
RankFacts rank_facts_of(const Trace& trace, const Scope& scope);

// Reads the ranks, a few at a time, and compares them. Fails where fewer than two are left.
Result<Together> analyze_together(const std::vector<std::string>& traces,
                                  const TogetherOptions& options);

// Writes ranks.md, ranks.svg, rank_csvs/, summary.json and, where asked for, report.html, whole or
// not at all.
Result<WrittenReport> write_together(const Together& together, bool page, const OutputPlace& place);

}  // namespace fathom
