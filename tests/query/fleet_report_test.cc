#include "checks.h"
#include "query/duck_for_tests.h"
#include "test_files.h"

// fathom fleet from plan to report, with processes on this machine.
namespace fathom::test {
namespace {

namespace fs = std::filesystem;

class FleetCommands : public testing::Test {
 protected:
  FleetCommands() {
    for (int rank = 0; rank < 3; ++rank)
      add_trace("rank-" + std::to_string(rank) + ".json.gz", rank == 2 ? "rank1" : "rank0");
  }
  void add_trace(const std::string& name, const std::string& of) {
    fs::create_directories(folder_.path() / "traces");
    fs::copy_file(source_dir() / ("examples/ddp-" + of + "-h200.json.gz"),
                  folder_.path() / "traces" / name);
  }
  CommandResult fleet(const std::string& words) {
    return run_command(fathom_binary() + " fleet " + words, folder_.path());
  }
  std::string report(const std::string& file) const {
    return read_file(folder_.path() / "fleet/report" / file);
  }

  TemporaryDirectory folder_;
};

TEST_F(FleetCommands, FromPlanToReportWithPictures) {
  NEEDS_DUCKDB();
  write_file(folder_.path() / "traces/bad.json", "no trace");
  ASSERT_EQ(fleet("plan traces --to fleet").exit_code, 0);
  const CommandResult run = fleet("run fleet --tries 1 -q");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.output.find("3 of 4 traces exported, 1 failed\nNext    fathom fleet status"),
            std::string::npos)
      << run.output;
  const CommandResult made = fleet("report fleet");
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  EXPECT_NE(report("report.md").find("exit status 1: "), std::string::npos);
  for (const char* name :
       {"fleet-ranks", "fleet-rank-steps", "fleet-collectives", "fleet-kernels", "fleet-steps"}) {
    EXPECT_TRUE(report(std::string(name) + ".svg").ends_with("</svg>\n")) << name;
    EXPECT_NE(report("report.md").find("(" + std::string(name) + ".svg)"), std::string::npos);
  }
  EXPECT_NE(report("report.html").find("<html"), std::string::npos);
  // GPU idle time in collectives of the host is not a rank's own.
  const std::string ranks = report("fleet-ranks.csv");
  EXPECT_NE(ranks.find("part,rank,host,steps,wall_ms"), std::string::npos) << ranks;
  EXPECT_NE(ranks.find(",19.652,6.862,9.229,"), std::string::npos) << ranks;
  // Steps are those of the names: ranks need not be recorded from the same one on.
  EXPECT_NE(report("fleet-steps.csv").find("\n3,3,"), std::string::npos)
      << report("fleet-steps.csv");
  // The three parts are the wall time.
  EXPECT_NE(ranks.find(",28.881,2.367,19.652,6.862,"), std::string::npos) << ranks;
}

// A rank that was recorded from a later step on, and one that is cut off.
TEST_F(FleetCommands, RanksWithOtherStepsAreComparedStepByStep) {
  NEEDS_DUCKDB();
  const fs::path traces = folder_.path() / "traces";
  const std::string whole =
      run_command("gzip -dc " + (traces / "rank-0.json.gz").string(), folder_.path()).output;
  std::string later = whole;
  for (const auto& [from, to] : {std::pair("Step#3", "Step#4"), std::pair("Step#2", "Step#3")})
    for (size_t at = later.find(from); at != std::string::npos; at = later.find(from, at + 1))
      later.replace(at, 6, to);
  fs::remove(traces / "rank-0.json.gz");
  write_file(traces / "later.json", later);
  ASSERT_EQ(fleet("plan traces --to fleet").exit_code, 0);
  ASSERT_EQ(fleet("run fleet -q").exit_code, 0);
  ASSERT_EQ(fleet("report fleet").exit_code, 0);
  const std::string steps = report("fleet-steps.csv");
  for (const char* row : {"\n2,2,", "\n3,3,", "\n4,1,"})
    EXPECT_NE(steps.find(row), std::string::npos) << steps;
}

TEST_F(FleetCommands, WhatIsNoLongerPlannedOrIsDamagedIsNotInTheReport) {
  NEEDS_DUCKDB();
  ASSERT_EQ(fleet("plan traces --to fleet").exit_code, 0);
  ASSERT_EQ(fleet("run fleet -q").exit_code, 0);
  fs::remove(folder_.path() / "traces/rank-1.json.gz");
  add_trace("rank-3.json.gz", "rank1");
  ASSERT_EQ(fleet("plan traces --to fleet").exit_code, 0);
  ASSERT_EQ(fleet("run fleet -q").exit_code, 0);
  fs::resize_file(folder_.path() / "fleet/parts/rank-0/kernels.parquet", 100);
  const CommandResult made = fleet("report fleet --against fleet");
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  const std::string ranks = report("fleet-ranks.csv");
  EXPECT_EQ(ranks.find("rank-1"), std::string::npos) << ranks;
  EXPECT_NE(ranks.find("rank-3"), std::string::npos) << ranks;
  EXPECT_NE(report("report.md").find("parts/rank-0/kernels.parquet is damaged"), std::string::npos);
  // Against itself nothing changes.
  EXPECT_NE(report("report.md").find("(+0.0 %), no more than"), std::string::npos);
  EXPECT_TRUE(report("against-kernels.svg").ends_with("</svg>\n"));
}

}  // namespace
}  // namespace fathom::test
