#pragma once

#include <string>
#include <vector>

#include "base/output_directory.h"
#include "duck/database.h"
#include "session/query/trace_tables.h"

namespace fathom {

struct ExportRequest {
  OutputPlace place;
  std::vector<std::string> tables;       // empty: all
  const DuckLibrary* library = nullptr;  // null: CSV
  DuckLimits limits;
};

struct ExportedTable {
  std::string file;
  int64_t rows = 0, bytes = 0;
};
struct ExportResult {
  std::vector<ExportedTable> tables;
  std::vector<std::string> notes;  // about files that were in the way
};

// One file for each table, all of them or none.
Result<ExportResult> export_tables(TraceTables& tables, const ExportRequest& request);

// Rows of a table as CSV in pieces, the first with the header. False from `write` ends it.
Status write_csv(const RowTable& table, const std::function<Status(std::string_view)>& write);

}  // namespace fathom
