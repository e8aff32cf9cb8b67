#include "session/query/databases.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/tsv.h"
#include "session/query/schema.h"

extern const std::string_view named_queries_sql;

namespace fathom {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> allowed(const std::string& writable) {
  return writable.empty() ? std::vector<std::string>() : std::vector<std::string>{writable};
}

// The folders of an export that hold tables: itself, or one for each trace.
std::vector<fs::path> parts_of(const fs::path& directory) {
  std::error_code error;
  if (fs::is_regular_file(directory / "run.parquet", error)) return {directory};
  std::vector<fs::path> parts;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error))
    if (fs::is_regular_file(entry.path() / "run.parquet", error)) parts.push_back(entry.path());
  std::ranges::sort(parts);
  return parts;
}

}  // namespace

Result<DuckDatabase> trace_database(const DuckLibrary& library, const DuckLimits& limits,
                                    TraceTables& tables, const std::string& writable) {
  DuckDatabase database = TRY(DuckDatabase::open(library, limits));
  for (const LazyTable& table : tables.all()) TRY(database.add_table(table));
  TRY(database.lock(allowed(writable)));
  return database;
}

Result<DuckDatabase> export_database(const DuckLibrary& library, const DuckLimits& limits,
                                     const fs::path& directory, const std::string& writable) {
  std::error_code error;
  const fs::path place = fs::canonical(directory, error);
  const std::vector<fs::path> parts = error ? std::vector<fs::path>() : parts_of(place);
  if (parts.empty())
    return Error{fmt::format("{}: no tables there; write them with fathom export TRACE --to DIR",
                             directory.string())};
  DuckDatabase database = TRY(DuckDatabase::open(library, limits));
  std::vector<std::string> files = allowed(writable);
  const bool is_one = parts.size() == 1 && parts[0] == place;
  for (const SchemaTable& table : schema()) {
    std::string list;
    for (const fs::path& part : parts) {
      const std::string file = part / fmt::format("{}.parquet", table.name);
      if (!fs::is_regular_file(file, error)) continue;
      files.push_back(file);
      list += (list.empty() ? "" : ", ") + sql_quoted(file);
    }
    if (list.empty()) continue;
    const Status made = database.run(
        is_one ? fmt::format("CREATE VIEW {} AS SELECT * FROM read_parquet([{}])",
                             sql_name(table.name), list)
               : fmt::format("CREATE VIEW {} AS SELECT regexp_extract(filename, "
                             "'([^/]+)/[^/]+$', 1) AS part, * EXCLUDE (filename) FROM "
                             "read_parquet([{}], filename = true, union_by_name = true)",
                             sql_name(table.name), list));
    if (!made.ok()) return Error{fmt::format("{}: {}", directory.string(), made.error().message)};
  }
  TRY(database.lock(files));
  return database;
}

bool is_export(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

const std::vector<NamedQuery>& named_queries() {
  // Each follows a form feed and a line with its name.
  static const std::vector<NamedQuery> queries = [] {
    std::vector<NamedQuery> all;
    for (const std::string_view piece : split(named_queries_sql, '\f')) {
      const size_t end = piece.find('\n');
      if (end == std::string_view::npos) continue;
      const std::string_view sql = piece.substr(end + 1);
      std::string_view first = sql.substr(0, sql.find('\n'));
      first.remove_prefix(std::min(first.find_first_not_of("- "), first.size()));
      all.push_back({piece.substr(0, end), first, sql});
    }
    return all;
  }();
  return queries;
}

const NamedQuery* find_query(std::string_view name) {
  for (const NamedQuery& query : named_queries())
    if (query.name == name) return &query;
  return nullptr;
}

}  // namespace fathom
