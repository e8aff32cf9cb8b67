#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace fathom {

// One row of a scan; its texts are gone with the next row.
class SqliteRow {
 public:
  explicit SqliteRow(sqlite3_stmt* statement) : statement_(statement) {}

  // Nothing for null, for text and for a number that is not whole.
  std::optional<int64_t> integer(size_t column) const;
  std::optional<double> number(size_t column) const;
  // Empty for null and for numbers.
  std::string_view text(size_t column) const;
  bool is_text(size_t column) const;

 private:
  sqlite3_stmt* statement_;
};

// How a scan of a table ended.
enum class ScanEnd : uint8_t { kWhole, kNoTable, kDamaged };

// A database that another program wrote, and that may be damaged or made to do harm. It is opened
// read-only and immutable. Only ordinary tables are read, by whole scans, so no view, trigger,
// virtual table or generated column is ever evaluated; and the work is bounded by the file's size.
class SqliteDatabase {
 public:
  static bool begins_like_one(std::string_view head);

  static Result<SqliteDatabase> open_file(const std::string& path);
  // The file's content; `shown` is its name in messages.
  static Result<SqliteDatabase> open_bytes(std::vector<char> bytes, const std::string& shown);

  SqliteDatabase(SqliteDatabase&&) noexcept;
  SqliteDatabase& operator=(SqliteDatabase&&) noexcept;
  ~SqliteDatabase();

  // Ordinary tables, in the order of the schema.
  const std::vector<std::string>& tables() const;
  bool has_table(std::string_view name) const;
  // Also where its first row cannot be read.
  bool is_empty(std::string_view table) const;
  // Ordinary columns of a table; none where there is no such table.
  std::vector<std::string> columns(std::string_view table) const;

  // Calls `visit` for each row, in the order of the table. A column that the table lacks is null.
  ScanEnd scan(std::string_view table, std::span<const std::string_view> wanted,
               const std::function<void(const SqliteRow&)>& visit) const;

  int64_t size() const;    // of the file, in bytes
  bool truncated() const;  // it ends before the pages that its header counts
  // Whether a file is, by its first bytes and its size. SQLite reads nothing of such a file; it is
  // to be opened as bytes.
  static bool is_cut(std::string_view head, int64_t size);

 private:
  struct State;
  explicit SqliteDatabase(std::unique_ptr<State> state);
  static Result<SqliteDatabase> prepare(std::unique_ptr<State> state, const std::string& shown);

  std::unique_ptr<State> state_;
};

}  // namespace fathom
