// Proves that the comparison can fail: a report that agrees is broken in one place at a time.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "checks.h"
#include "compare.h"
#include "differences.h"
#include "python_literal.h"
#include "report_files.h"
#include "sheet_rules.h"
#include "test_files.h"
#include "tolerance.h"

namespace fathom::agreement {
namespace {

namespace fs = std::filesystem;

fs::path find_sample() { return test::source_dir() / "tests" / "agreement" / "sample.expected"; }
fs::path find_shared() { return test::source_dir() / ".." / "shared" / "data" / "kineto"; }

void break_value(Value& value) {
  if (value.kind == Value::Kind::number) {
    value.number += 1;
  } else if (value.kind == Value::Kind::boolean) {
    value.boolean = !value.boolean;
  } else if (value.kind == Value::Kind::text) {
    value.text += "x";
  } else if (value.kind == Value::Kind::none) {
    value.kind = Value::Kind::boolean;
  } else if (!value.items.empty()) {
    break_value(value.items.front());
  }
}

std::string break_cell(ColumnKind kind, const std::string& cell) {
  if (holds_literal(kind)) {
    auto value = parse_json(cell);
    if (!value) return "[]";
    break_value(*value);
    return format_json(*value);
  }
  const auto number = parse_number(cell);
  if (kind == ColumnKind::text || !number) return cell.empty() ? "1" : cell + "1";
  return std::to_string(*number + 10);
}

// A report of ours that agrees with `expected`, to be broken.
class Trial {
 public:
  explicit Trial(fs::path expected) : expected_(std::move(expected)) {
    theirs_ = read_report(expected_);
    events_ = count_events(theirs_.at("ops_unique_args"), theirs_.at("kernel_summary"));
    whole_ = convert_to_our_form(theirs_);
    write_report(whole_, ours_.path());
  }

  const Report& whole() const { return whole_; }
  const fs::path& ours() const { return ours_.path(); }

  // What is found when this one sheet of ours is changed.
  std::vector<Mismatch> try_sheet(const std::string& name, const Csv& sheet) {
    Differences none;
    return try_sheet(name, sheet, none);
  }

  std::vector<Mismatch> try_sheet(const std::string& name, const Csv& sheet,
                                  Differences& differences) {
    for (const auto& rule : list_core_sheets()) {
      if (rule.name == name)
        return compare_sheets(rule, sheet, theirs_.at(name), events_, differences);
    }
    ADD_FAILURE() << "no rule for " << name;
    return {};
  }

  // The same through files, with all other sheets beside it.
  std::vector<Mismatch> try_file(const std::string& name, const Csv& sheet) {
    Differences none;
    write_report({{name, sheet}}, ours_.path());
    auto found = compare_reports(ours_.path(), expected_, none);
    write_report({{name, whole_.at(name)}}, ours_.path());
    return found;
  }

  std::vector<Mismatch> try_cell(const std::string& name, size_t row, std::string_view column,
                                 const std::string& cell) {
    auto sheet = whole_.at(name);
    sheet.rows[row][sheet.find_column(column).value()] = cell;
    return try_sheet(name, sheet);
  }

