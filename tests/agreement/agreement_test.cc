// Fathom's sheets against those another tool wrote for the same real traces.
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "checks.h"
#include "compare.h"
#include "differences.h"
#include "report_files.h"
#include "test_files.h"

extern char** environ;

namespace fathom::agreement {
namespace {

namespace fs = std::filesystem;

constexpr std::array kTraces = {
    "compiled-triton",  "h100-bert-small", "h100-qwen0.5b",  "h100-vit-nsfw",
    "mi300-bert-small", "mi300-qwen0.5b",  "mi300-vit-nsfw",
};

fs::path find_source_directory() { return test::source_dir(); }
fs::path find_traces() { return find_source_directory() / ".." / "shared" / "data" / "kineto"; }

bool lacks_shared_data() { return !fs::exists(find_traces()); }

int run_fathom(const fs::path& trace, const fs::path& out) {
  std::vector<std::string> words = {test::fathom_binary(), "analyze", trace.string(), "--out",
                                    out.string(),          "--quiet"};
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawn(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0)
    return -1;
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct Analysis {
  int exit_code = -1;
  TemporaryDirectory directory;
  fs::path report() const { return directory.path() / "report"; }
  fs::path sheets() const { return report() / "perf_report_csvs"; }
};

// Each trace is analysed once in a run of the test program: the test for stale differences needs
// all of them again.
const Analysis& analyze_once(const std::string& trace) {
  static std::map<std::string, std::unique_ptr<Analysis>> done;
  auto& analysis = done[trace];
  if (!analysis) {
    analysis = std::make_unique<Analysis>();
    analysis->exit_code = run_fathom(find_traces() / (trace + ".json.gz"), analysis->report());
  }
  return *analysis;
}

fs::path find_expected(const std::string& trace) { return find_traces() / (trace + ".expected"); }

Differences read_differences() {
  return Differences::read(find_source_directory() / "docs" / "differences.tsv");
}

class TraceAgreement : public testing::TestWithParam<const char*> {};

TEST_P(TraceAgreement, EveryCell) {
  if (lacks_shared_data()) GTEST_SKIP() << "skipped: no shared data";
  const std::string trace = GetParam();
  const auto& analysis = analyze_once(trace);
  ASSERT_EQ(analysis.exit_code, 0) << "fathom analyze failed";
  auto differences = read_differences();
  ASSERT_TRUE(differences.errors().empty()) << differences.errors().front();
  const auto mismatches = compare_reports(analysis.sheets(), find_expected(trace), differences);
  EXPECT_TRUE(mismatches.empty()) << mismatches.size() << " mismatches\n"
                                  << format_mismatches(mismatches);
}

INSTANTIATE_TEST_SUITE_P(Shared, TraceAgreement, testing::ValuesIn(kTraces), [](const auto& test) {
  std::string name = test.param;
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
});

TEST(Agreement, NoDifferenceIsStale) {
  if (lacks_shared_data()) GTEST_SKIP() << "skipped: no shared data";
  auto differences = read_differences();
  for (const auto& error : differences.errors()) ADD_FAILURE() << "docs/differences.tsv " << error;
  for (const std::string trace : kTraces) {
    const auto& analysis = analyze_once(trace);
    ASSERT_EQ(analysis.exit_code, 0) << "fathom analyze failed on " << trace;
    compare_reports(analysis.sheets(), find_expected(trace), differences);
  }
  for (const auto& row : differences.list_stale()) {
    ADD_FAILURE() << "stale difference, remove it from docs/differences.tsv: " << row;
  }
}

TEST(Agreement, EveryExpectedReportIsCompared) {
  if (lacks_shared_data()) GTEST_SKIP() << "skipped: no shared data";
  for (const auto& entry : fs::directory_iterator(find_traces())) {
    if (entry.path().extension() != ".expected") continue;
    const auto trace = entry.path().stem().string();
    EXPECT_NE(std::find(kTraces.begin(), kTraces.end(), trace), kTraces.end()) << trace;
  }
}

}  // namespace
}  // namespace fathom::agreement
