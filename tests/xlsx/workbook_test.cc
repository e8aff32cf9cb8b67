#include <fmt/format.h>
#include <sys/resource.h>

#include <csignal>

#include "agreement/csv.h"
#include "checks.h"
#include "report/csv.h"
#include "session/analyze.h"
#include "xlsx/sample_workbook.h"

namespace fathom::xlsx {
namespace {

Analysis analyze_example(const std::string& name) {
  const Trace trace = open_trace((test::source_dir() / "examples" / name).string()).take();
  return analyze(trace, Scope{}).take();
}

TEST(XlsxWorkbook, HoldsWhatTheCsvFilesHold) {
  for (const char* example : {"moe-h200.json.gz", "ddp-rank0-h200.json.gz"}) {
    const Analysis analysis = analyze_example(example);
    const Workbook book = write_and_read(analysis.sheets, analysis.summary);
    ASSERT_EQ(book.error, "");
    ASSERT_EQ(book.sheets.size(), analysis.sheets.size() + 1);
    size_t compared = 0;
    for (size_t i = 0; i < analysis.sheets.size(); ++i) {
      const Table& table = analysis.sheets[i];
      const Sheet& sheet = book.sheets[i + 1];
      EXPECT_EQ(sheet.name, table.name());
      const agreement::Csv csv = agreement::parse_csv(to_csv(table));
      ASSERT_EQ(csv.error, "");
      ASSERT_EQ(sheet.rows, csv.rows.size() + 1);
      for (size_t column = 0; column < csv.header.size(); ++column) {
        EXPECT_EQ(sheet.text(place(column, 1)), csv.header[column]);
        for (size_t row = 0; row < csv.rows.size(); ++row) {
          const Cell* cell = sheet.cell(place(column, row + 2));
          ASSERT_EQ(cell == nullptr ? "" : cell->text, csv.rows[row][column])
              << example << " " << sheet.name << " " << place(column, row + 2);
          if (cell == nullptr) continue;
          EXPECT_EQ(cell->is_number, !table.columns()[column].is_text());
          ++compared;
        }
      }
    }
    EXPECT_GT(compared, 1000U);
  }
}

TEST(XlsxWorkbook, HeaderIsBoldFrozenAndFiltered) {
  Table table("ops");
  table.text_column("name").add("mm").add("add");
  table.count_column("calls").add(int64_t{1}).add(int64_t{2});
  const Workbook book = write_and_read({table});
  ASSERT_EQ(book.error, "");
  const Sheet& sheet = book.sheets[1];
  EXPECT_TRUE(book.bold(*sheet.cell("A1")));
  EXPECT_TRUE(book.bold(*sheet.cell("B1")));
  EXPECT_FALSE(book.bold(*sheet.cell("A2")));
  const Element* pane = sheet.xml.child("sheetViews")->children.at(0).child("pane");
  ASSERT_NE(pane, nullptr);
  EXPECT_EQ(pane->attribute("ySplit"), "1");
  EXPECT_EQ(pane->attribute("topLeftCell"), "A2");
  EXPECT_EQ(pane->attribute("state"), "frozen");
  ASSERT_NE(sheet.xml.child("autoFilter"), nullptr);
  EXPECT_EQ(sheet.xml.child("autoFilter")->attribute("ref"), "A1:B3");
  EXPECT_EQ(sheet.xml.child("dimension")->attribute("ref"), "A1:B3");
  const Element* names = book.workbook.child("definedNames");
  ASSERT_NE(names, nullptr);
  EXPECT_EQ(names->children.at(0).attribute("name"), "_xlnm._FilterDatabase");
  EXPECT_EQ(names->children.at(0).attribute("localSheetId"), "1");
  EXPECT_EQ(names->children.at(0).text, "'ops'!$A$1:$B$3");
}

TEST(XlsxWorkbook, NumberFormatFollowsTheUnit) {
  Table table("units");
  table.time_column("us", Unit::kMicros).add(Nanos{1234567});
  table.time_column("ms", Unit::kMillis).add(Nanos{1234567});
  table.real_column("percent", Unit::kPercent).add(12.345);
  table.count_column("count").add(int64_t{1234567});
  table.real_column("MB", Unit::kMegabytes).add(1.5);
  table.real_column("GB/s", Unit::kGigabytesPerSecond).add(2.5);
  table.real_column("plain").add(0.1);
  table.text_column("text").add("1.5");
  const Workbook book = write_and_read({table});
  ASSERT_EQ(book.error, "");
  const Sheet& sheet = book.sheets[1];
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"1234.567", "#,##0.000"}, {"1.234567", "#,##0.000"}, {"12.345", "0.00"},
      {"1234567", "#,##0"},      {"1.5", "#,##0.00"},       {"2.5", "#,##0.00"},
      {"0.1", "General"},        {"1.5", "General"}};
  for (size_t i = 0; i < expected.size(); ++i) {
    const Cell* cell = sheet.cell(place(i, 2));
    ASSERT_NE(cell, nullptr);
    EXPECT_EQ(cell->text, expected[i].first) << sheet.text(place(i, 1));
    EXPECT_EQ(book.number_format(*cell), expected[i].second) << sheet.text(place(i, 1));
    EXPECT_EQ(cell->is_number, i != 7);
  }
}

