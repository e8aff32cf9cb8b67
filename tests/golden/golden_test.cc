#include <algorithm>
#include <set>

#include "checks.h"
#include "golden/dump.h"
#include "session/analyze.h"
#include "test_files.h"

namespace fathom::test {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kLargestGolden = 150 * 1024;

// llama-h200.json.gz → llama-h200
std::string trace_name(const fs::path& path) { return path.stem().stem().string(); }

fs::path golden_dir(const fs::path& trace) {
  return source_dir() / "tests/golden" / trace_name(trace);
}

class Golden : public ::testing::TestWithParam<fs::path> {
 protected:
  void SetUp() override {
    Result<Trace> opened = open_trace(GetParam().string());
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    trace_.emplace(opened.take());
  }

  void compare(const std::string& file, const std::string& now) const {
    const std::string difference = compare_golden(golden_dir(GetParam()) / file, now);
    if (!difference.empty()) ADD_FAILURE() << difference;
    EXPECT_LE(now.size(), kLargestGolden) << file << " is too large to be reviewed";
  }

  Analysis analyzed() const {
    Result<Analysis> analysis = analyze(*trace_, Scope{});
    EXPECT_TRUE(analysis.ok());
    return analysis.take();
  }

  std::optional<Trace> trace_;
};

TEST_P(Golden, Store) { compare("store.txt", dump_store(trace_->store)); }

TEST_P(Golden, Tree) { compare("tree.txt", dump_tree(trace_->store, trace_->tree)); }

TEST_P(Golden, Sheets) {
  std::set<std::string> files;
  const Analysis analysis = analyzed();
  for (const Table& sheet : analysis.sheets) {
    files.insert(sheet.name() + ".csv");
    compare(sheet.name() + ".csv", dump_sheet(sheet));
  }
  // A golden of a sheet that is no longer written would pass for ever.
  for (const auto& entry : fs::directory_iterator(golden_dir(GetParam()))) {
    if (entry.path().extension() != ".csv" || files.contains(entry.path().filename().string()))
      continue;
    if (accept_goldens) {
      fs::remove(entry.path());
    } else {
      ADD_FAILURE() << entry.path().string() << " is a sheet that no report holds";
    }
  }
}

TEST_P(Golden, Summary) {
  TerminalStyle style;
  style.verbose = true;
  compare("summary.txt", summary_text(analyzed().summary, style));
}

// A number that only Fathom ever computed proves nothing.
TEST_P(Golden, SaysWhichNumbersWereChecked) {
  const std::string about = read_file(golden_dir(GetParam()) / "about.md");
  EXPECT_NE(about.find("record.py"), std::string::npos) << "how was it made?";
  EXPECT_NE(about.find("## Checked"), std::string::npos) << "which number, by what other tool?";
}

INSTANTIATE_TEST_SUITE_P(Examples, Golden, ::testing::ValuesIn(example_traces()),
                         [](const auto& tested) {
                           std::string name = trace_name(tested.param);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Goldens, BelongToAnExample) {
  std::set<std::string> traces;
  for (const fs::path& trace : example_traces()) traces.insert(trace_name(trace));
  for (const auto& entry : fs::directory_iterator(source_dir() / "tests/golden")) {
    if (entry.is_directory()) {
      EXPECT_TRUE(traces.contains(entry.path().filename().string())) << entry.path().string();
    }
  }
}

}  // namespace
}  // namespace fathom::test
