#include "session/query/databases.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/closest_names.h"
#include "base/tsv.h"
#include "session/query/schema.h"

extern const std::string_view named_queries_sql;

namespace fathom {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> allowed(const std::string& writable) {
  return writable.empty() ? std::vector<std::string>() : std::vector<std::string>{writable};
}

bool is_one_trace(const fs::path& directory) {
  std::error_code error;
  return fs::is_regular_file(directory / "run.parquet", error);
}

// The folders of an export that hold tables: itself, or one for each trace.
std::vector<fs::path> parts_of(const fs::path& directory) {
  std::error_code error;
  if (is_one_trace(directory)) return {directory};
  std::vector<fs::path> parts;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error))
    if (fs::is_regular_file(entry.path() / "run.parquet", error)) parts.push_back(entry.path());
  std::ranges::sort(parts);
  return parts;
}

// All columns of today: what an older program exported may lack some, which are unknown then.
std::string no_row_of(const SchemaTable& table) {
  std::string columns;
  for (const SchemaColumn& column : table.columns)
    columns += fmt::format("{}NULL::{} AS {}", columns.empty() ? "" : ", ", column.type,
                           sql_name(column.name));
  return fmt::format("(SELECT {} WHERE false)", columns);
}

// Whether a file can be Parquet: its last bytes are the length of its footer and a mark. One that
// was cut or overwritten would keep DuckDB from reading all others of the table.
bool is_whole(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return false;  // a FIFO would be waited for
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const auto size = static_cast<int64_t>(in.tellg());
  unsigned char end[8] = {};
  if (size < 12 || !in.seekg(size - 8) || !in.read(reinterpret_cast<char*>(end), 8)) return false;
  const int64_t footer = end[0] | end[1] << 8 | end[2] << 16 | int64_t{end[3]} << 24;
  return std::string_view(reinterpret_cast<const char*>(end) + 4, 4) == "PAR1" &&
         footer + 12 <= size;
}

std::string view_of(const SchemaTable& table, const std::vector<std::string>& files, bool is_one) {
  std::string list;
  for (const std::string& file : files) list += (list.empty() ? "" : ", ") + sql_quoted(file);
  const std::string read =
      is_one ? fmt::format("SELECT * FROM read_parquet([{}])", list)
             : fmt::format(
                   "SELECT regexp_extract(filename, '([^/]+)/[^/]+$', 1) AS part, * EXCLUDE "
                   "(filename) FROM read_parquet([{}], filename = true, union_by_name = true)",
                   list);
  return fmt::format("CREATE VIEW {} AS {} UNION ALL BY NAME {}", sql_name(table.name), read,
                     no_row_of(table));
}

// A view for each table, over its files in all parts. `files` gets those that are read.
Status add_views(DuckDatabase& database, const std::vector<fs::path>& parts, bool is_one,
                 std::vector<std::string>& files, std::vector<std::string>* notes) {
  const auto leave_out = [&](const std::string& file, const std::string& why) {
    if (notes != nullptr)
      notes->push_back(
          fmt::format("{} is damaged and left out{}; export its trace again", file, why));
  };
  std::error_code error;
  for (const SchemaTable& table : schema()) {
    std::vector<std::string> found;
    for (const fs::path& part : parts) {
      std::string file = part / fmt::format("{}.parquet", table.name);
      if (!fs::is_regular_file(file, error)) continue;
      is_whole(file) ? found.push_back(std::move(file)) : leave_out(file, "");
    }
    if (found.empty()) continue;
    if (!database.run(view_of(table, found, is_one)).ok()) {
      // One by one: those that DuckDB cannot open alone are damaged inside.
      std::erase_if(found, [&](const std::string& file) {
        const Status alone =
            database.run(fmt::format("SELECT * FROM read_parquet({}) LIMIT 0", sql_quoted(file)));
        if (!alone.ok()) leave_out(file, " (" + alone.error().message + ")");
        return !alone.ok();
      });
      if (found.empty()) continue;
      TRY(database.run(view_of(table, found, is_one)));
    }
    files.insert(files.end(), found.begin(), found.end());
  }
  return Nothing{};
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
                                     const fs::path& directory, const std::string& writable,
                                     std::vector<std::string>* notes) {
  std::error_code error;
  const fs::path place = fs::canonical(directory, error);
  const std::vector<fs::path> parts = error ? std::vector<fs::path>() : parts_of(place);
  if (parts.empty())
    return Error{fmt::format("{}: no tables there; write them with fathom export TRACE --to DIR",
                             directory.string())};
  const bool is_one = parts.size() == 1 && parts[0] == place;
  DuckDatabase database = TRY(DuckDatabase::open(library, limits));
  std::vector<std::string> files = allowed(writable);
  TRY(add_views(database, parts, is_one, files, notes));
  TRY(database.lock(files));
  return database;
}

Result<DuckDatabase> parts_database(const DuckLibrary& library, const DuckLimits& limits,
                                    const std::vector<fs::path>& parts,
                                    std::vector<std::string>* notes) {
  DuckDatabase database = TRY(DuckDatabase::open(library, limits));
  std::vector<std::string> files;
  TRY(add_views(database, parts, false, files, notes));
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

Result<std::string> question_of(const std::string& text, const std::string& input) {
  if (const NamedQuery* known = find_query(text)) {
    if (known->name.starts_with("fleet-") && (!is_export(input) || is_one_trace(input)))
      return Error{fmt::format(
          "{} is asked of several traces, and {} is one; export them with fathom fleet plan and "
          "run, then ask DIR/parts",
          text, input)};
    return std::string(known->sql);
  }
  if (text.find_first_of(" \t\n;(") != std::string::npos) return text;
  std::vector<std::string> names;
  for (const NamedQuery& query : named_queries()) names.emplace_back(query.name);
  return Error{fmt::format("there is no question '{}'; fathom query --list shows them{}", text,
                           did_you_mean(text, names))};
}

const NamedQuery* find_query(std::string_view name) {
  for (const NamedQuery& query : named_queries())
    if (query.name == name) return &query;
  return nullptr;
}

}  // namespace fathom
