#include <map>
#include <set>

#include "analyze/ranks/rank_facts.h"
#include "base/threads.h"
#include "checks.h"
#include "query/opened_example.h"
#include "session/query/schema.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// The cells of a column as numbers and texts.
class Cells final : public CellSink {
 public:
  explicit Cells(const RowTable& table, std::string_view column) {
    for (const RowColumn& c : table.columns) {
      if (c.name != column) continue;
      for (size_t row = 0; row < table.rows; ++row) c.write(row, *this);
      return;
    }
    ADD_FAILURE() << "no column " << column;
  }
  void integer(int64_t value) override { add(std::to_string(value), value); }
  void real(double value) override { add(std::to_string(value), static_cast<int64_t>(value)); }
  void text(std::string_view value) override { add(std::string(value), 0); }
  void truth(bool value) override { add(value ? "true" : "false", value); }
  void unknown() override { add("", 0); }

  std::vector<std::string> texts;
  std::vector<int64_t> numbers;
  int64_t sum = 0;

 private:
  void add(std::string text, int64_t number) {
    texts.push_back(std::move(text));
    numbers.push_back(number);
    sum += number;
  }
};

class TablesOfExamples : public testing::TestWithParam<fs::path> {};

// RowMaker checks the names; here every cell of every table is written once.
TEST_P(TablesOfExamples, EveryCellOfTheSchemaIsWritten) {
  const test::OpenedExample example(GetParam());
  for (const SchemaTable& table : schema()) {
    const RowTable& rows = example.tables->make(table.name);
    for (const SchemaColumn& column : table.columns)
      EXPECT_EQ(Cells(rows, column.name).texts.size(), rows.rows) << table.name;
  }
}

TEST_P(TablesOfExamples, IdleTimeAndBusyTimeAddUpToTheWallTime) {
  const test::OpenedExample example(GetParam());
  const RowTable& steps = example.tables->make("steps");
  const RowTable& gaps = example.tables->make("gaps");
  if (gaps.rows == 0) GTEST_SKIP() << "no idle time is explained in this trace";
  EXPECT_EQ(Cells(gaps, "duration_ns").sum, Cells(steps, "idle_ns").sum);
  EXPECT_EQ(Cells(steps, "idle_ns").sum + Cells(steps, "busy_ns").sum,
            Cells(steps, "duration_ns").sum);
}

// The fleet's queries and `--together` call the same time idle.
TEST_P(TablesOfExamples, GapsWithoutCollectivesOfTheHostAreTheIdleTimeOfARank) {
  const test::OpenedExample example(GetParam());
  const RowTable& gaps = example.tables->make("gaps");
  const Cells devices(gaps, "device");
  if (std::set<std::string>(devices.texts.begin(), devices.texts.end()).size() != 1)
    GTEST_SKIP() << "not one GPU with idle time";
  EXPECT_EQ(Cells(gaps, "duration_ns").sum - Cells(gaps, "host_communication_ns").sum,
            extract_rank(example.model->input(), "trace").idle().count);
}

TEST_P(TablesOfExamples, UidsOfOtherTablesAreEvents) {
  const test::OpenedExample example(GetParam());
  const Cells events(example.tables->make("events"), "uid");
  const std::set<std::string> known(events.texts.begin(), events.texts.end());
  EXPECT_EQ(known.size(), events.texts.size());
  const std::pair<const char*, const char*> references[] = {
      {"kernels", "uid"},        {"kernels", "launch_uid"},  {"kernels", "op_uid"},
      {"launches", "first_uid"}, {"collectives", "uid"},     {"gaps", "blamed_uid"},
      {"samples", "uid"},        {"counters", "kernel_uid"}, {"op_calls", "first_kernel_uid"}};
  for (const auto& [table, column] : references)
    for (const std::string& uid : Cells(example.tables->make(table), column).texts)
      ASSERT_TRUE(uid.empty() || known.contains(uid)) << table << "." << column << " " << uid;
}

INSTANTIATE_TEST_SUITE_P(All, TablesOfExamples, testing::ValuesIn(test::example_traces()),
                         [](const auto& example) {
                           std::string name = example.param.filename().string();
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

// The sums that ops_summary.csv and the screen show (checked there against TraceLens).
TEST(TraceTables, OpsHoldTheGpuTimeOfTheTrace) {
  const test::OpenedExample example(test::source_dir() / "examples/llama-h200.json.gz");
  const RowTable& ops = example.tables->make("ops");
  EXPECT_EQ(Cells(ops, "gpu_ns").sum, example.model->assessment().total().count);
  EXPECT_EQ(Cells(ops, "calls").sum, static_cast<int64_t>(example.tables->make("op_calls").rows));
  EXPECT_EQ(Cells(example.tables->make("op_calls"), "gpu_ns").sum, Cells(ops, "gpu_ns").sum);
}

// DuckDB reads the tables of a join or a union in threads of its own; red under ThreadSanitizer.
TEST(TraceTables, TwoTablesCanBeReadSideBySide) {
  const test::OpenedExample example(test::source_dir() / "examples/ddp-rank0-h200.json.gz");
  const RowTable& kernels = example.tables->make("kernels");
  const RowTable& run = example.tables->make("run");
  std::vector<int64_t> steps;
  {
    Threads other;
    ASSERT_TRUE(other.start([&] { steps = Cells(kernels, "step").numbers; }));
    EXPECT_GT(Cells(run, "wall_ns").sum, 0);
  }
  EXPECT_EQ(steps, Cells(kernels, "step").numbers);
}

TEST(Schema, DocumentHoldsIt) {
  const fs::path path = test::source_dir() / "docs/SCHEMA.md";
  const std::string document = test::read_file(path);
  const size_t place = document.find("\n## `run`");
  ASSERT_NE(place, std::string::npos);
  if (test::accept_goldens) test::write_file(path, document.substr(0, place) + schema_markdown());
  EXPECT_EQ(test::read_file(path).substr(place), schema_markdown())
      << "./dev accept rewrites docs/SCHEMA.md";
}

TEST(Schema, UnitsAreInTheNames) {
  const std::map<std::string_view, std::string_view> endings = {
      {"ns", "_ns"}, {"%", "_percent"}, {"bytes", "bytes"}, {"GB/s", "_gb_s"}, {"FLOP", "flop"}};
  for (const SchemaTable& table : schema())
    for (const SchemaColumn& column : table.columns)
      EXPECT_TRUE(column.unit.empty() || column.name.ends_with(endings.at(column.unit)))
          << table.name << "." << column.name;
}

}  // namespace
}  // namespace fathom
