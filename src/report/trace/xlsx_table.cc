#include "report/trace/xlsx_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/screen_text.h"

namespace fathom {
namespace {

constexpr size_t kMaxColumns = 16384;
constexpr size_t kMinWidth = 8, kMaxWidth = 60;
constexpr size_t kFilterButton = 3;  // what it takes of a header, in characters
constexpr size_t kMargin = 1;
constexpr size_t kAnyNumber = 12;  // without a format, Excel rounds a number to the width there is

struct Shown {
  CellStyle style = CellStyle::kGeneral;
  size_t decimals = 0;
};

Shown shown_as(Unit unit) {
  switch (unit) {
    case Unit::kNone:
      break;
    case Unit::kCount:
      return {CellStyle::kCount, 0};
    case Unit::kMicros:
    case Unit::kMillis:
      return {CellStyle::kTime, 3};
    case Unit::kPercent:
      return {CellStyle::kPercent, 2};
    case Unit::kMegabytes:
    case Unit::kGigabytesPerSecond:
      return {CellStyle::kAmount, 2};
  }
  return {};
}

size_t text_width(const Column& column, const SheetPart& part) {
  size_t width = 0;
  for (size_t row = part.begin; row < part.end && width < kMaxWidth; ++row) {
    const std::string_view text = column.text(row);
    if (text.size() > width) width = std::max(width, screen_width(text));
  }
  return width;
}

// Of the number with most digits: one that is wider than its column shows as ####.
size_t number_width(const Column& column, const SheetPart& part) {
  if (column.unit() == Unit::kNone) return kAnyNumber;
  double largest = 1;
  bool negative = false;
  for (size_t row = part.begin; row < part.end; ++row) {
    const double value = column.number(row);
    if (!std::isfinite(value)) continue;
    largest = std::max(largest, std::abs(value));
    negative = negative || value < 0;
  }
  const auto digits = static_cast<size_t>(std::log10(largest)) + 1;
  const size_t decimals = shown_as(column.unit()).decimals;
  return negative + digits + (digits - 1) / 3 + (decimals > 0 ? decimals + 1 : 0);
}

std::vector<size_t> column_widths(const SheetPart& part) {
  std::vector<size_t> widths;
  for (const Column& column : part.table->columns()) {
    const size_t content = column.is_text() ? text_width(column, part) : number_width(column, part);
    const size_t header = screen_width(column.name()) + kFilterButton;
    widths.push_back(std::clamp(std::max(content, header) + kMargin, kMinWidth, kMaxWidth));
  }
  return widths;
}

Status write_rows(SheetWriter& sheet, const SheetPart& part, CellLosses& losses) {
  const auto& columns = part.table->columns();
  std::vector<CellStyle> styles;
  sheet.begin_row();
  for (const Column& column : columns) {
    sheet.text(styles.size(), column.name(), CellStyle::kHeader);
    styles.push_back(shown_as(column.unit()).style);
  }
  TRY(sheet.end_row());
  for (size_t row = part.begin; row < part.end; ++row) {
    sheet.begin_row();
    size_t next = 0;
    for (const Column& column : columns) {
      const size_t i = next++;
      if (!column.known(row)) continue;
      if (column.is_text()) {
        losses.cut += !fits_cell(column.text(row));
        sheet.text(i, column.text(row));
      } else {
        sheet.number(i, column.cell(row), styles[i]);
      }
    }
    TRY(sheet.end_row());
  }
  return Nothing{};
}

}  // namespace

std::string SheetPart::range() const {
  const size_t columns = table->columns().size();
  return columns == 0 ? "A1" : "A1:" + cell_name(columns - 1, rows() + 1);
}

std::vector<SheetPart> split_into_sheets(const std::vector<Table>& tables, size_t max_rows) {
  std::vector<SheetPart> parts;
  std::set<std::string> used = {"summary"};
  for (const Table& table : tables) {
    size_t begin = 0;
    do {
      const size_t end = std::min(table.rows(), begin + max_rows);
      parts.push_back({&table, unique_sheet_name(table.name(), used), begin, end});
      begin = end;
    } while (begin < table.rows());
  }
  return parts;
}

Status write_table_sheet(ZipWriter& zip, std::string file, const SheetPart& part,
                         StringTable& strings, CellLosses& losses) {
  const size_t columns = part.table->columns().size();
  if (columns > kMaxColumns) {
    return Error{fmt::format("{} has {} columns; a sheet of a workbook holds {}",
                             part.table->name(), columns, kMaxColumns)};
  }
  SheetWriter sheet(zip, strings);
  const std::string view =
      R"(<sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>)"
      R"(<selection pane="bottomLeft" activeCell="A2" sqref="A2"/></sheetView>)";
  TRY(sheet.begin(std::move(file), {"", part.range(), view, column_widths(part)}));
  TRY(write_rows(sheet, part, losses));
  return sheet.finish(columns == 0 ? "" : fmt::format(R"(<autoFilter ref="{}"/>)", part.range()));
}

}  // namespace fathom
