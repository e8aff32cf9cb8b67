#pragma once

#include "report/trace/xlsx.h"
#include "test_files.h"
#include "xlsx/workbook.h"

namespace fathom::xlsx {

// Tables written and read again.
inline Workbook write_and_read(const std::vector<Table>& tables, const Summary& summary = {}) {
  const test::TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "report.xlsx";
  const Status written = write_xlsx(summary, tables, file);
  if (written.ok()) return read_workbook(file);
  Workbook failed;
  failed.error = written.error().message;
  return failed;
}

// The place of a cell with this text in the first column; 0 where there is none.
inline size_t row_of(const Sheet& sheet, std::string_view text) {
  for (size_t row = 1; row <= sheet.rows; ++row) {
    if (sheet.text(place(0, row)) == text) return row;
  }
  return 0;
}

}  // namespace fathom::xlsx