TEST(XlsxWorkbook, UnknownCellsAreAbsent) {
  Table table("gaps");
  table.text_column("a").add("x").add_unknown();
  table.real_column("b").add_unknown().add(0.0);
  table.text_column("c").add("").add("y");
  const Workbook book = write_and_read({table});
  ASSERT_EQ(book.error, "");
  EXPECT_EQ(book.sheets[1].cell("B2"), nullptr);
  EXPECT_EQ(book.sheets[1].cell("A3"), nullptr);
  EXPECT_EQ(book.sheets[1].text("B3"), "0");
  EXPECT_EQ(book.sheets[1].cell("C2"), nullptr);
}

TEST(XlsxWorkbook, ColumnsAreAsWideAsHeaderAndContentUpToALimit) {
  Table table("widths");
  table.text_column("a rather long header").add("x");
  table.text_column("short").add("µµµµµµµµµµµµµµµµµµµµ");
  table.text_column("capped").add(std::string(500, 'x'));
  // 1,234,567,890.123 has 17 characters.
  table.time_column("t", Unit::kMicros).add(Nanos{1234567890123});
  table.count_column("n").add(int64_t{1});
  const Workbook book = write_and_read({table});
  ASSERT_EQ(book.error, "");
  std::vector<int> widths;
  for (const Element& column : book.sheets[1].xml.child("cols")->children) {
    widths.push_back(std::stoi(column.attribute("width")));
  }
  EXPECT_EQ(widths, (std::vector<int>{24, 21, 60, 18, 8}));
}

TEST(XlsxWorkbook, SummarySheetShowsTheSummary) {
  const Analysis analysis = analyze_example("ddp-rank0-h200.json.gz");
  Summary summary = analysis.summary;
  summary.diagnostics = {{Flaw::kMalformedEvent, 1234, "event 7"}};
  const Workbook book = write_and_read(analysis.sheets, summary);
  ASSERT_EQ(book.error, "");
  const Sheet& first = book.sheets[0];
  EXPECT_EQ(first.name, "summary");
  const auto beside = [&first](std::string_view label) {
    return first.text(place(1, row_of(first, label)));
  };
  EXPECT_EQ(beside("trace"), "ddp-rank0-h200.json.gz");
  EXPECT_EQ(beside("GPU"), "NVIDIA H200");
  EXPECT_EQ(beside("runtime"), summary.runtime);
  EXPECT_EQ(beside("rank"), "0 of 2");
  EXPECT_EQ(beside("events"), std::to_string(summary.events));
  EXPECT_EQ(beside("data loss"), "events with malformed JSON, skipped (1,234); first: event 7");
  EXPECT_EQ(row_of(first, "workbook"), 0U);

  const size_t busy = row_of(first, "busy"), total = row_of(first, "total");
  const double share =
      std::stod(first.text(place(1, busy))) / std::stod(first.text(place(1, total)));
  EXPECT_NEAR(std::stod(first.text(place(2, busy))), share * 100, 1e-9);
  EXPECT_EQ(first.text(place(1, total)), exact_decimal(summary.base.wall().count, 6))
      << "host time included";
  EXPECT_EQ(book.number_format(*first.cell(place(2, busy))), "0.00");

  const size_t op = row_of(first, summary.ops[0].name);
  EXPECT_EQ(first.text(place(1, op)), summary.ops[0].category);
  EXPECT_EQ(first.text(place(2, op)), std::to_string(summary.ops[0].calls));
  EXPECT_EQ(std::stod(first.text(place(3, op))), summary.ops[0].gpu_millis);
  // The rest is one row, so the shares still make a whole.
  double percent = 0;
  for (size_t row = op; !first.text(place(4, row)).empty(); ++row) {
    percent += std::stod(first.text(place(4, row)));
  }
  EXPECT_NEAR(percent, 100, 1e-6);
}

