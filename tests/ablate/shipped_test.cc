// The ladders' reports are made from the journals of their runs on an H200, and agree with the
// tables that bench/gpu made of the same kernels by other means: one process, PyTorch's graphs,
// ncu.
#include <charconv>
#include <map>
#include <sstream>

#include "checks.h"
#include "plan/ablate/study.h"
#include "session/code/ablate.h"
#include "test_files.h"

namespace fathom::ablate {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> cells_of(const std::string& line, char separator) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, separator);) cells.push_back(cell);
  return cells;
}

double number_of(std::string text) {
  std::erase(text, ' ');
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

class ShippedAblation : public ::testing::TestWithParam<const char*> {
 protected:
  static fs::path folder(const std::string& ladder) {
    return test::source_dir() / "kernels" / ladder;
  }
  static Result<Ablation> open(const std::string& ladder) {
    AblateRequest request;
    request.suite = folder(ladder) / "suite.toml";
    request.replay = folder(ladder) / "ablation";
    return Ablation::open(request);
  }
};

TEST_P(ShippedAblation, TheReportIsWhatTheJournalGives) {
  const Result<Ablation> ablation = open(GetParam());
  ASSERT_TRUE(ablation.ok()) << ablation.error().message;
  const Study study = ablation.value().study();
  for (const StudyRow& row : study.rows) {
    EXPECT_EQ(row.state, RowState::kTimed) << row.variant->name << ": " << row.reason;
    EXPECT_TRUE(row.measured->counters.ok) << row.variant->name;
  }
  EXPECT_EQ(study.measurements->stale, 0u) << "the suite and the journal are of one definition";
  const test::TemporaryDirectory place;
  const Status written = ablation.value().write_report(study, {3.5}, place.path() / "out");
  ASSERT_TRUE(written.ok()) << written.error().message;
  for (const char* file :
       {"OPTIMIZATION_REPORT.md", "ablation.csv", "ablation.json", "waterfall.svg"}) {
    const fs::path kept = folder(GetParam()) / "ablation" / file;
    const std::string now = test::read_file(place.path() / "out" / file);
    if (test::accept_goldens)
      test::write_file(kept, now);  // whole: they are read, not only compared
    EXPECT_TRUE(test::read_file(kept) == now) << kept << " differs; ./dev accept writes it";
  }
}

INSTANTIATE_TEST_SUITE_P(Ladders, ShippedAblation, ::testing::Values("flash_attention", "rows"));

void expect_near(const Study& study, const std::string& variant, size_t in_case, double micros,
                 double percent) {
  const StudyRow* row = study.row(variant);
  ASSERT_NE(row, nullptr) << variant;
  ASSERT_TRUE(row->times[in_case]) << variant;
  EXPECT_NEAR(row->times[in_case]->median * 1e6, micros, micros * percent / 100)
      << variant << ", case " << in_case;
}

TEST(ShippedAblationAgrees, FlashAttentionWithTheLadderOfBenchGpu) {
  AblateRequest request;
  request.suite = test::source_dir() / "kernels/flash_attention/suite.toml";
  request.replay = test::source_dir() / "kernels/flash_attention/ablation";
  const Result<Ablation> ablation = Ablation::open(request);
  ASSERT_TRUE(ablation.ok()) << ablation.error().message;
  const Study study = ablation.value().study();
  const fs::path results = test::source_dir() / "bench/results";
  std::string text = test::read_file(results / "2026-11-15-flash-attention.md");
  std::istringstream lines(text.substr(text.find("## The ladder")));
  size_t rows = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto cells = cells_of(line, '|');
    // | type | D | mask | S | B | sdpa µs | v0 µs | …
    if (cells.size() < 18 || cells[1] != " float16 " || cells[2] != " 128 " || cells[3] != " full ")
      continue;
    const size_t in_case = cells[4] == " 2048 " ? 0 : cells[4] == " 128 " ? 1 : 2;
    if (in_case == 2) continue;
    ++rows;
    for (int version = 0; version <= 10; ++version)
      expect_near(study, "v" + std::to_string(version), in_case,
                  number_of(cells[static_cast<size_t>(7 + version)]), 3);
  }
  EXPECT_EQ(rows, 2u);
  // Counters of another tool, Nsight Compute, of another run.
  std::istringstream counters(test::read_file(results / "2026-11-15-flash-attention-counters.csv"));
  rows = 0;
  for (std::string line; std::getline(counters, line);) {
    const auto cells = cells_of(line, ',');
    if (cells.size() < 17 || cells[1] != "128" || cells[2] != "False" || cells[3] != "2048")
      continue;
    const StudyRow* row = study.row(cells[0]);
    if (row == nullptr) continue;  // SDPA
    ++rows;
    EXPECT_NEAR(*row->occupancy, number_of(cells[5]), 0.5) << cells[0];
    EXPECT_NEAR(row->measured->counters.values.at("tensor"), number_of(cells[16]), 1) << cells[0];
    EXPECT_NEAR(row->measured->counters.values.at("instructions") / 1e6, number_of(cells[11]),
                number_of(cells[11]) * 0.01)
        << cells[0];
  }
  EXPECT_EQ(rows, 11u);
}

TEST(ShippedAblationAgrees, RowsWithTheTableOfBenchGpu) {
  AblateRequest request;
  request.suite = test::source_dir() / "kernels/rows/suite.toml";
  request.replay = test::source_dir() / "kernels/rows/ablation";
  const Result<Ablation> ablation = Ablation::open(request);
  ASSERT_TRUE(ablation.ok()) << ablation.error().message;
  const Study study = ablation.value().study();
  std::istringstream lines(
      test::read_file(test::source_dir() / "bench/results/2026-11-15-rows.csv"));
  const std::map<std::string, size_t> cases = {{"65536", 0}, {"64", 1}, {"1", 2}};
  size_t rows = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto cells = cells_of(line, ',');
    if (cells.size() < 7 || cells[0] != "index" || cells[1] != "8192" || cells[2] != "random")
      continue;
    const auto in_case = cases.find(cells[3]);
    if (in_case == cases.end() || study.row(cells[5]) == nullptr) continue;
    ++rows;
    expect_near(study, cells[5], in_case->second, number_of(cells[6]), 5);
  }
  EXPECT_EQ(rows, 18u);
}

}  // namespace
}  // namespace fathom::ablate
