#include "compare.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "compare_values.h"
#include "match_rows.h"

namespace fathom::agreement {
namespace {

std::string format_number(double number) {
  char digits[32];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, number, std::chars_format::general, 3);
  return std::string(digits, end.ptr);
}

const std::string kModelColumn = "has_perf_model";

class SheetComparison {
 public:
  SheetComparison(const SheetRule& rule, const EventCounts& events, const Csv& ours,
                  const Csv& theirs)
      : rule_(rule), events_(events), ours_(ours), theirs_(theirs) {}

  std::vector<Mismatch> run() {
    compare_columns();
    rows_ = match_rows(rule_, ours_, theirs_);
    for (const size_t row : rows_.only_ours) {
      report(kExtraRowMark, find_key(rule_, ours_, row), "a row", "no row",
             "only ours has the row");
    }
    for (const size_t row : rows_.only_theirs) {
      report(kMissingRowMark, find_key(rule_, theirs_, row), "no row", "a row",
             "only theirs has the row");
    }
    for (size_t rank = 0; rank < rows_.pairs.size(); ++rank) compare_row(rank);
    for (auto& fault : check_order(rule_, ours_, theirs_, rows_, events_)) {
      report(kOrderMark, fault.key, fault.ours, fault.theirs, fault.why);
    }
    return std::move(found_);
  }

 private:
  void report(std::string_view column, std::string key, std::string_view ours,
              std::string_view theirs, std::string why) {
    found_.push_back({std::string(rule_.name), std::string(column), std::move(key),
                      std::string(ours), std::string(theirs), std::move(why)});
  }

  void compare_columns() {
    std::vector<std::string> wanted = theirs_.header;
    if (wanted.empty())
      wanted.assign(rule_.header_when_blank.begin(), rule_.header_when_blank.end());
    std::vector<std::string> shared;
    for (const auto& column : wanted) {
      if (ours_.find_column(column)) {
        shared.push_back(column);
      } else {
        report(kColumnMark, column, "no column", "a column", "ours lacks the column");
      }
    }
    size_t next = 0;
    for (const auto& column : ours_.header) {
      if (std::find(wanted.begin(), wanted.end(), column) == wanted.end()) {
        report(kColumnMark, column, "a column", "no column", "only ours has the column");
        continue;
      }
      const auto here = next < shared.size() ? shared[next] : std::string("the end");
      ++next;
      if (here != column) report(kColumnMark, column, column, here, "columns in another order");
    }
  }

  // An op that only one of the tools can tell the cost of differs in every column about it.
  bool only_ours_has_model(size_t ours, size_t theirs) const {
    return ours_.find_column(kModelColumn) && theirs_.find_column(kModelColumn) &&
           ours_.cell(ours, kModelColumn) == "True" &&
           theirs_.cell(theirs, kModelColumn) == "False";
  }
  static bool is_about_cost(const std::string& column) {
    const auto kind = find_column_kind(column);
    return kind == ColumnKind::cost || kind == ColumnKind::rate || kind == ColumnKind::params ||
           column == kModelColumn || column == "Compute Spec";
  }

  void compare_row(size_t rank) {
    const auto [ours, theirs] = rows_.pairs[rank];
    const bool no_comparison = only_ours_has_model(ours, theirs);
    if (no_comparison) {
      report(kModelMark, find_key(rule_, ours_, ours), "a cost", "none", "only ours has a cost");
    }
    for (const auto& column : theirs_.header) {
      if (!ours_.find_column(column)) continue;
      if (no_comparison && is_about_cost(column)) continue;
      const bool by_rank = find_column_kind(column) == ColumnKind::cumulative;
      compare_cell(column, ours, by_rank ? rows_.theirs_by_rank[rank] : theirs);
    }
  }

  void compare_cell(const std::string& column, size_t our_row, size_t their_row) {
    const auto ours = ours_.cell(our_row, column);
    const auto theirs = theirs_.cell(their_row, column);
    const auto kind = find_column_kind(column);
    const auto differ = [&](std::string why) {
      report(column, find_key(rule_, ours_, our_row), ours, theirs, std::move(why));
    };
    if (kind == ColumnKind::text || ours.empty() || theirs.empty()) {
      if (ours != theirs) differ("differs");
      return;
    }
    if (holds_literal(kind)) {
      return compare_values_in(column, our_row, their_row);
    }
    const auto our_number = parse_number(ours);
    const auto their_number = parse_number(theirs);
    if (!our_number || !their_number) return differ("not a number");
    const double limit = find_tolerance(column, theirs_, their_row, events_);
    const double off = std::abs(*our_number - *their_number);
    if (off > limit + kLastDigits * std::abs(*their_number)) {
      differ("off by " + format_number(off) + ", allowed " + format_number(limit));
    }
  }

