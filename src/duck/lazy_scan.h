#pragma once

#include "base/result.h"
#include "duck/duckdb_calls.h"
#include "duck/row_table.h"

namespace fathom {

// What DuckDB hands to our callbacks for one table. It outlives the database.
struct LazyScan {
  const duck::Calls* calls = nullptr;
  LazyTable table;
  bool is_defined = false;  // false while the view is made, which needs no rows
};

// Lets SQL read the table as fathom_NAME(); one thread reads it, in the order of its rows.
Status register_scan(LazyScan& scan, duck::Handle connection);

}  // namespace fathom
