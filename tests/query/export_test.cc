#include "session/query/export.h"

#include "checks.h"
#include "query/duck_for_tests.h"
#include "query/opened_example.h"
#include "session/query/databases.h"
#include "session/query/schema.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

ExportRequest request(const fs::path& directory, const DuckLibrary* library) {
  ExportRequest r;
  r.place = {directory, {"export", "trace.json", ""}, false};
  r.library = library;
  return r;
}

std::string first_cell(DuckDatabase& database, const std::string& sql) {
  const Result<Table> answer = database.ask(sql);
  if (!answer.ok()) return answer.error().message;
  return answer.value().rows() == 0 ? "" : answer.value().columns().front().cell(0);
}

TEST(Export, TablesOfATraceAndOfItsFilesAreTheSame) {
  NEEDS_DUCKDB();
  const test::TemporaryDirectory folder;
  const test::OpenedExample example(test::source_dir() / "examples/ddp-rank0-h200.json.gz");
  ASSERT_TRUE(export_tables(*example.tables, request(folder.path() / "t", test::duckdb())).ok());
  DuckDatabase of_trace = trace_database(*test::duckdb(), {}, *example.tables).take();
  DuckDatabase of_files = export_database(*test::duckdb(), {}, folder.path() / "t").take();
  for (const SchemaTable& table : schema()) {
    // Of all cells of all rows.
    const std::string sql = "SELECT count(*) || ' ' || coalesce(sum(hash(t)), 0) FROM " +
                            std::string(table.name) + " t";
    EXPECT_EQ(first_cell(of_trace, sql), first_cell(of_files, sql)) << table.name;
    EXPECT_EQ(first_cell(of_files,
                         "SELECT string_agg(column_name || ' ' || column_type, ', ') FROM "
                         "(DESCRIBE " +
                             std::string(table.name) + ")"),
              first_cell(of_trace,
                         "SELECT string_agg(column_name || ' ' || column_type, ', ') FROM "
                         "(DESCRIBE " +
                             std::string(table.name) + ")"));
  }
  EXPECT_NE(first_cell(of_trace, "SELECT count(*) FROM collectives"), "0");
}

TEST(Export, FilesSayTheirUnits) {
  NEEDS_DUCKDB();
  const test::TemporaryDirectory folder;
  const test::OpenedExample example(test::source_dir() / "examples/llama-h200.json.gz");
  ASSERT_TRUE(export_tables(*example.tables, request(folder.path() / "t", test::duckdb())).ok());
  const std::string bytes = test::read_file(folder.path() / "t/gaps.parquet");
  EXPECT_NE(bytes.find(R"("duration_ns":"ns")"), std::string::npos);
  EXPECT_NE(bytes.find("fathom_tables_version"), std::string::npos);
}

TEST(Export, IsWholeOrNotAtAll) {
  const test::TemporaryDirectory folder;
  const test::OpenedExample example(test::source_dir() / "examples/llama-h200.json.gz");
  ASSERT_TRUE(export_tables(*example.tables, request(folder.path() / "t", nullptr)).ok());
  test::write_file(folder.path() / "t/mine.txt", "mine");
  const std::string before = test::read_file(folder.path() / "t/ops.csv");
  // Again: its own files are replaced, others stay.
  ASSERT_TRUE(export_tables(*example.tables, request(folder.path() / "t", nullptr)).ok());
  EXPECT_EQ(test::read_file(folder.path() / "t/ops.csv"), before);
  EXPECT_EQ(test::read_file(folder.path() / "t/mine.txt"), "mine");
  // Of another trace: refused, and nothing changes.
  ExportRequest other = request(folder.path() / "t", nullptr);
  other.place.identity.subject = "another.json";
  EXPECT_FALSE(export_tables(*example.tables, other).ok());
  // Fewer tables: the others go.
  ExportRequest fewer = request(folder.path() / "t", nullptr);
  fewer.tables = {"gaps"};
  ASSERT_TRUE(export_tables(*example.tables, fewer).ok());
  EXPECT_FALSE(fs::exists(folder.path() / "t/ops.csv"));
  EXPECT_TRUE(fs::exists(folder.path() / "t/gaps.csv"));
  EXPECT_TRUE(fs::exists(folder.path() / "t/mine.txt"));
}

TEST(Export, PartsOfSeveralTracesAreToldApart) {
  NEEDS_DUCKDB();
  const test::TemporaryDirectory folder;
  for (const char* rank : {"ddp-rank0-h200", "ddp-rank1-h200"}) {
    const fs::path trace = test::source_dir() / "examples" / (std::string(rank) + ".json.gz");
    if (!fs::exists(trace)) GTEST_SKIP() << "skipped: no " << trace.filename();
    const test::OpenedExample example(trace);
    ASSERT_TRUE(export_tables(*example.tables, request(folder.path() / rank, test::duckdb())).ok());
  }
  DuckDatabase database = export_database(*test::duckdb(), {}, folder.path()).take();
  EXPECT_EQ(
      first_cell(database, "SELECT string_agg(part || '=' || rank, ' ' ORDER BY part) FROM run"),
      "ddp-rank0-h200=0 ddp-rank1-h200=1");
  for (const NamedQuery& query : named_queries())
    EXPECT_TRUE(database.ask(std::string(query.sql)).ok())
        << query.name << database.ask(std::string(query.sql)).error().message;
}

