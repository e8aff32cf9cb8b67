#include "session/query/schema.h"

#include <fmt/format.h>

#include "base/tsv.h"

extern const std::string_view query_schema_tsv;

namespace fathom {
namespace {

CellType cell_type(std::string_view sql_type) {
  if (sql_type == "BIGINT") return CellType::kInteger;
  if (sql_type == "DOUBLE") return CellType::kReal;
  if (sql_type == "BOOLEAN") return CellType::kTruth;
  return CellType::kText;
}

std::vector<SchemaTable> read_schema() {
  std::vector<SchemaTable> tables;
  for (const std::vector<std::string_view>& row : read_tsv(query_schema_tsv, 5)) {
    if (row[1].empty())
      tables.push_back({row[0], row[4], {}});
    else
      tables.back().columns.push_back({row[1], row[2], row[3], row[4]});
  }
  return tables;
}

}  // namespace

std::vector<NamedColumn> SchemaTable::named_columns() const {
  std::vector<NamedColumn> named;
  for (const SchemaColumn& column : columns)
    named.push_back({std::string(column.name), cell_type(column.type)});
  return named;
}

const std::vector<SchemaTable>& schema() {
  static const std::vector<SchemaTable> tables = read_schema();
  return tables;
}

const SchemaTable* find_table(std::string_view name) {
  for (const SchemaTable& table : schema())
    if (table.name == name) return &table;
  return nullptr;
}

std::string schema_markdown() {
  std::string out;
  for (const SchemaTable& table : schema()) {
    out += fmt::format("\n## `{}`\n\n{}\n\n| column | type | unit | meaning |\n|---|---|---|---|\n",
                       table.name, table.text);
    for (const SchemaColumn& column : table.columns)
      out += fmt::format("| `{}` | {} | {} | {} |\n", column.name, column.type, column.unit,
                         column.text);
  }
  return out;
}

}  // namespace fathom
