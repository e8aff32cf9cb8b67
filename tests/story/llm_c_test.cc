// What fathom scan expects of llm.c's kernels against what an H200 measured of them
// (bench/results/2026-11-15-llm.c.csv). FATHOM_SCAN_REPOS names the folder that holds llm.c.
#include <fmt/format.h>

#include <cstdlib>

#include "base/csv_text.h"
#include "base/tsv.h"
#include "checks.h"
#include "scan/scan_repository.h"
#include "story/expectation.h"
#include "test_files.h"

namespace fathom {
namespace {

struct MeasuredKernel {
  std::string file, kernel, grid, block;
  double best = 0, worst = 0;  // seconds, of the launches with all block sizes that were tried
};

std::vector<MeasuredKernel> measured_kernels() {
  const std::string text =
      test::read_file(test::source_dir() / "bench/results/2026-11-15-llm.c.csv");
  std::vector<MeasuredKernel> out;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty() || line.starts_with("file,")) continue;
    CsvRecord record;
    split_csv(line, record);
    const auto& cells = record.fields;
    out.push_back({std::string(cells[0]), std::string(cells[1]), std::string(cells[5]),
                   std::string(cells[6]), std::stod(std::string(cells[3])) * 1e-6,
                   std::stod(std::string(cells[4])) * 1e-6});
  }
  return out;
}

// The sizes that each program was run with.
std::vector<std::string> sizes_of(const std::string& file) {
  const std::string text = test::read_file(test::source_dir() / "tests/story/llm_c_sizes.tsv");
  std::vector<std::string> out;
  for (const auto& row : read_tsv(text, 2)) {
    if (row[0] != file) continue;
    for (const std::string_view one : split(row[1], ' ')) out.emplace_back(one);
  }
  return out;
}

// The launch whose time was the best, by its grid and block: the programs try several.
KernelLauncher measured_launch(const KernelFacts& kernel, const MeasuredKernel& measured) {
  KernelLauncher out;
  if (!kernel.launchers.empty()) out = kernel.launchers.front();
  out.grid = measured.grid;
  out.block = measured.block;
  return out;
}

TEST(LlmC, MostMeasuredTimesAreInTheRangeAndNoRangeIsWrong) {
  const char* folder = std::getenv("FATHOM_SCAN_REPOS");
  if (folder == nullptr || !std::filesystem::exists(std::filesystem::path(folder) / "llm.c"))
    GTEST_SKIP() << "skipped: FATHOM_SCAN_REPOS names no folder with llm.c";
  const CodeFacts facts = scan_repository(std::filesystem::path(folder) / "llm.c", {}).take();
  const Platform& h200 = *Platforms::built_in().find("h200").value();
  const std::vector<MeasuredKernel> rows = measured_kernels();
  ASSERT_EQ(rows.size(), 92u);
  size_t inside = 0, at_least = 0, unknown = 0;
  std::string table = "file\tkernel\texpected_us\tmeasured_us\tworst_us\tverdict\tbound_by\n";
  for (const MeasuredKernel& row : rows) {
    SCOPED_TRACE(row.file + " " + row.kernel);
    std::vector<std::string> sizes = sizes_of(row.file);
    // The programs hand the size of the block on as an argument.
    sizes.push_back("block_size=" + row.block.substr(1, row.block.find(',') - 1));
    const Result<Parameters> parameters = Parameters::parse(sizes);
    ASSERT_TRUE(parameters.ok());
    const KernelFacts* kernel = nullptr;
    for (const KernelFacts& one : facts.kernels) {
      if (one.name == row.kernel && facts.files[one.at.file].path == row.file) kernel = &one;
    }
    ASSERT_NE(kernel, nullptr);
    const KernelLauncher launcher = measured_launch(*kernel, row);
    LaunchOfKernel launch;
    launch.launcher = &launcher;
    const Expectation expected = expect_of(*kernel, launch, parameters.value(), &h200);
    const Estimate* time = nullptr;
    for (const Estimate& one : expected.counters) {
      if (one.quantity == Quantity::kTime) time = &one;
    }
    std::string verdict, range;
    if (time == nullptr || !time->low) {
      verdict = "unknown";
      ++unknown;
      range = "-";
      for (const std::string& name : expected.missing) range += " " + name;
      if (!expected.model) range += " " + expected.no_model;
    } else if (!time->high) {
      EXPECT_GE(row.best, *time->low);
      verdict = row.best >= *time->low ? "at least" : "below the bound";
      ++at_least;
      range = fmt::format(">= {:.4g}", *time->low * 1e6);
    } else {
      const bool within = row.best >= *time->low && row.best <= *time->high;
      EXPECT_TRUE(within) << *time->low * 1e6 << " to " << *time->high * 1e6 << " but "
                          << row.best * 1e6;
      verdict = within ? "inside" : row.best < *time->low ? "below" : "above";
      inside += within;
      range = fmt::format("{:.4g} to {:.4g}", *time->low * 1e6, *time->high * 1e6);
    }
    table +=
        fmt::format("{}\t{}\t{}\t{:.4g}\t{:.4g}\t{}\t{}\n", row.file.substr(9), row.kernel, range,
                    row.best * 1e6, row.worst * 1e6, verdict, bottleneck_name(expected.side));
  }
  EXPECT_GE(inside, 60u) << inside << " inside, " << at_least << " at least, " << unknown
                         << " unknown";
  EXPECT_EQ(test::compare_golden(test::source_dir() / "tests/story/expected_llm_c.tsv", table), "");
}

}  // namespace
}  // namespace fathom
