#include <cmath>
#include <limits>

#include "checks.h"
#include "report/trace/xlsx_table.h"
#include "xlsx/sample_workbook.h"

namespace fathom::xlsx {
namespace {

// Each text and how it comes back.
const std::vector<std::pair<std::string, std::string>> kHostile = {
    {"=1+1", "=1+1"},
    {"+1", "+1"},
    {"-1", "-1"},
    {"@SUM(A1)", "@SUM(A1)"},
    {"=HYPERLINK(\"http://example.com\")", "=HYPERLINK(\"http://example.com\")"},
    {"http://example.com", "http://example.com"},
    {"mailto:a@example.com", "mailto:a@example.com"},
    {"<v>1</v></c>&lt;&#0;", "<v>1</v></c>&lt;&#0;"},
    {"\"quoted\" 'too'", "\"quoted\" 'too'"},
    {std::string("nul\0bell\a\x1b[0m", 13), "nul\uFFFDbell\uFFFD\uFFFD[0m"},
    {"tab\tline\nreturn\r.", "tab\tline\nreturn\r."},
    {"\xff\xc0\x80\xed\xa0\x80 \xf4\x90\x80\x80",
     "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD \uFFFD\uFFFD\uFFFD\uFFFD"},
    {"\xe0\x80\xaf \xf0\x80\x80\xaf", "\uFFFD\uFFFD\uFFFD \uFFFD\uFFFD\uFFFD\uFFFD"},
    {"cut \xe2\x82", "cut \uFFFD\uFFFD"},
    {"\xef\xbf\xbe\xef\xbf\xbf", "\uFFFD\uFFFD"},
    {"µ 核 😀", "µ 核 😀"},
    {"_x0041_", "_x0041_"},
    {"_x0041_x0042_", "_x0041_x0042_"},
    {"_xZZZZ_ _x41_", "_xZZZZ_ _x41_"},
    {" spaces ", " spaces "},
    {"]]>", "]]>"},
    {"1e5", "1e5"},
    {"TRUE", "TRUE"},
};

TEST(XlsxText, FromATraceIsInert) {
  Table table("names");
  Column& column = table.text_column("name");
  for (const auto& [text, shown] : kHostile) column.add(text);
  Summary summary;
  summary.trace = "=cmd|' /C calc'!A0";
  summary.ops = {{"=1+1", "<b>", 1, 1.0, 100.0}};
  const Workbook book = write_and_read({table}, summary);
  ASSERT_EQ(book.error, "");
  const Sheet& sheet = book.sheets[1];
  for (size_t i = 0; i < kHostile.size(); ++i) {
    const Cell* cell = sheet.cell(place(0, i + 2));
    ASSERT_NE(cell, nullptr) << kHostile[i].first;
    EXPECT_FALSE(cell->is_number) << kHostile[i].first;
    EXPECT_EQ(cell->text, kHostile[i].second);
    // So that it stays text when somebody edits the cell.
    const bool guarded = book.look(*cell).attribute("quotePrefix") == "1";
    EXPECT_EQ(guarded, i < 5) << kHostile[i].first;
  }
  EXPECT_EQ(sheet.xml.child("hyperlinks"), nullptr);
  for (const Sheet& s : book.sheets) EXPECT_FALSE(s.has_formula);
  const Sheet& first = book.sheets[0];
  const Cell* trace = first.cell(place(1, row_of(first, "trace")));
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(trace->text, summary.trace);
  EXPECT_EQ(book.look(*trace).attribute("quotePrefix"), "1");
  EXPECT_NE(row_of(first, "=1+1"), 0U);
  // Only the sheet that we wrote ourselves is linked.
  EXPECT_EQ(first.xml.child("hyperlinks")->children.size(), 1U);
}

TEST(XlsxText, WhiteSpaceAtTheEdgesIsKept) {
  Table table("t");
  table.text_column("c").add(" a").add("b\n").add("c d");
  const Workbook book = write_and_read({table});
  std::string error;
  const Element strings = parse_xml(book.parts.at("xl/sharedStrings.xml"), error);
  std::map<std::string, std::string> space;
  for (const Element& item : strings.children) {
    space[item.child("t")->text] = item.child("t")->attribute("xml:space");
  }
  EXPECT_EQ(space.at(" a"), "preserve");
  EXPECT_EQ(space.at("b\n"), "preserve");
  EXPECT_EQ(space.at("c d"), "");
}

TEST(XlsxText, LongerThanACellIsCutAndCounted) {
  const std::string fits(32767, 'a'), long_text(32768, 'b');
  std::string wide, wide_cut;  // two units each; the last one would be half inside
  for (int i = 0; i < 16384; ++i) wide += "😀";
  for (int i = 0; i < 16383; ++i) wide_cut += "😀";
  Table table("long");
  table.text_column("c").add(fits).add(long_text).add(long_text).add(wide);
  const Workbook book = write_and_read({table});
  ASSERT_EQ(book.error, "");
  const Sheet& sheet = book.sheets[1];
  EXPECT_EQ(sheet.text("A2"), fits);
  EXPECT_EQ(sheet.text("A3"), std::string(32766, 'b') + "…");
  EXPECT_EQ(sheet.text("A4"), std::string(32766, 'b') + "…");
  EXPECT_EQ(sheet.text("A5"), wide_cut + "…");
  const Sheet& first = book.sheets[0];
  EXPECT_EQ(
      first.text(place(1, row_of(first, "workbook"))),
      "cells cut to the 32,767 characters that a cell holds: 3; the CSV files have them whole");
}

TEST(XlsxNumbers, ThatAreNotFiniteLeaveTheCellEmpty) {
  Table table("t");
  Column& column = table.real_column("r", Unit::kPercent);
  column.add(std::numeric_limits<double>::infinity()).add(std::nan("")).add(-1e300).add(1.0);
  const Workbook book = write_and_read({table});
  ASSERT_EQ(book.error, "");
  EXPECT_EQ(book.sheets[1].cell("A2"), nullptr);
  EXPECT_EQ(book.sheets[1].cell("A3"), nullptr);
  EXPECT_EQ(book.sheets[1].text("A4"), "-1e+300");
  EXPECT_EQ(book.sheets[1].text("A5"), "1");
}

TEST(XlsxSheets, NamesKeepToExcelsRules) {
  std::vector<Table> tables;
  for (const char* name :
       {"ops", "OPS", "a[b]:c*d?e/f\\g'h", "", "History", "summary",
        "a_name_of_more_than_thirty_one_letters", "a_name_of_more_than_thirty_one_letters",
        "µµµµµµµµµµµµµµµµµµµµµµµµµµµµµµµµ", "bad \xff\x01", "a & b"}) {
    tables.emplace_back(name).text_column("c").add("x");
  }
  const Workbook book = write_and_read(tables);
  ASSERT_EQ(book.error, "");
  std::vector<std::string> names;
  for (const Sheet& sheet : book.sheets) names.push_back(sheet.name);
  const std::vector<std::string> expected = {"summary",
                                             "ops",
                                             "OPS (2)",
                                             "a_b__c_d_e_f_g_h",
                                             "_",
                                             "History_",
                                             "summary (2)",
                                             "a_name_of_more_than_thirty_one_",
                                             "a_name_of_more_than_thirty_ (2)",
                                             "µµµµµµµµµµµµµµµµµµµµµµµµµµµµµµµ",
                                             "bad __",
                                             "a & b"};
  EXPECT_EQ(names, expected);
  EXPECT_EQ(book.sheets[0].xml.child("hyperlinks")->children.back().attribute("location"),
            "'a & b'!A1");
}

TEST(XlsxSheets, TableWithoutColumnsIsAnEmptySheet) {
  const Workbook book = write_and_read({Table("nothing")});
  ASSERT_EQ(book.error, "");
  EXPECT_TRUE(book.sheets[1].cells.empty());
  EXPECT_EQ(book.sheets[1].xml.child("autoFilter"), nullptr);
}

TEST(XlsxSheets, PartsCoverEveryRowOnce) {
  std::vector<Table> tables;
  for (const int64_t rows : {0, 1, 3, 4, 6, 7}) {
    Column& column = tables.emplace_back("t" + std::to_string(rows)).count_column("n");
    for (int64_t i = 0; i < rows; ++i) column.add(i);
  }
  std::string all;
  for (const SheetPart& part : split_into_sheets(tables, 3)) {
    all += part.name + " " + std::to_string(part.begin) + "-" + std::to_string(part.end) + "; ";
  }
  EXPECT_EQ(all,
            "t0 0-0; t1 0-1; t3 0-3; t4 0-3; t4 (2) 3-4; t6 0-3; t6 (2) 3-6; "
            "t7 0-3; t7 (2) 3-6; t7 (3) 6-7; ");
}

TEST(XlsxSheets, TableWithMoreRowsThanASheetGoesOnInTheNext) {
  constexpr int64_t kRows = 1048576 + 1;
  Table table("big");
  Column& column = table.count_column("n");
  for (int64_t i = 0; i < kRows; ++i) column.add(i);
  const test::TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "report.xlsx";
  ASSERT_TRUE(write_xlsx({}, {table}, file).ok());
  // A million cells as a tree would take seconds: look at the ends of the two parts.
  std::string error;
  const Parts parts = unzip(test::read_file(file), error);
  ASSERT_EQ(error, "");
  const std::string &first = parts.at("xl/worksheets/sheet2.xml"),
                    &second = parts.at("xl/worksheets/sheet3.xml");
  const auto last_row = [](const std::string& sheet) { return sheet.substr(sheet.rfind("<row")); };
  const std::string end_of_first = last_row(first), end_of_second = last_row(second);
  EXPECT_TRUE(end_of_first.starts_with(R"(<row r="1048576"><c r="A1048576")")) << end_of_first;
  EXPECT_NE(end_of_first.find("<v>1048574</v>"), std::string::npos) << end_of_first;
  EXPECT_TRUE(end_of_second.starts_with(R"(<row r="3"><c r="A3")")) << end_of_second;
  EXPECT_NE(end_of_second.find("<v>1048576</v>"), std::string::npos) << end_of_second;
  EXPECT_NE(second.find("<v>1048575</v>"), std::string::npos);
  EXPECT_NE(parts.at("xl/sharedStrings.xml")
                .find("big: 1,048,577 rows, more than a sheet holds, on the sheets big, big (2)"),
            std::string::npos);
}

}  // namespace
}  // namespace fathom::xlsx