TEST(Export, ADamagedFileIsLeftOutAndTheOthersAreRead) {
  NEEDS_DUCKDB();
  const test::TemporaryDirectory folder;
  const test::OpenedExample example(test::source_dir() / "examples/ddp-rank0-h200.json.gz");
  for (const char* part : {"a", "b", "c"})
    ASSERT_TRUE(export_tables(*example.tables, request(folder.path() / part, test::duckdb())).ok());
  fs::resize_file(folder.path() / "a/kernels.parquet", 500);
  test::write_file(folder.path() / "b/gaps.parquet", "PAR1 no table \xff\xff\xff\x7fPAR1");
  fs::resize_file(folder.path() / "c/ops.parquet", 0);
  // A footer of the right length that holds nothing.
  test::write_file(folder.path() / "c/launches.parquet",
                   "PAR1" + std::string(40, '\xff') + std::string("\x20\0\0\0PAR1", 8));
  std::vector<std::string> notes;
  DuckDatabase database = export_database(*test::duckdb(), {}, folder.path(), {}, &notes).take();
  ASSERT_EQ(notes.size(), 4u);
  EXPECT_EQ(first_cell(database, "SELECT count(DISTINCT part) FROM launches"), "2");
  EXPECT_NE(notes[0].find("a/kernels.parquet is damaged"), std::string::npos) << notes[0];
  EXPECT_EQ(first_cell(database, "SELECT string_agg(DISTINCT part, '' ORDER BY part) FROM kernels"),
            "bc");
  EXPECT_EQ(first_cell(database, "SELECT count(DISTINCT part) FROM run"), "3");
}

TEST(Export, WhatAnOlderProgramDidNotWriteIsUnknown) {
  NEEDS_DUCKDB();
  const test::TemporaryDirectory folder;
  const test::OpenedExample example(test::source_dir() / "examples/ddp-rank0-h200.json.gz");
  for (const char* part : {"a", "b"})
    ASSERT_TRUE(export_tables(*example.tables, request(folder.path() / part, test::duckdb())).ok());
  const fs::path old = folder.path() / "old.parquet";
  {
    DuckDatabase database =
        export_database(*test::duckdb(), {}, folder.path() / "a", old.string()).take();
    ASSERT_TRUE(database.ask_into("SELECT * EXCLUDE (host, rank) FROM run", old.string()).ok());
  }
  for (const char* part : {"a", "b"})
    fs::copy_file(old, folder.path() / part / "run.parquet", fs::copy_options::overwrite_existing);
  DuckDatabase database = export_database(*test::duckdb(), {}, folder.path()).take();
  EXPECT_EQ(
      first_cell(database, "SELECT count(*) || ' ' || count(host) || ' ' || count(rank) FROM run"),
      "2 0 0");
}

TEST(NamedQueries, OneThatIsNotThereNamesTheNearest) {
  const Result<std::string> wrong = question_of("idle-cause", "trace.json");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message.find("did you mean 'idle-causes'?"), std::string::npos)
      << wrong.error().message;
  EXPECT_TRUE(question_of("SELECT 1", "trace.json").ok());
  const Result<std::string> several = question_of("fleet-ranks", "trace.json");
  ASSERT_FALSE(several.ok());
  EXPECT_NE(several.error().message.find("several traces"), std::string::npos);
}

TEST(Tables, RunHasRankAndHostOfTheName) {
  const test::TemporaryDirectory folder;
  const auto run_of = [&](const std::string& name) {
    const fs::path path = folder.path() / name;
    fs::copy_file(test::source_dir() / "examples/llama-h200.json.gz", path);
    const test::OpenedExample example(path);
    std::string text;
    EXPECT_TRUE(write_csv(example.tables->make("run"), [&](std::string_view part) -> Status {
                  text += part;
                  return Nothing{};
                }).ok());
    return text.substr(text.find('\n'));
  };
  EXPECT_NE(run_of("gpu-node7_4711.1700000000123.pt.trace.json.gz").find(",gpu-node7,"),
            std::string::npos);
  EXPECT_NE(run_of("rank-12.json.gz").find(",12,,,"), std::string::npos);
  EXPECT_NE(run_of("a_b.c.pt.trace.json.gz").find(",,,,"), std::string::npos);
}

TEST(NamedQueries, AllAreAnsweredForAllExamples) {
  NEEDS_DUCKDB();
  EXPECT_GE(named_queries().size(), 10u);
  for (const fs::path& path : test::example_traces()) {
    const test::OpenedExample example(path);
    DuckDatabase database = trace_database(*test::duckdb(), {}, *example.tables).take();
    for (const NamedQuery& query : named_queries()) {
      EXPECT_TRUE(query.text.ends_with('?')) << query.name << " says what it answers";
      if (query.text.starts_with("Several ranks")) continue;  // they compare parts of an export
      const Result<Table> answer = database.ask(std::string(query.sql));
      EXPECT_TRUE(answer.ok()) << path << " " << query.name
                               << (answer.ok() ? "" : answer.error().message);
    }
  }
}

}  // namespace
}  // namespace fathom
