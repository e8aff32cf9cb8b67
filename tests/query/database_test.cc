#include "duck/database.h"

#include <sys/resource.h>

#include <filesystem>

#include "checks.h"
#include "query/duck_for_tests.h"
#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

TEST(DuckLibrary, AbsentNamesTheCommandThatGetsIt) {
  const test::TemporaryDirectory folder;
  const Result<const DuckLibrary*> loaded = load_duckdb({{}, {folder.path()}, false});
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.error().message.find("tools/setup --query"), std::string::npos);
}

TEST(DuckLibrary, FileThatIsNoLibraryIsNamed) {
  const test::TemporaryDirectory folder;
  test::write_file(folder.path() / "libduckdb.so", "not a library");
  for (const DuckPlaces& places :
       {DuckPlaces{{}, {folder.path()}, false}, DuckPlaces{folder.path(), {}, true}}) {
    const Result<const DuckLibrary*> loaded = load_duckdb(places);
    ASSERT_FALSE(loaded.ok());
    EXPECT_NE(loaded.error().message.find("libduckdb.so"), std::string::npos)
        << loaded.error().message;
  }
}

TEST(DuckLibrary, AnotherLibraryIsRefused) {
  const test::TemporaryDirectory folder;
  fs::copy_file(test::fake_driver(), folder.path() / "libduckdb.so");
  const Result<const DuckLibrary*> loaded = load_duckdb({{}, {folder.path()}, false});
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.error().message.find("has no function duckdb_"), std::string::npos)
      << loaded.error().message;
}

// A table of three rows: a number, a text that may be unknown, a share.
class Database : public testing::Test {
 protected:
  Database() {
    rows_.rows = 3;
    rows_.columns = {{"number", CellType::kInteger,
                      [](size_t r, CellSink& c) { c.integer(static_cast<int64_t>(r) - 1); }},
                     {"name", CellType::kText,
                      [](size_t r, CellSink& c) {
                        r == 1 ? c.unknown()
                               : c.text(r == 0 ? "short" : "longer than twelve bytes \xff\x1b[2J");
                      }},
                     {"share", CellType::kReal,
                      [](size_t r, CellSink& c) { c.real(0.5 * static_cast<double>(r)); }},
                     {"odd", CellType::kTruth, [](size_t r, CellSink& c) { c.truth(r % 2 == 1); }}};
    table_ = {"things",
              {{"number", CellType::kInteger},
               {"name", CellType::kText},
               {"share", CellType::kReal},
               {"odd", CellType::kTruth}},
              [this] {
                ++made_;
                return &rows_;
              }};
  }

  DuckDatabase open(DuckLimits limits = {}, const std::vector<std::string>& files = {}) {
    DuckDatabase database = DuckDatabase::open(*test::duckdb(), limits).take();
    EXPECT_TRUE(database.add_table(table_).ok());
    EXPECT_TRUE(database.lock(files).ok());
    return database;
  }

  RowTable rows_;
  LazyTable table_;
  int made_ = 0;
};

std::string cells(const Result<Table>& answer) {
  if (!answer.ok()) return "error: " + answer.error().message;
  std::string text;
  for (size_t row = 0; row < answer.value().rows(); ++row) {
    for (const Column& column : answer.value().columns()) text += column.cell(row) + "|";
    text += "\n";
  }
  return text;
}

TEST_F(Database, AnswersWithTypedCells) {
  NEEDS_DUCKDB();
  DuckDatabase database = open();
  EXPECT_EQ(made_, 0) << "rows are made where a query needs them";
  EXPECT_EQ(cells(database.ask("SELECT 1")), "1|\n");
  EXPECT_EQ(made_, 0);
  EXPECT_EQ(cells(database.ask("SELECT * FROM things")),
            "-1|short|0|false|\n0||0.5|true|\n1|longer than twelve bytes ?\x1b[2J|1|false|\n");
  EXPECT_GT(made_, 0);
  EXPECT_EQ(cells(database.ask("SELECT count(*), sum(number), count(name) FROM things")),
            "3|0|2|\n");
  EXPECT_EQ(cells(database.ask("SELECT [number], number * 0.5, DATE '2020-01-02' FROM things "
                               "ORDER BY number DESC LIMIT 1; -- with a comment")),
            "[1]|0.5|2020-01-02|\n");
  // Not what a view takes as it is.
  const std::string summary = cells(database.ask("SUMMARIZE SELECT number FROM things; "));
  EXPECT_TRUE(summary.starts_with("number|BIGINT|-1|1|")) << summary;
  EXPECT_EQ(cells(database.ask("SELECT 9223372036854775807::HUGEINT, -1::HUGEINT")),
            "9223372036854775807|-1|\n");
  EXPECT_EQ(cells(database.ask("SELECT 9223372036854775808::HUGEINT AS big")),
            "error: a number in column big is over 9.2e18; cast it to DOUBLE");
}

