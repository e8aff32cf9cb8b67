#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "csv.h"
#include "differences.h"
#include "sheet_rules.h"
#include "tolerance.h"

namespace fathom::agreement {

struct Mismatch {
  std::string sheet;
  std::string column;  // or one of the marks in differences.h
  std::string key;     // the row's key cells joined with '|'
  std::string ours;
  std::string theirs;
  std::string why;
};

// Every place where the CSV sheets in `ours` do not agree with those in `expected`, but for what
// `differences` covers.
std::vector<Mismatch> compare_reports(const std::filesystem::path& ours,
                                      const std::filesystem::path& expected,
                                      Differences& differences,
                                      bool families = compare_family_sheets);

// The same for one sheet, both of whose sides are in memory. `events` are of the expected report.
std::vector<Mismatch> compare_sheets(const SheetRule& rule, const Csv& ours, const Csv& theirs,
                                     const EventCounts& events, Differences& differences);

// Readable, at most `per_sheet` of each sheet, then how many more there are.
std::string format_mismatches(const std::vector<Mismatch>& mismatches, size_t per_sheet = 20);

}  // namespace fathom::agreement
