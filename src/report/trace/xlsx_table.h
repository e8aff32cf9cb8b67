#pragma once

#include <string>
#include <vector>

#include "base/table.h"
#include "report/trace/xlsx_sheet.h"

namespace fathom {

inline constexpr size_t kMaxSheetRows = 1048575;  // below the header

// Rows of a table that make one sheet.
struct SheetPart {
  const Table* table;
  std::string name;
  size_t begin, end;

  size_t rows() const { return end - begin; }
  // "A1:K9", the header included.
  std::string range() const;
};

// A sheet for each table, or several: name, name (2), …
std::vector<SheetPart> split_into_sheets(const std::vector<Table>& tables,
                                         size_t max_rows = kMaxSheetRows);

// Cells that a workbook cannot hold as they are.
struct CellLosses {
  int64_t cut = 0;
};

Status write_table_sheet(ZipWriter& zip, std::string file, const SheetPart& part,
                         StringTable& strings, CellLosses& losses);

}  // namespace fathom
