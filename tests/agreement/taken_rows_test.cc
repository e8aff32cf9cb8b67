// Which rows the unified sheet has is the catalogue's to say, and no cost's: whatever costs we
// know beyond TraceLens's, its rows are ours, by name and number of calls.
#include <filesystem>
#include <map>

#include "checks.h"
#include "csv.h"
#include "session/analyze.h"
#include "sheets/op_groups.h"
#include "test_files.h"

namespace fathom::agreement {
namespace {

TEST(TakenRowsAgreement, TheSameOpsAsOftenWhateverTheirCosts) {
  size_t compared = 0;
  for (const auto& path : test::shared_traces()) {
    const std::string stem = path.filename().string();
    const auto expected = path.parent_path() / (stem.substr(0, stem.find(".json")) + ".expected") /
                          "unified_perf_summary.csv";
    if (!std::filesystem::exists(expected)) continue;
    const Csv sheet = read_csv(expected);
    ASSERT_EQ(sheet.error, "");
    std::map<std::string, int64_t> theirs, ours;
    for (size_t row = 0; row < sheet.rows.size(); ++row) {
      theirs[std::string(sheet.cell(row, "name"))] +=
          std::stoll(std::string(sheet.cell(row, "operation_count")));
    }
    const Trace trace = open_trace(path.string()).take();
    const Scope scope;
    const SheetInput input{trace.store, trace.tree, scope};
    for (const UnifiedOp& op : find_unified_ops(input, find_launchers(input))) ++ours[op.name];
    EXPECT_EQ(ours, theirs) << path;
    ++compared;
  }
  if (compared == 0) GTEST_SKIP() << "skipped: no shared data";
}

}  // namespace
}  // namespace fathom::agreement
