#include "session/query/export.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/json_writer.h"
#include "report/csv.h"
#include "session/query/schema.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// Cells of a column of a Table.
class ColumnSink final : public CellSink {
 public:
  explicit ColumnSink(Column& column) : column_(column) {}
  void integer(int64_t value) override { column_.add(value); }
  void real(double value) override { column_.add(value); }
  void text(std::string_view value) override { column_.add(value); }
  void truth(bool value) override { column_.add(std::string_view(value ? "true" : "false")); }
  void unknown() override { column_.add_unknown(); }

 private:
  Column& column_;
};

Table rows_between(const RowTable& rows, size_t begin, size_t end) {
  Table table("rows");
  for (const RowColumn& column : rows.columns) {
    Column& into = column.type == CellType::kInteger ? table.count_column(column.name)
                   : column.type == CellType::kReal  ? table.real_column(column.name)
                                                     : table.text_column(column.name);
    ColumnSink sink(into);
    for (size_t row = begin; row < end; ++row) column.write(row, sink);
  }
  return table;
}

Status write_csv_file(const RowTable& table, const fs::path& path) {
  std::ofstream out(path, std::ios::binary);
  TRY(write_csv(table, [&](std::string_view text) -> Status {
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!out) return Error{fmt::format("cannot write {}: {}", path.string(), std::strerror(errno))};
    return Nothing{};
  }));
  out.close();
  if (!out) return Error{fmt::format("cannot write {}: {}", path.string(), std::strerror(errno))};
  return Nothing{};
}

// What a reader of the file alone needs to know.
std::string key_values(const SchemaTable& table) {
  JsonWriter units(false);
  units.begin_object();
  for (const SchemaColumn& column : table.columns)
    if (!column.unit.empty()) units.key(column.name).value(column.unit);
  units.end_object();
  return fmt::format(
      "{{fathom_tables_version: '{}', fathom_table: {}, fathom_units: {}, fathom_program: {}}}",
      kTablesVersion, sql_quoted(table.name), sql_quoted(units.take()),
      sql_quoted("fathom " FATHOM_VERSION));
}

}  // namespace

Status write_csv(const RowTable& table, const std::function<Status(std::string_view)>& write) {
  constexpr size_t kRowsAtOnce = 16'384;
  for (size_t begin = 0; begin == 0 || begin < table.rows; begin += kRowsAtOnce) {
    const std::string text =
        to_csv(rows_between(table, begin, std::min(table.rows, begin + kRowsAtOnce)));
    // Names of columns have no line breaks.
    TRY(write(begin == 0 ? std::string_view(text)
                         : std::string_view(text).substr(text.find('\n') + 1)));
  }
  return Nothing{};
}

Result<ExportResult> export_tables(TraceTables& tables, const ExportRequest& request) {
  OutputDirectory out = TRY(OutputDirectory::create(request.place));
  std::optional<DuckDatabase> database;
  if (request.library != nullptr)
    database.emplace(TRY(DuckDatabase::open(*request.library, request.limits)));
  ExportResult result;
  for (const LazyTable& table : tables.all()) {
    const bool is_wanted = request.tables.empty() ||
                           std::ranges::find(request.tables, table.name) != request.tables.end();
    if (!is_wanted) continue;
    const std::string file = table.name + (database ? ".parquet" : ".csv");
    const fs::path path = out.staged(file);
    if (database) {
      TRY(database->add_table(table));
      // One row group at a time is held; the order is that of the table.
      const Status copied = database->run(fmt::format(
          "COPY (SELECT * FROM {}) TO {} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE "
          "122880, USE_TMP_FILE false, KV_METADATA {})",
          sql_name(table.name), sql_quoted(path.string()), key_values(*find_table(table.name))));
      if (!copied.ok())
        return Error{fmt::format("cannot write {}: {}", (request.place.path / file).string(),
                                 copied.error().message)};
    } else {
      TRY(write_csv_file(tables.make(table.name), path));
    }
    std::error_code error;
    result.tables.push_back({file, static_cast<int64_t>(tables.make(table.name).rows),
                             static_cast<int64_t>(fs::file_size(path, error))});
  }
  result.notes = TRY(out.commit());
  return result;
}

}  // namespace fathom
