#include "base/sqlite_database.h"

#include <array>

#include "checks.h"
#include "made_database.h"
#include "test_files.h"

namespace fathom {
namespace {

using test::make_database;

Result<SqliteDatabase> open_text(const std::string& bytes) {
  return SqliteDatabase::open_bytes(std::vector<char>(bytes.begin(), bytes.end()), "d.sqlite");
}

std::vector<std::optional<int64_t>> integers(const SqliteDatabase& database, std::string_view table,
                                             std::string_view column) {
  std::vector<std::optional<int64_t>> values;
  const std::array<std::string_view, 1> columns = {column};
  (void)database.scan(table, columns,
                      [&](const SqliteRow& row) { values.push_back(row.integer(0)); });
  return values;
}

TEST(SqliteDatabase, ReadsTablesOfAFileAndOfBytesAlike) {
  const test::TemporaryDirectory directory;
  const auto path = directory.path() / "odd ?#%.sqlite";
  make_database(path, "CREATE TABLE t(a INTEGER, b TEXT); INSERT INTO t VALUES(1,'x'),(2,'y');");
  const Result<SqliteDatabase> file = SqliteDatabase::open_file(path);
  ASSERT_TRUE(file.ok()) << file.error().message;
  const Result<SqliteDatabase> bytes = open_text(test::read_file(path));
  ASSERT_TRUE(bytes.ok());
  for (const SqliteDatabase* database : {&file.value(), &bytes.value()}) {
    EXPECT_EQ(database->tables(), std::vector<std::string>{"t"});
    EXPECT_EQ(database->columns("t"), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(integers(*database, "t", "a"), (std::vector<std::optional<int64_t>>{1, 2}));
    EXPECT_FALSE(database->is_empty("t"));
    EXPECT_TRUE(database->is_empty("absent"));
  }
}

TEST(SqliteDatabase, AColumnThatIsAbsentIsNullAndATypeThatIsWrongIsUnknown) {
  const Result<SqliteDatabase> database = open_text(test::database_bytes(
      "CREATE TABLE t(a); INSERT INTO t VALUES(7),('seven'),(7.5),(8.0),(NULL),"
      "(x'00');"));
  ASSERT_TRUE(database.ok());
  EXPECT_EQ(integers(database.value(), "t", "a"),
            (std::vector<std::optional<int64_t>>{7, {}, {}, 8, {}, {}}));
  EXPECT_EQ(integers(database.value(), "t", "b").size(), 6u);
  EXPECT_EQ(integers(database.value(), "t", "b")[0], std::nullopt);
}

// What could run code of whoever made the file: none of it is a table to us.
TEST(SqliteDatabase, ViewsVirtualTablesAndGeneratedColumnsAreNotRead) {
  const Result<SqliteDatabase> database = open_text(test::database_bytes(
      "CREATE TABLE t(a INTEGER, g INTEGER AS (a*2), s INTEGER AS (a*3) STORED);"
      "INSERT INTO t(a) VALUES(1);"
      "CREATE VIEW v AS SELECT a FROM t;"
      "CREATE VIRTUAL TABLE f USING fts5(x);"
      "CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t; END;"));
  ASSERT_TRUE(database.ok());
  EXPECT_TRUE(database.value().has_table("t"));
  EXPECT_FALSE(database.value().has_table("v"));
  EXPECT_FALSE(database.value().has_table("f"));
  EXPECT_EQ(database.value().columns("t"), std::vector<std::string>{"a"});
  EXPECT_EQ(integers(database.value(), "t", "g"), (std::vector<std::optional<int64_t>>{{}}));
  EXPECT_EQ(integers(database.value(), "v", "a").size(), 0u);
}

// A view may carry the name of a table that a reader asks for.
TEST(SqliteDatabase, AViewInPlaceOfATableIsAbsent) {
  const Result<SqliteDatabase> database = open_text(test::database_bytes(
      "CREATE VIEW StringIds AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) "
      "SELECT i AS id, 'x' AS value FROM n;"));
  ASSERT_TRUE(database.ok());
  const std::array<std::string_view, 1> columns = {"id"};
  EXPECT_EQ(database.value().scan("StringIds", columns, [](const SqliteRow&) { FAIL(); }),
            ScanEnd::kNoTable);
}

TEST(SqliteDatabase, WhatIsBeforeTheDamageIsRead) {
  std::string sql = "PRAGMA page_size=512; CREATE TABLE t(a INTEGER, b TEXT); BEGIN;";
  for (int i = 0; i < 500; ++i) {
    sql += "INSERT INTO t VALUES(" + std::to_string(i) + ",'" + std::string(50, 'x') + "');";
  }
  std::string bytes = test::database_bytes(sql + "COMMIT;");
  const std::string whole = bytes;
  // Pages of the second half.
  for (size_t i = bytes.size() / 2; i < bytes.size(); ++i) bytes[i] = '\xff';
  const std::array<std::string_view, 1> columns = {"a"};
  for (const std::string& damaged : {bytes, whole.substr(0, whole.size() / 2)}) {
    const Result<SqliteDatabase> database = open_text(damaged);
    if (!database.ok()) continue;
    size_t rows = 0;
    EXPECT_EQ(database.value().scan("t", columns, [&](const SqliteRow&) { ++rows; }),
              ScanEnd::kDamaged);
    EXPECT_LT(rows, 500u);
  }
  // Each byte of the first pages turned over: an error, or rows that end.
  for (size_t at = 0; at < 1500; at += 7) {
    std::string one = whole;
    one[at] = static_cast<char>(~one[at]);
    const Result<SqliteDatabase> database = open_text(one);
    if (!database.ok()) continue;
    size_t rows = 0;
    (void)database.value().scan("t", columns, [&](const SqliteRow&) { ++rows; });
    EXPECT_LT(rows, 100'000u) << at;
  }
}

TEST(SqliteDatabase, NoDatabaseIsAnError) {
  EXPECT_FALSE(open_text("").ok() && open_text("").value().has_table("t"));
  const Result<SqliteDatabase> text = open_text("SQLite format 3" + std::string(600, '\0'));
  ASSERT_FALSE(text.ok());
  EXPECT_NE(text.error().message.find("d.sqlite"), std::string::npos);
  EXPECT_FALSE(SqliteDatabase::open_file("/nowhere/d.sqlite").ok());
}

TEST(SqliteDatabase, ADatabaseInWalModeIsReadAsItLies) {
  const test::TemporaryDirectory directory;
  make_database(directory.path() / "w.sqlite",
                "PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES(5);");
  const std::string bytes = test::read_file(directory.path() / "w.sqlite");
  ASSERT_EQ(bytes[18], 2);
  const Result<SqliteDatabase> memory = open_text(bytes);
  ASSERT_TRUE(memory.ok()) << memory.error().message;
  EXPECT_EQ(integers(memory.value(), "t", "a"), (std::vector<std::optional<int64_t>>{5}));
  const Result<SqliteDatabase> file = SqliteDatabase::open_file(directory.path() / "w.sqlite");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(integers(file.value(), "t", "a"), (std::vector<std::optional<int64_t>>{5}));
}

}  // namespace
}  // namespace fathom