  void compare_values_in(const std::string& column, size_t our_row, size_t their_row) {
    const auto key = find_key(rule_, ours_, our_row);
    const auto our_cell = ours_.cell(our_row, column);
    const auto their_cell = theirs_.cell(their_row, column);
    const auto ours = parse_json(our_cell);
    const auto theirs = parse_python_literal(their_cell);
    if (!ours || !theirs) {
      return report(column, key, our_cell, their_cell,
                    ours ? "theirs cannot be read as a Python literal" : "ours is not JSON");
    }
    const auto found = find_column_kind(column) == ColumnKind::cut_details
                           ? compare_cut_details(*ours, *theirs, read_full_details(their_row))
                           : compare_values(*ours, *theirs);
    for (const auto& one : found) {
      report(column, key, one.ours, one.theirs,
             one.path.empty() ? one.why : one.path + ": " + one.why);
    }
  }

  Value read_full_details(size_t their_row) const {
    for (const auto& column : theirs_.header) {
      if (find_column_kind(column) != ColumnKind::details) continue;
      return parse_python_literal(theirs_.cell(their_row, column)).value_or(Value());
    }
    return Value();
  }

  const SheetRule& rule_;
  const EventCounts& events_;
  const Csv& ours_;
  const Csv& theirs_;
  RowMatch rows_;
  std::vector<Mismatch> found_;
};

std::filesystem::path find_sheet(const std::filesystem::path& directory, std::string_view name) {
  return directory / (std::string(name) + ".csv");
}

std::vector<Mismatch> compare_sheet(const SheetRule& rule, const std::filesystem::path& ours_in,
                                    const std::filesystem::path& expected_in,
                                    const EventCounts& events) {
  const auto our_file = find_sheet(ours_in, rule.name);
  const auto their_file = find_sheet(expected_in, rule.name);
  if (rule.optional && !std::filesystem::exists(our_file) && !std::filesystem::exists(their_file)) {
    return {};
  }
  const Csv ours = read_csv(our_file);
  const Csv theirs = read_csv(their_file);
  if (!ours.error.empty() || !theirs.error.empty()) {
    return {{std::string(rule.name), std::string(kSheetMark), "", ours.error, theirs.error,
             "cannot be read"}};
  }
  return SheetComparison(rule, events, ours, theirs).run();
}

std::vector<Mismatch> without_covered(std::vector<Mismatch> found, Differences& differences) {
  std::erase_if(found, [&differences](const Mismatch& one) {
    return differences.cover(one.sheet, one.column, one.key);
  });
  return found;
}

// Cells of kernel details run to thousands of characters; what differs is near the start or in
// `why`.
std::string shorten(const std::string& text) {
  constexpr size_t kLongest = 200;
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + " [cut]";
}

}  // namespace

std::vector<Mismatch> compare_reports(const std::filesystem::path& ours,
                                      const std::filesystem::path& expected,
                                      Differences& differences, bool families) {
  const auto events = count_events(read_csv(find_sheet(expected, "ops_unique_args")),
                                   read_csv(find_sheet(expected, "kernel_summary")));
  auto rules = list_core_sheets();
  if (families) {
    const auto more = list_family_sheets();
    rules.insert(rules.end(), more.begin(), more.end());
  }
  std::vector<Mismatch> left;
  for (const auto& rule : rules) {
    for (auto& one : without_covered(compare_sheet(rule, ours, expected, events), differences))
      left.push_back(std::move(one));
  }
  return left;
}

std::vector<Mismatch> compare_sheets(const SheetRule& rule, const Csv& ours, const Csv& theirs,
                                     const EventCounts& events, Differences& differences) {
  return without_covered(SheetComparison(rule, events, ours, theirs).run(), differences);
}

std::string format_mismatches(const std::vector<Mismatch>& mismatches, size_t per_sheet) {
  std::map<std::string, size_t> counts;
  std::string text;
  for (const auto& one : mismatches) {
    if (++counts[one.sheet] > per_sheet) continue;
    text += one.sheet + ", " + one.column + ": " + one.why + "\n    key    " + shorten(one.key) +
            "\n    ours   " + shorten(one.ours) + "\n    theirs " + shorten(one.theirs) + "\n";
  }
  for (const auto& [sheet, count] : counts) {
    if (count > per_sheet) text += sheet + ": " + std::to_string(count - per_sheet) + " more\n";
  }
  return text;
}

}  // namespace fathom::agreement