TEST(XlsxWorkbook, SummarySheetLinksToEverySheet) {
  const Analysis analysis = analyze_example("moe-h200.json.gz");
  const Workbook book = write_and_read(analysis.sheets, analysis.summary);
  ASSERT_EQ(book.error, "");
  const Element* links = book.sheets[0].xml.child("hyperlinks");
  ASSERT_NE(links, nullptr);
  ASSERT_EQ(links->children.size(), analysis.sheets.size());
  for (size_t i = 0; i < links->children.size(); ++i) {
    const Element& link = links->children[i];
    const std::string name = book.sheets[0].text(link.attribute("ref"));
    EXPECT_EQ(name, analysis.sheets[i].name());
    EXPECT_EQ(link.attribute("location"), fmt::format("'{}'!A1", name));
    EXPECT_NE(book.sheet(name), nullptr);
    EXPECT_EQ(book.sheets[0].text(fmt::format("B{}", link.attribute("ref").substr(1))),
              std::to_string(analysis.sheets[i].rows()));
  }
}

TEST(XlsxWorkbook, WhatATraceDoesNotSayIsSaid) {
  const Workbook book = write_and_read({});
  ASSERT_EQ(book.error, "");
  ASSERT_EQ(book.sheets.size(), 1U);
  const Sheet& first = book.sheets[0];
  EXPECT_EQ(first.text(place(1, row_of(first, "GPU"))), "not recorded");
  EXPECT_EQ(first.cell(place(2, row_of(first, "busy"))), nullptr);  // no percent of nothing
  EXPECT_EQ(first.text(place(0, row_of(first, "Notes") + 1)), "none");
}

TEST(XlsxWorkbook, SameTablesGiveTheSameBytes) {
  const Analysis analysis = analyze_example("ddp-rank0-h200.json.gz");
  const test::TemporaryDirectory directory;
  for (const char* name : {"a.xlsx", "b.xlsx"}) {
    ASSERT_TRUE(write_xlsx(analysis.summary, analysis.sheets, directory.path() / name).ok());
  }
  EXPECT_EQ(test::read_file(directory.path() / "a.xlsx"),
            test::read_file(directory.path() / "b.xlsx"));
}

TEST(XlsxWorkbook, FailureToWriteIsAnError) {
  const Status absent = write_xlsx({}, {}, "/nonexistent-directory/report.xlsx");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().message,
            "cannot write /nonexistent-directory/report.xlsx: No such file or directory");
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "skipped: no /dev/full here";
  const Status full = write_xlsx({}, {}, "/dev/full");
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().message, "cannot write /dev/full: No space left on device");
}

Status write_with_room_for(rlim_t bytes, const Table& table, const std::filesystem::path& file) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small = {bytes, before.rlim_max};
  const auto old_action = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  Status written = write_xlsx({}, {table}, file);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, old_action);
  return written;
}

TEST(XlsxWorkbook, NoRoomInTheMiddleOrForTheLastByteIsAnError) {
  Table table("numbers");
  Column& column = table.real_column("n");
  for (int i = 1; i < 100000; ++i) column.add(1.0 / i);
  const test::TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "report.xlsx";
  ASSERT_TRUE(write_xlsx({}, {table}, file).ok());
  const rlim_t whole = std::filesystem::file_size(file);
  for (const rlim_t room : {whole / 2, whole - 1}) {
    const Status written = write_with_room_for(room, table, file);
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().message,
              fmt::format("cannot write {}: File too large", file.string()));
  }
  EXPECT_TRUE(write_with_room_for(whole, table, file).ok());
}

}  // namespace
}  // namespace fathom::xlsx