TEST_F(Database, AnswersSelectsOnly) {
  NEEDS_DUCKDB();
  const test::TemporaryDirectory folder;
  const std::string out = folder.path() / "out";
  DuckDatabase database = open();
  for (const std::string& sql : {
           "COPY things TO '" + out + "'",
           "EXPLAIN ANALYZE COPY things TO '" + out + "'",
           "ATTACH '" + out + "'",
           "EXPORT DATABASE '" + out + "'",
           std::string("INSTALL httpfs"),
           std::string("LOAD httpfs"),
           std::string("SET threads = 9"),
           std::string("RESET enable_external_access"),
           std::string("SET enable_external_access = true"),
           std::string("PRAGMA enable_profiling"),
           std::string("CALL pragma_version()"),
           std::string("DROP VIEW things"),
           std::string("CREATE TABLE t AS SELECT 1"),
           std::string("CREATE MACRO m() AS 1"),
           std::string("INSERT INTO things VALUES (1)"),
           std::string("BEGIN TRANSACTION"),
           std::string("PREPARE p AS SELECT 1"),
           std::string("CHECKPOINT"),
           std::string("SELECT 1; SELECT 2"),
           std::string("SELECT 1; COPY things TO '/dev/null'"),
           std::string("SELECT ?"),
           std::string(""),
           std::string("-- nothing"),
           std::string("SELECT * FROM read_csv('/etc/passwd')"),
           std::string("SELECT * FROM read_text('/etc/passwd')"),
           std::string("SELECT * FROM read_blob('/etc/passwd')"),
           std::string("SELECT * FROM '/etc/passwd'"),
           std::string("SELECT * FROM '/etc/*.csv'"),
           std::string("SELECT * FROM glob('/etc/*')"),
           std::string("SELECT * FROM read_parquet('/etc/passwd')"),
           std::string("SELECT * FROM parquet_metadata('/etc/passwd')"),
           std::string("SELECT * FROM sniff_csv('/etc/passwd')"),
           std::string("SELECT * FROM read_csv('https://example.com/x.csv')"),
           std::string("SELECT * FROM query('COPY things TO ''/dev/null''')"),
           std::string("SELECT getenv('HOME')"),
           std::string("SELECT '\0' FROM things", 23),
       }) {
    const Result<Table> answer = database.ask(sql);
    EXPECT_FALSE(answer.ok()) << sql << " was answered: " << cells(answer);
  }
  EXPECT_FALSE(fs::exists(out));
  EXPECT_EQ(cells(database.ask("SELECT count(*) FROM things")), "3|\n") << "and it goes on";
}

TEST_F(Database, EndsAtItsLimits) {
  NEEDS_DUCKDB();
  DuckLimits limits;
  limits.seconds = 0.5;
  DuckDatabase slow = open(limits);
  const Result<Table> endless = slow.ask(
      "SELECT count(*) FROM range(1000000) a, range(1000000) b, range(1000000) c "
      "WHERE a.range * b.range + c.range = 7");
  ASSERT_FALSE(endless.ok());
  EXPECT_EQ(endless.error().message,
            "the query was stopped after 0.5 s; select less, or raise --time-limit");
  EXPECT_EQ(cells(slow.ask("SELECT 1")), "1|\n") << "and it goes on";
  limits.seconds = 20;
  limits.memory_bytes = 64 << 20;
  DuckDatabase small = open(limits);
  const Result<Table> large = small.ask("SELECT * FROM range(100000000) a ORDER BY hash(a.range)");
  ASSERT_FALSE(large.ok());
  EXPECT_NE(large.error().message.find("raise --memory"), std::string::npos)
      << large.error().message;
}

