// Small repositories, one for each kind of code that scanners get wrong, with near-twins that must
// not be taken for it. What a scan says of repositories/NAME is in repositories/NAME.facts, and was
// checked against the code line by line.
#include <algorithm>
#include <filesystem>

#include "checks.h"
#include "report/scan/scan_report.h"
#include "scan/facts_text.h"
#include "scan/scan_repository.h"
#include "story/tell_stories.h"
#include "test_files.h"

namespace fathom {
namespace {

using std::filesystem::path;

std::vector<path> repositories() {
  std::vector<path> out;
  for (const auto& entry :
       std::filesystem::directory_iterator(test::source_dir() / "tests/scan/repositories")) {
    if (entry.is_directory()) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

CodeFacts scan(const path& repository, size_t threads = 1) {
  ScanOptions options;
  options.threads = threads;
  Result<CodeFacts> facts = scan_repository(repository, options);
  EXPECT_TRUE(facts.ok()) << facts.error().message;
  return facts.ok() ? facts.take() : CodeFacts();
}

class HardCase : public testing::TestWithParam<path> {};

TEST_P(HardCase, IsReadAsAPersonReadsIt) {
  path golden = GetParam();
  golden += ".facts";
  EXPECT_EQ(test::compare_golden(golden, test::facts_text(scan(GetParam()))), "");
}

TEST_P(HardCase, ThreadsChangeNothing) {
  const auto json = [](size_t threads) {
    const CodeFacts facts = scan(GetParam(), threads);
    return scan_json(ScanReport{facts, tell_stories(facts)});
  };
  const std::string one = json(1);
  EXPECT_EQ(one, json(4));
  EXPECT_EQ(one, json(1));
}

// Programs compare scans line by line, so lists are in order of file and line.
TEST_P(HardCase, ListsAreInOrder) {
  const CodeFacts facts = scan(GetParam(), 4);
  const auto by_place = [](const auto& a, const auto& b) { return a.at < b.at; };
  EXPECT_TRUE(std::is_sorted(facts.kernels.begin(), facts.kernels.end(), by_place));
  EXPECT_TRUE(std::is_sorted(facts.options.begin(), facts.options.end(), by_place));
  EXPECT_TRUE(std::is_sorted(facts.files.begin(), facts.files.end(),
                             [](const auto& a, const auto& b) { return a.path < b.path; }));
  for (const KernelFacts& kernel : facts.kernels) {
    EXPECT_TRUE(std::is_sorted(kernel.launchers.begin(), kernel.launchers.end(), by_place));
  }
}

INSTANTIATE_TEST_SUITE_P(Repositories, HardCase, testing::ValuesIn(repositories()),
                         [](const auto& given) {
                           std::string name = given.param.filename().string();
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace fathom
