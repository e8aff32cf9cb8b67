#pragma once

#include <string>
#include <utility>
#include <vector>

#include "csv.h"
#include "sheet_rules.h"
#include "tolerance.h"

namespace fathom::agreement {

// Rows of one sheet in both reports that are the same row.
struct RowMatch {
  std::vector<std::pair<size_t, size_t>> pairs;  // ours, theirs; in our order
  std::vector<size_t> theirs_by_rank;            // their rows of `pairs`, in their order
  std::vector<size_t> only_ours;
  std::vector<size_t> only_theirs;
};

// The key cells joined with '|'; "bin N" where a row is known by its position.
std::string find_key(const SheetRule& rule, const Csv& csv, size_t row);

// Rows with the same key are paired in the order they come.
RowMatch match_rows(const SheetRule& rule, const Csv& ours, const Csv& theirs);

struct OrderFault {
  std::string key;
  std::string ours;
  std::string theirs;
  std::string why;
};

// Our rows must follow the documented sort order, and theirs must come in the same order but for
// rows whose sort values tie within tolerance.
std::vector<OrderFault> check_order(const SheetRule& rule, const Csv& ours, const Csv& theirs,
                                    const RowMatch& rows, const EventCounts& events);

}  // namespace fathom::agreement
