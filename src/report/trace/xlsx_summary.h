#pragma once

#include "report/trace/summary.h"
#include "report/trace/xlsx_table.h"

namespace fathom {

struct SummaryCell {
  std::string content;
  CellStyle style = CellStyle::kGeneral;
  bool is_number = false;
  std::string sheet = {};  // what a link leads to
};
using SummaryRows = std::vector<std::vector<SummaryCell>>;

// The first sheet: the summary's facts, what the workbook could not hold, a link to each sheet.
SummaryRows summary_rows(const Summary& summary, const std::vector<SheetPart>& parts,
                         const CellLosses& losses);

Status write_summary_sheet(ZipWriter& zip, std::string file, const SummaryRows& rows,
                           StringTable& strings);

}  // namespace fathom
