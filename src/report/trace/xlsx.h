#pragma once

#include <filesystem>

#include "base/result.h"
#include "report/trace/summary.h"

namespace fathom {

// A workbook of the tables, a sheet for each, after a first sheet with the summary and links. Text
// is inert: never a formula or a link. The same input gives the same bytes. What Excel's limits cut
// is counted on the summary sheet.
Status write_xlsx(const Summary& summary, const std::vector<Table>& sheets,
                  const std::filesystem::path& file);

}  // namespace fathom