// What a function makes of one row is not counted by DuckDB's own limit.
TEST_F(Database, OneLargeValueEndsAtTheLimitOfMemory) {
  NEEDS_DUCKDB();
  rlimit before = {}, after = {};
  getrlimit(RLIMIT_DATA, &before);
  DuckLimits limits;
  limits.memory_bytes = 64 << 20;
  limits.seconds = 30;
  DuckDatabase small = open(limits);
  for (const char* sql : {"SELECT len(range(1000000000))", "SELECT length(repeat('x', 2000000000))",
                          "SELECT len(range(1000000000 + number)) FROM things"}) {
    const Result<Table> large = small.ask(sql);
    ASSERT_FALSE(large.ok()) << sql;
    EXPECT_NE(large.error().message.find("raise --memory"), std::string::npos)
        << sql << ": " << large.error().message;
  }
  EXPECT_EQ(cells(small.ask("SELECT count(*) FROM things")), "3|\n") << "and it goes on";
  getrlimit(RLIMIT_DATA, &after);
  EXPECT_EQ(before.rlim_cur, after.rlim_cur);
}

TEST_F(Database, NamesTheNearestColumn) {
  NEEDS_DUCKDB();
  DuckDatabase database = open();
  for (const char* sql : {"SELECT t.nam FROM things t", "SELECT things.naem FROM things"})
    EXPECT_NE(cells(database.ask(sql)).find("did you mean 'name'?"), std::string::npos)
        << cells(database.ask(sql));
  EXPECT_FALSE(database.ask("SELECT t.qqqqqqqq FROM things t").ok());
}

TEST_F(Database, TellsWhichColumnsAreTrueOrFalse) {
  NEEDS_DUCKDB();
  DuckDatabase database = open();
  std::vector<size_t> truths;
  EXPECT_TRUE(database.ask("SELECT number, odd, [odd], number > 0 FROM things", &truths).ok());
  // A list of them is text.
  EXPECT_EQ(truths, (std::vector<size_t>{1, 3}));
}

// DuckDB looks for an interrupt between chunks of rows: one that is computed for an hour has none.
TEST_F(Database, AFunctionThatDoesNotComeBackEndsTheProgram) {
  NEEDS_DUCKDB();
  const test::CommandResult run =
      test::run_command(test::fathom_binary() +
                            " query examples/llama-h200.json.gz --time-limit 500ms \"SELECT "
                            "levenshtein(repeat('ab', 1000000), repeat('ba', 1000000))\"",
                        test::source_dir());
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.errors.find("the query"), std::string::npos) << run.errors;
}

TEST_F(Database, DeepAndLongQuestionsGetAnAnswer) {
  NEEDS_DUCKDB();
  DuckDatabase database = open();
  const std::string deep = "SELECT " + std::string(100'000, '(') + "1" + std::string(100'000, ')');
  EXPECT_FALSE(database.ask(deep).ok());
  EXPECT_FALSE(database.ask("SELECT 1" + std::string(2'000'000, ' ')).ok());
  EXPECT_FALSE(database.ask("SELECT " + std::string(20'000, '-') + "\n1 +").ok());
}

TEST_F(Database, WritesOneAllowedFile) {
  NEEDS_DUCKDB();
  const test::TemporaryDirectory folder;
  const std::string allowed = folder.path() / "it's.parquet", other = folder.path() / "other";
  DuckDatabase database = open({}, {allowed});
  EXPECT_TRUE(database.ask_into("SELECT * FROM things; -- all", allowed).ok());
  EXPECT_FALSE(database.ask_into("SELECT * FROM things", other).ok());
  EXPECT_FALSE(database.ask_into("COPY things TO '" + other + "'", allowed).ok());
  EXPECT_FALSE(database.ask("COPY things TO '" + allowed + "'").ok());
  EXPECT_FALSE(fs::exists(other));
  EXPECT_EQ(cells(database.ask("SELECT count(*) FROM read_parquet(" + sql_quoted(allowed) + ")")),
            "3|\n");
}

}  // namespace
}  // namespace fathom
