// The scan of four repositories against tables of what is true of them (tests/scan/truth/about.md).
// FATHOM_SCAN_REPOS names the folder that they lie in; ./dev real-repos checks them out.
#include <cstdlib>
#include <iostream>

#include "checks.h"
#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using test::run_command;

fs::path truth() { return test::source_dir() / "tests/scan/truth"; }

std::string table_path(const std::string& name) { return (truth() / (name + ".tsv")).string(); }

// What ./dev real-repos takes each repository's commit from.
bool is_checked_out_by_dev(const std::string& name) {
  const std::string commits =
      test::read_file(test::source_dir() / "tests/scan/real_repositories_commits.tsv");
  return commits.find("\n" + name + "\t") != std::string::npos;
}

class TruthTables : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (run_command("command -v python3", "/").exit_code != 0) {
      GTEST_SKIP() << "skipped: no python3";
    }
  }
};

TEST_P(TruthTables, AtLeastAsManyRowsAreRightAsBefore) {
  const char* folder = std::getenv("FATHOM_SCAN_REPOS");
  if (folder == nullptr) GTEST_SKIP() << "skipped: FATHOM_SCAN_REPOS names no folder";
  const fs::path repository = fs::path(folder) / GetParam();
  if (!fs::exists(repository)) GTEST_SKIP() << "skipped: no " << repository;
  test::TemporaryDirectory temporary;
  const auto scanned = run_command(
      test::fathom_binary() + " scan '" + repository.string() + "' --quiet --out report",
      temporary.path());
  ASSERT_EQ(scanned.exit_code, 0) << scanned.errors;
  const auto listed = run_command("python3 '" + (truth() / "list_kernels.py").string() + "' '" +
                                      repository.string() + "' >listed.tsv",
                                  temporary.path());
  ASSERT_EQ(listed.exit_code, 0) << listed.errors;
  const auto scored = run_command("python3 '" + (truth() / "score.py").string() + "' '" +
                                      table_path(GetParam()) + "' report/scan.json listed.tsv",
                                  temporary.path());
  std::cout << scored.output;
  EXPECT_EQ(scored.exit_code, 0) << scored.output << scored.errors;
}

TEST_P(TruthTables, AreCheckedOutByDevAndHaveFloors) {
  EXPECT_TRUE(is_checked_out_by_dev(GetParam()));
  const std::string floors = test::read_file(truth() / "floors.tsv");
  for (const char* what : {"kernel", "launch", "option", "feature", "no_feature", "step"}) {
    EXPECT_NE(floors.find(std::string(GetParam()) + "\t" + what + "\t"), std::string::npos) << what;
  }
}

// A scorer that calls everything right would keep every floor: of a scan without facts only what is
// absent is right.
TEST_P(TruthTables, AnEmptyScanIsScoredAsEmpty) {
  test::TemporaryDirectory temporary;
  test::write_file(temporary.path() / "scan.json",
                   R"({"kernels": [], "options": [], "features": []})");
  const auto scored = run_command("python3 '" + (truth() / "score.py").string() + "' '" +
                                      table_path(GetParam()) + "' scan.json",
                                  temporary.path());
  EXPECT_EQ(scored.exit_code, 1);
  for (const char* what : {"kernel", "launch", "option", "feature", "step"}) {
    EXPECT_NE(scored.output.find(std::string(GetParam()) + "\t" + what + "\t0\t"),
              std::string::npos)
        << scored.output;
  }
}

INSTANTIATE_TEST_SUITE_P(Repositories, TruthTables,
                         testing::Values("apex", "mamba", "tiny-cuda-nn", "whisper.cpp"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::erase_if(name, [](char c) { return c == '-' || c == '.'; });
                           return name;
                         });

}  // namespace
}  // namespace fathom