 private:
  fs::path expected_;
  TemporaryDirectory ours_;
  Report theirs_, whole_;
  EventCounts events_;
};

bool mentions(const std::vector<Mismatch>& found, std::string_view sheet, std::string_view column) {
  return std::any_of(found.begin(), found.end(), [&](const Mismatch& one) {
    return one.sheet == sheet && one.column == column;
  });
}

bool stays_within(const std::vector<Mismatch>& found, std::string_view sheet) {
  return std::all_of(found.begin(), found.end(),
                     [&](const Mismatch& one) { return one.sheet == sheet; });
}

bool is_key(const SheetRule& rule, const std::string& column) {
  return std::find(rule.keys.begin(), rule.keys.end(), column) != rule.keys.end();
}

// Breaks each cell of each sheet in turn.
void expect_broken_cells_found(Trial& trial) {
  for (const auto& rule : list_core_sheets()) {
    const std::string name(rule.name);
    const auto& whole = trial.whole().at(name);
    for (size_t row = 0; row < whole.rows.size(); ++row) {
      for (const auto& column : whole.header) {
        const auto cell = std::string(whole.cell(row, column));
        const auto found =
            trial.try_cell(name, row, column, break_cell(find_column_kind(column), cell));
        const bool seen = is_key(rule, column) ? mentions(found, name, kExtraRowMark) &&
                                                     mentions(found, name, kMissingRowMark)
                                               : mentions(found, name, column);
        EXPECT_TRUE(seen) << name << ", row " << row << ", " << column << ", was " << cell;
      }
    }
  }
}

// Breaks the first row of each sheet: all cells but its key at once, each of which must be found,
// then its key.
void expect_broken_row_found(Trial& trial) {
  for (const auto& rule : list_core_sheets()) {
    const std::string name(rule.name);
    const auto& whole = trial.whole().at(name);
    if (whole.rows.empty()) continue;
    Csv cells = whole, key = whole;
    for (size_t i = 0; i < whole.header.size(); ++i) {
      const std::string& column = whole.header[i];
      std::string& cell = is_key(rule, column) ? key.rows[0][i] : cells.rows[0][i];
      cell = break_cell(find_column_kind(column), cell);
    }
    const auto found = trial.try_sheet(name, cells);
    for (const auto& column : whole.header) {
      if (!is_key(rule, column)) {
        EXPECT_TRUE(mentions(found, name, column)) << name << ", " << column;
      }
    }
    if (rule.keys.empty()) continue;
    const auto moved = trial.try_sheet(name, key);
    EXPECT_TRUE(mentions(moved, name, kExtraRowMark) && mentions(moved, name, kMissingRowMark))
        << name;
  }
}

class Comparison : public testing::Test {
 protected:
  Trial trial_{find_sample()};
};

TEST_F(Comparison, AcceptsOurFormOfTheSample) {
  Differences none;
  const auto found = compare_reports(trial_.ours(), find_sample(), none);
  EXPECT_TRUE(found.empty()) << format_mismatches(found);
  EXPECT_EQ(trial_.whole().size(), list_core_sheets().size());
}

TEST_F(Comparison, FindsEveryBrokenCell) { expect_broken_cells_found(trial_); }

TEST_F(Comparison, FindsABrokenCellInFilesAndNothingInOtherSheets) {
  for (const auto& rule : list_core_sheets()) {
    const std::string name(rule.name);
    Csv sheet = trial_.whole().at(name);
    std::string& cell = sheet.rows[0].back();
    cell = break_cell(find_column_kind(sheet.header.back()), cell);
    const auto found = trial_.try_file(name, sheet);
    EXPECT_TRUE(mentions(found, name, sheet.header.back())) << name;
    EXPECT_TRUE(stays_within(found, name)) << format_mismatches(found);
  }
}

TEST_F(Comparison, FindsEveryBrokenValueInsideACell) {
  for (const auto& [name, sheet] : trial_.whole()) {
    for (const auto& column : sheet.header) {
      if (!holds_literal(find_column_kind(column))) continue;
      const auto whole = parse_json(sheet.cell(0, column)).value();
      const bool list = whole.kind == Value::Kind::list;
      for (size_t entry = 0; entry < (list ? whole.items.size() : 1); ++entry) {
        const auto& keys = list ? whole.items[entry].keys : whole.keys;
        for (size_t key = 0; key < keys.size(); ++key) {
          auto value = whole;
          break_value(list ? value.items[entry].items[key] : value.items[key]);
          const auto found = trial_.try_cell(name, 0, column, format_json(value));
          EXPECT_TRUE(mentions(found, name, column)) << name << ", " << column << ", " << keys[key];
        }
      }
    }
  }
}

TEST_F(Comparison, FindsAKernelRenamedMissingOrExtraInsideDetails) {
  const std::string name = "ops_unique_args", column = "kernel_details_summary";
  const std::string cell(trial_.whole().at(name).cell(0, column));
  auto renamed = cell;
  renamed.replace(renamed.find("fill_kernel"), 11, "full_kernel");
  const auto found = trial_.try_cell(name, 0, column, renamed);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].why, "[0].name: differs");
  EXPECT_EQ(found[0].ours, "\"full_kernel\"");
  EXPECT_EQ(found[0].theirs, "\"fill_kernel\"");

  auto value = parse_json(cell).value();
  value.items.push_back(value.items.back());
  EXPECT_TRUE(mentions(trial_.try_cell(name, 0, column, format_json(value)), name, column));
  value.items.resize(1);
  EXPECT_TRUE(mentions(trial_.try_cell(name, 0, column, format_json(value)), name, column));
  EXPECT_TRUE(
      mentions(trial_.try_cell(name, 0, column, "[{'name': 'fill_kernel'}]"), name, column));
}

TEST_F(Comparison, FindsAnotherCutOfAName) {
  const std::string name = "ops_unique_args", column = "trunc_kernel_details";
  const std::string cell(trial_.whole().at(name).cell(0, column));
  const auto mark = cell.find("…");
  ASSERT_NE(mark, std::string::npos);
  auto shorter = cell;
  shorter.erase(mark - 1, 1);
  auto dots = cell;
  dots.replace(mark, std::string("…").size(), "...");
  auto bare = cell;
  bare.erase(mark, std::string("…").size());
  for (const auto& broken : {shorter, dots, bare}) {
    EXPECT_TRUE(mentions(trial_.try_cell(name, 0, column, broken), name, column)) << broken;
  }
}

