#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/trace/xlsx_text.h"

namespace fathom {

// The looks that a cell can have.
enum class CellStyle : uint8_t {
  kGeneral,
  kGuarded,  // text that looks like a formula: stays text even when somebody edits the cell
  kHeader,
  kNumberHeader,  // on the right; for headers without a filter's button there
  kTime,
  kPercent,
  kCount,
  kAmount,  // megabytes, GB/s
  kTitle,
  kSection,
  kLink,
  kFactCount,  // on the left, beside its label
  kFactAmount,
  kEnd,
};

std::string styles_xml();

// "AB12": columns count from 0, rows from 1.
std::string cell_name(size_t column, size_t row);

// One worksheet of a workbook, written from the top row down and from left to right.
class SheetWriter {
 public:
  struct Head {
    std::string properties;      // <sheetPr> or nothing
    std::string dimension;       // "A1:C9"
    std::string view;            // <sheetView>
    std::vector<size_t> widths;  // of the columns, in characters
  };

  SheetWriter(ZipWriter& zip, StringTable& strings) : zip_(zip), strings_(strings) {}

  Status begin(std::string file, const Head& head);
  void begin_row();
  // Empty text makes no cell. The text must outlive the string table.
  void text(size_t column, std::string_view text, CellStyle style = CellStyle::kGeneral);
  void number(size_t column, std::string_view digits, CellStyle style);
  Status end_row();
  // With the elements that follow the rows.
  Status finish(std::string_view elements);

 private:
  void begin_cell(size_t column, CellStyle style);

  ZipWriter& zip_;
  StringTable& strings_;
  std::vector<std::string> letters_;  // of each column
  std::string xml_;
  size_t row_ = 0;
  std::string row_digits_;
};

}  // namespace fathom
