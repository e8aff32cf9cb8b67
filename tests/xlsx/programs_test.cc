#include <charconv>
#include <cmath>

#include "agreement/csv.h"
#include "checks.h"
#include "report/csv.h"
#include "session/analyze.h"
#include "xlsx/sample_workbook.h"

namespace fathom::xlsx {
namespace {

namespace fs = std::filesystem;

bool installed(const std::string& program) {
  return test::run_command("command -v " + program, "/").exit_code == 0;
}

// The sheets of an example, and one with what is easily read as something else.
std::vector<Table> sheets_to_read() {
  const fs::path example = test::source_dir() / "examples" / "moe-h200.json.gz";
  std::vector<Table> sheets = analyze(open_trace(example.string()).take(), Scope{}).take().sheets;
  Table odd("odd");
  Column& text = odd.text_column("text");
  Column& number = odd.real_column("number");
  for (const char* t : {"=1+1", "+1", "-1", "@x", "1e5", "TRUE", "2024-01-01", "a,\"b\"\nc", " x ",
                        "_x0041_", "_x0041_x0042_", "µ 核 😀", "<&>", "http://example.com"}) {
    text.add(t);
    number.add(1.0 / static_cast<double>(text.size() + 2));
  }
  sheets.push_back(odd);
  return sheets;
}

std::optional<double> as_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// A spreadsheet program gives back 15 digits.
bool same_value(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const std::optional<double> x = as_number(a), y = as_number(b);
  return x && y && std::abs(*x - *y) <= 1e-14 * std::abs(*x);
}

TEST(XlsxInPrograms, UnzipFindsTheArchiveSound) {
  if (!installed("unzip")) GTEST_SKIP() << "skipped: unzip is not installed";
  const test::TemporaryDirectory directory;
  ASSERT_TRUE(write_xlsx({}, sheets_to_read(), directory.path() / "report.xlsx").ok());
  const test::CommandResult result = test::run_command("unzip -tq report.xlsx", directory.path());
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
}

TEST(XlsxInPrograms, LibreofficeReadsTheValuesOfTheCsvFiles) {
  if (!installed("soffice")) GTEST_SKIP() << "skipped: LibreOffice is not installed";
  const test::TemporaryDirectory directory;
  const std::vector<Table> sheets = sheets_to_read();
  ASSERT_TRUE(write_xlsx({}, sheets, directory.path() / "report.xlsx").ok());
  // Commas, UTF-8, every sheet, values rather than what the screen shows; a profile of its own, so
  // that a running LibreOffice is left alone.
  const test::CommandResult result = test::run_command(
      "soffice -env:UserInstallation=file://" + directory.path().string() +
          "/profile --headless --convert-to "
          "'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1' "
          "report.xlsx",
      directory.path());
  ASSERT_EQ(result.exit_code, 0) << result.output << result.errors;
  ASSERT_TRUE(fs::exists(directory.path() / "report-summary.csv"))
      << result.output << result.errors;
  for (const Table& sheet : sheets) {
    const agreement::Csv expected = agreement::parse_csv(to_csv(sheet));
    const agreement::Csv actual =
        agreement::read_csv(directory.path() / ("report-" + sheet.name() + ".csv"));
    ASSERT_EQ(actual.error, "") << sheet.name();
    ASSERT_EQ(actual.header, expected.header) << sheet.name();
    ASSERT_EQ(actual.rows.size(), expected.rows.size()) << sheet.name();
    for (size_t row = 0; row < expected.rows.size(); ++row) {
      for (size_t column = 0; column < expected.header.size(); ++column) {
        // The table's own text: in the CSV an apostrophe keeps spreadsheets from running it.
        const bool text = sheet.columns()[column].is_text();
        const std::string a = text ? sheet.columns()[column].cell(row) : expected.rows[row][column];
        const std::string& b = actual.rows[row][column];
        EXPECT_TRUE(text ? a == b : same_value(a, b))
            << sheet.name() << " " << place(column, row + 2) << ": " << a << " became " << b;
      }
    }
  }
}

}  // namespace
}  // namespace fathom::xlsx
