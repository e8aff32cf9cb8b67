#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "duck/row_table.h"

namespace fathom {

// Raised where a column changes its meaning or goes away; not where one is added.
inline constexpr int64_t kTablesVersion = 1;

// A column of a table that SQL sees: data/queries/schema.tsv.
struct SchemaColumn {
  std::string_view name, type, unit, text;
};
struct SchemaTable {
  std::string_view name, text;
  std::vector<SchemaColumn> columns;

  std::vector<NamedColumn> named_columns() const;
};

const std::vector<SchemaTable>& schema();
// Null where there is none of this name.
const SchemaTable* find_table(std::string_view name);
// The tables as a chapter each; docs/SCHEMA.md holds it.
std::string schema_markdown();

}  // namespace fathom