TEST_F(Comparison, FindsMissingAndExtraRows) {
  for (const auto& [name, whole] : trial_.whole()) {
    auto sheet = whole;
    sheet.rows.pop_back();
    EXPECT_TRUE(mentions(trial_.try_sheet(name, sheet), name, kMissingRowMark)) << name;
    sheet = whole;
    sheet.rows.push_back(sheet.rows.back());  // a second row of the same key is an extra row too
    EXPECT_TRUE(mentions(trial_.try_sheet(name, sheet), name, kExtraRowMark)) << name;
  }
}

TEST_F(Comparison, FindsMissingExtraAndSwappedColumns) {
  for (const auto& [name, whole] : trial_.whole()) {
    auto missing = whole, extra = whole, swapped = whole;
    missing.header.pop_back();
    for (auto& row : missing.rows) row.pop_back();
    extra.header.emplace_back("another");
    for (auto& row : extra.rows) row.emplace_back("1");
    std::swap(swapped.header[1], swapped.header[2]);
    for (auto& row : swapped.rows) std::swap(row[1], row[2]);
    EXPECT_TRUE(mentions(trial_.try_sheet(name, missing), name, kColumnMark)) << name;
    EXPECT_TRUE(mentions(trial_.try_sheet(name, extra), name, kColumnMark)) << name;
    EXPECT_TRUE(mentions(trial_.try_sheet(name, swapped), name, kColumnMark)) << name;
  }
}

TEST_F(Comparison, FindsSwappedRows) {
  for (const auto& [name, whole] : trial_.whole()) {
    if (name == "short_kernel_histogram")
      continue;  // a bin is known by its place, so its cells differ
    auto sheet = whole;
    std::swap(sheet.rows[0], sheet.rows[1]);
    EXPECT_TRUE(mentions(trial_.try_sheet(name, sheet), name, kOrderMark)) << name;
  }
}

TEST_F(Comparison, LetsRowsThatTieSwapButForTheDocumentedOrder) {
  const auto swap_tie = [&](const std::string& name) {
    auto sheet = trial_.whole().at(name);
    std::swap(sheet.rows[1], sheet.rows[2]);  // aten::add and aten::relu take the same time
    const auto cumulative = sheet.find_column("Cumulative Percentage (%)").value();
    std::swap(sheet.rows[1][cumulative], sheet.rows[2][cumulative]);
    return trial_.try_sheet(name, sheet);
  };
  EXPECT_TRUE(swap_tie("ops_summary").empty());
  EXPECT_TRUE(mentions(swap_tie("ops_unique_args"), "ops_unique_args", kOrderMark));
}

TEST_F(Comparison, FindsAMissingSheet) {
  for (const auto& rule : list_core_sheets()) {
    const auto file = trial_.ours() / (std::string(rule.name) + ".csv");
    fs::rename(file, trial_.ours() / "aside");
    Differences none;
    EXPECT_TRUE(
        mentions(compare_reports(trial_.ours(), find_sample(), none), rule.name, kSheetMark));
    fs::rename(trial_.ours() / "aside", file);
  }
}

TEST_F(Comparison, ComparesFamilySheetsOnceSwitchedOn) {
  const Csv sheet = parse_csv("name,Kernel Time (µs)_sum\naten::mm,1.0\n");
  write_report({{"GEMM", sheet}}, trial_.ours());
  Differences none;
  EXPECT_TRUE(compare_reports(trial_.ours(), find_sample(), none, false).empty());
  EXPECT_TRUE(
      mentions(compare_reports(trial_.ours(), find_sample(), none, true), "GEMM", kSheetMark));
}

struct Limit {
  const char* sheet;
  const char* column;
  size_t row;
  double allowed;
};

