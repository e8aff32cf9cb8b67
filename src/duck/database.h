#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/table.h"
#include "duck/duckdb_library.h"
#include "duck/row_table.h"

namespace fathom {

struct DuckLimits {
  int64_t memory_bytes = 0;  // 0: DuckDB's own, four fifths of the machine's
  int64_t threads = 0;       // 0: all cores
  double seconds = 0;        // for one question; 0: no limit
};

// A database in memory. Nothing is read from or written to disk but what `run` is told to, and
// after lock() only the files that were allowed.
class DuckDatabase {
 public:
  static Result<DuckDatabase> open(const DuckLibrary& library, const DuckLimits& limits);
  DuckDatabase(DuckDatabase&&) noexcept;
  ~DuckDatabase();

  // Makes a view of the table's name. The table outlives the database.
  Status add_table(const LazyTable& table);
  // Statements of our own. The message is DuckDB's.
  Status run(const std::string& sql);
  // From here on only the files named can be read or written, and no setting can be changed.
  Status lock(const std::vector<std::string>& files);

  // The answer to one SELECT; anything else is refused. Numbers and text keep their type, other
  // values become text; `truths`, where given, gets the places of BOOLEAN columns.
  Result<Table> ask(const std::string& sql, std::vector<size_t>* truths = nullptr);
  // The same into a Parquet file, which must have been allowed.
  Status ask_into(const std::string& sql, const std::string& path);

 private:
  struct Parts;
  explicit DuckDatabase(std::unique_ptr<Parts> parts);
  Status answer(const std::string& sql, duck::QueryResult& result);
  Status answer_into(const std::string& sql, const std::string& path);
  Status define_answer(const std::string& sql);
  // Names of columns that resemble one that is not there, where DuckDB names none.
  std::string explained(const std::string& message);
  std::unique_ptr<Parts> parts_;
};

// As an SQL literal, quotes doubled.
std::string sql_quoted(std::string_view text);
// As an SQL name.
std::string sql_name(std::string_view name);

}  // namespace fathom
