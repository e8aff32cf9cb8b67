// The execution stories of mini-sglang, statement by statement: FATHOM_SCAN_REPOS names the folder
// that the repository lies in.
#include <charconv>
#include <cstdlib>

#include "base/tsv.h"
#include "checks.h"
#include "report/scan/scan_report.h"
#include "scan/scan_repository.h"
#include "story/source_outlines.h"
#include "story/tell_stories.h"
#include "test_files.h"

namespace fathom {
namespace {

// What a report of these kernels once said and the code or arithmetic does not bear out.
constexpr std::string_view kWrong[] = {
    "AVX",                        // std::mismatch leaves early: nothing vectorises it
    "SIMD",                       //
    "→ Ring",                     // what NCCL chooses does not stand in this code
    "→ Tree",                     //
    "radix.cpp:19-39",            // the function ends in line 40
    "800 GB/s",                   // for two GPUs bus and algorithm bandwidth are equal
    "70-80%",                     // of the memory's peak: 1 MB in 10 µs is 100 GB/s
    "bank_conflicts_pipe_lsu`",   // no such counter
    "(measured)",                 // nothing was
    "Once per incoming request",  // it is once for each node on the way down the tree
};

class StoryStatements : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("FATHOM_SCAN_REPOS");
    if (folder == nullptr) GTEST_SKIP() << "skipped: FATHOM_SCAN_REPOS names no folder";
    root_ = std::filesystem::path(folder) / "mini-sglang";
    if (!std::filesystem::exists(root_)) GTEST_SKIP() << "skipped: no " << root_;
    const Repository repository = list_repository(root_, 0).take();
    const CodeFacts facts = scan_repository(repository, {});
    SourceOutlines sources(repository.root, facts.files);
    StoryContext context;
    context.parameters = Parameters::parse({"batch=64", "embed_dim=4096", "dtype=fp16"}).take();
    for (const ReportPage& page : scan_pages({facts, tell_stories(facts, context, &sources)})) {
      if (page.path.starts_with("kernels")) report_ += page.text;
    }
  }

  // From a heading to the next one of its kind.
  std::string section(std::string_view name) const {
    const size_t begin = report_.find("### `" + std::string(name) + "`");
    if (begin == std::string::npos) return "";
    return report_.substr(begin, report_.find("\n### ", begin) - begin);
  }

  std::string line_of(std::string_view file, std::string_view number) const {
    size_t line = 0;
    std::from_chars(number.data(), number.data() + number.size(), line);
    const std::string text = test::read_file(root_ / file);
    size_t begin = 0;
    for (size_t i = 1; i < line; ++i) begin = text.find('\n', begin) + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
  }

  std::filesystem::path root_;
  std::string report_;
};

TEST_F(StoryStatements, AreMadeAndStandInTheSource) {
  const std::string table =
      test::read_file(test::source_dir() / "tests/scan/mini_sglang_statements.tsv");
  const auto rows = read_tsv(table, 5);
  EXPECT_GE(rows.size(), 20u);
  for (const auto& row : rows) {
    EXPECT_NE(section(row[0]).find(row[1]), std::string::npos) << row[0] << " does not say\n"
                                                               << row[1];
    EXPECT_NE(line_of(row[2], row[3]).find(row[4]), std::string::npos)
        << row[2] << ":" << row[3] << " is not\n"
        << row[4];
  }
}

TEST_F(StoryStatements, KnownErrorsAreNotRepeated) {
  for (const char* kernel : {"index_kernel", "masked_index_kernel", "store_kv_cache"})
    ASSERT_FALSE(section(kernel).empty()) << "no story of " << kernel;
  for (const std::string_view wrong : kWrong) {
    EXPECT_EQ(report_.find(wrong), std::string::npos) << wrong;
  }
}

}  // namespace
}  // namespace fathom