// Row 0 of the op sheets is aten::mm: two ops of two kernels, so four events. Seven are linked in
// all.
constexpr Limit kLimits[] = {
    {"gpu_timeline", "time ms", 0, 2.5e-6},   // computation: six events
    {"gpu_timeline", "time ms", 2, 1e-6},     // exposed copy
    {"gpu_timeline", "time ms", 3, 2.75e-6},  // busy
    {"gpu_timeline", "time ms", 4, 3.25e-6},  // idle: busy and the two ends
    {"gpu_timeline", "time ms", 5, 1.5e-6},   // total: two ends
    {"gpu_timeline", "time ms", 6, 0},        // no collectives at all
    {"gpu_timeline", "percent", 0, 0.01},
    {"ops_summary", "total_direct_kernel_time_sum", 0, 2e-3},
    {"ops_summary", "total_direct_kernel_time_ms", 0, 2e-6},
    {"ops_summary_by_category", "total_direct_kernel_time_ms", 1, 1.5e-6},
    {"ops_unique_args", "total_subtree_kernel_time_sum", 0, 2e-3},
    {"ops_unique_args", "total_direct_kernel_time_mean", 0, 1e-3},
    {"ops_unique_args", "total_direct_kernel_time_std", 0, 1e-3},
    {"ops_unique_args", "Percentage (%)", 0, 0.01},
    {"kernel_summary", "Kernel duration (µs)_sum", 0, 0.5e-3},
    {"kernel_summary", "Kernel duration (µs)_mean", 0, 0.5e-3},
    {"short_kernels_summary", "Short Kernel duration (µs) sum", 0, 0.5e-3},
    {"short_kernel_histogram", "bin_end", 0, 0.5e-3},
    {"unified_perf_summary", "Kernel Time (µs)_sum", 0, 2e-3},
    {"unified_perf_summary", "Kernel Time (µs)_median", 0, 1e-3},
    {"unified_perf_summary", "total_duration_us", 0, 0.5e-3},
    {"unified_perf_summary", "TB/s_max", 0, 0.00029170157350256456 * 1e-3 / 42.124244140625},
    {"unified_perf_summary", "GFLOPS", 0, 0},
};

TEST_F(Comparison, KeepsToItsLimits) {
  for (const auto& limit : kLimits) {
    const double whole =
        parse_number(trial_.whole().at(limit.sheet).cell(limit.row, limit.column)).value();
    const auto find_off_by = [&](double off) {
      Value value;
      value.kind = Value::Kind::number;
      value.number = whole + off;
      return trial_.try_cell(limit.sheet, limit.row, limit.column, format_json(value));
    };
    const double step = 0.01 * limit.allowed + 3e-9 * std::abs(whole) + 1e-12;
    if (limit.allowed > 0) {
      const auto found = find_off_by(0.99 * limit.allowed);
      EXPECT_FALSE(mentions(found, limit.sheet, limit.column)) << format_mismatches(found);
    }
    EXPECT_TRUE(mentions(find_off_by(limit.allowed + step), limit.sheet, limit.column))
        << limit.sheet << ", " << limit.column << ", row " << limit.row;
  }
}

TEST_F(Comparison, DocumentedDifferencesCoverCellsAndRowsAndGoStale) {
  auto sheet = trial_.whole().at("short_kernels_summary");
  sheet.rows.insert(sheet.rows.begin(),
                    {"", "", "", "", "unlinked_kernel", "10.0", "2", "5.0", "4.0"});
  auto differences = Differences::parse(
      "# sheet\tcolumn\tkey pattern\treason\n"
      "short_kernels_summary\t(row)\t||||*\tunlinked kernels are shown\n"
      "kernel_summary\tPercent of total time (%)\t*\tover all GPU time\n");
  const auto found = trial_.try_sheet("short_kernels_summary", sheet, differences);
  EXPECT_TRUE(found.empty()) << format_mismatches(found);
  const auto stale = differences.list_stale();
  ASSERT_EQ(stale.size(), 1u);
  EXPECT_NE(stale[0].find("Percent of total time"), std::string::npos);

  auto cells_only = Differences::parse("*\t*\t*\teverything\n");
  EXPECT_TRUE(mentions(trial_.try_sheet("short_kernels_summary", sheet, cells_only),
                       "short_kernels_summary", kExtraRowMark));
}

TEST(ComparisonText, ShowsTwentyOfEachSheetAndCountsTheRest) {
  std::vector<Mismatch> found(25, {"ops_summary", "Count", "aten::mm", "3", "4", "differs"});
  found.push_back({"gpu_timeline", "percent", "busy_time", "1", "2", "off by 1"});
  const auto text = format_mismatches(found);
  size_t shown = 0;
  for (size_t at = text.find("ops_summary, Count"); at != std::string::npos;
       at = text.find("ops_summary, Count", at + 1)) {
    ++shown;
  }
  EXPECT_EQ(shown, 20u);
  EXPECT_NE(text.find("ops_summary: 5 more"), std::string::npos);
  EXPECT_NE(text.find("gpu_timeline, percent: off by 1\n    key    busy_time\n    ours   1\n"),
            std::string::npos);
}

TEST(ComparisonOnSharedData, AcceptsOurFormAndFindsBrokenCells) {
  if (!fs::exists(find_shared())) GTEST_SKIP() << "skipped: no shared data";
  for (const auto& entry : fs::directory_iterator(find_shared())) {
    if (entry.path().extension() != ".expected") continue;
    SCOPED_TRACE(entry.path().filename().string());
    Trial trial(entry.path());
    Differences none;
    const auto found = compare_reports(trial.ours(), entry.path(), none, true);
    EXPECT_TRUE(found.empty()) << format_mismatches(found);
    expect_broken_row_found(trial);
  }
}

}  // namespace
}  // namespace fathom::agreement
