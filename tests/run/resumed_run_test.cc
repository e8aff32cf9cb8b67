// `fathom run` killed, interrupted and resumed.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <set>

#include "checks.h"
#include "run/plan_run.h"
#include "session/code/run_files.h"
#include "session/code/run_plan.h"
#include "test_files.h"
#include "trial/journal.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

TEST_F(RunPlan, KillAtRandomMomentsLosesNothingThatWasFinished) {
  write_plan(kMarks);
  std::mt19937 random(20261116);
  std::set<std::string> before;
  constexpr int kKills = 12;
  for (int kill_number = 0; kill_number < kKills; ++kill_number) {
    const pid_t child = start({"plan.toml", "--yes", "--resume"});
    usleep(static_cast<useconds_t>(20'000 + random() % 150'000));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    if (!fs::exists(directory_.path() / "plan.results/journal")) continue;
    const std::vector<std::string> now = finished("plan.results");
    const std::set<std::string> names(now.begin(), now.end());
    // Nothing twice, and nothing that was there is gone.
    EXPECT_EQ(names.size(), now.size());
    EXPECT_TRUE(std::ranges::includes(names, before));
    before = names;
  }
  // The command that ran when the program was killed is dead too: nothing is left to wait for.
  const test::CommandResult last = run("plan.toml --yes --resume");
  EXPECT_EQ(last.exit_code, 0) << last.errors;
  const std::vector<std::string> all = finished("plan.results");
  EXPECT_EQ(all.size(), 18u);  // 2 × (1 warm-up + 8)
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 18u);
  // What was finished was not run again: a begun run that has no end was killed, and only those and
  // at most one for each kill that ended before its line was written are begun more than once.
  std::map<std::string, int> counts;
  std::string marks = text("marks");
  for (size_t at = 0; at < marks.size();) {
    const size_t end = marks.find('\n', at);
    ++counts[marks.substr(at, 3)];
    at = end + 1;
  }
  EXPECT_GE(counts["end"], 18);
  EXPECT_LE(counts["end"], 18 + kKills);
  EXPECT_LE(counts["beg"], 18 + kKills);
  EXPECT_NE(text("plan.results/results.md").find("| confirmed |"), std::string::npos);
  EXPECT_NE(text("plan.results/tables/runs.csv").find("E1-c1-r7,exit status 0"), std::string::npos);
  // A third time there is nothing to run.
  const std::string journal = text("plan.results/journal");
  EXPECT_EQ(run("plan.toml --yes --resume").exit_code, 0);
  EXPECT_EQ(finished("plan.results").size(), 18u);
  EXPECT_EQ(text("marks"), marks);
}

// Somebody reads the commands while another process runs them.
TEST_F(RunPlan, WhatAnotherProcessFinishedMeanwhileIsNotRunAgain) {
  write_plan(kMarks);
  RunPlanRequest request;
  request.plan = directory_.path() / "plan.toml";
  request.out = directory_.path() / "plan.results";
  request.resume = true;
  request.environment = {"PATH=/usr/bin:/bin"};
  request.program = test::fathom_binary();
  Result<PreparedRun> prepared = prepare_run(request);
  ASSERT_TRUE(prepared.ok());
  EXPECT_EQ(prepared.value().to_run.size(), 18u);
  ASSERT_EQ(run("plan.toml --yes").exit_code, 0);
  const std::string marks = text("marks");
  std::string told;
  const auto done =
      run_plan(request, prepared.value(), [&](const std::string& line) { told += line; });
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(text("marks"), marks);
  EXPECT_NE(told.find("18 runs finished by another process meanwhile"), std::string::npos) << told;
  EXPECT_EQ(finished("plan.results").size(), 18u);
}

TEST_F(RunPlan, OfSeveralRecordsOfARunTheLastCounts) {
  const auto record = [](const char* wall) {
    return JournalRecord("finished").put("run", "E1-c0-r0").put("end", "0").put("wall_ns", wall);
  };
  const auto found = run_files::finished_runs({record("5"), record("7")});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.at("E1-c0-r0").end.wall_ns, 7);
}

TEST_F(RunPlan, WhatAKilledRunLeftRunningIsFound) {
  write_plan(R"(
[[experiment]]
id = "E1"
name = "leaves a process"
command = ["sh", "-c", "test -e pid && exit 0; sleep 60 & echo $! >pid.part; mv pid.part pid; wait"]
recorded = false
needs_gpu = false
repetitions = 1
)");
  const pid_t child = start({"plan.toml", "--yes"});
  for (int i = 0; i < 500 && !fs::exists(directory_.path() / "pid"); ++i) usleep(20'000);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  const int left = std::stoi(text("pid"));
  ASSERT_EQ(kill(left, 0), 0);
  const test::CommandResult refused = run("plan.toml --yes --resume");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.errors.find("E1-c0-r0 of the earlier run still runs as process " +
                                std::to_string(left)),
            std::string::npos)
      << refused.errors;
  kill(left, SIGKILL);
  EXPECT_EQ(run("plan.toml --yes --resume").exit_code, 0);
}

TEST_F(RunPlan, LostLogsOfFinishedRunsAreNamed) {
  write_plan(kMarks);
  ASSERT_EQ(run("plan.toml --yes").exit_code, 0);
  EXPECT_EQ(run("plan.toml --yes --resume").exit_code, 0);
  fs::remove(directory_.path() / "plan.results/logs/E1-c0-r3.log");
  test::write_file(directory_.path() / "plan.results/logs/E1-c1-r2.log", "val");
  const test::CommandResult result = run("plan.toml --yes --resume");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("E1-c0-r3 is finished, but its log is gone (9 bytes)"),
            std::string::npos)
      << result.errors;
  EXPECT_NE(result.errors.find("E1-c1-r2 is finished, but its log has 3 bytes where it had 9"),
            std::string::npos)
      << result.errors;
  EXPECT_EQ(result.errors.find("E1-c0-r2"), std::string::npos);
  EXPECT_NE(text("plan.results/results.md").find("E1-c0-r3 is finished, but its log is gone"),
            std::string::npos);
}

TEST_F(RunPlan, MediansThatDifferBetweenSessionsGetANote) {
  write_plan(R"toml(
[[experiment]]
id = "E1"
name = "as long as a file says"
command = ["sh", "-c", "sleep $(cat seconds)"]
recorded = false
needs_gpu = false
repetitions = 4
)toml");
  test::write_file(directory_.path() / "seconds", "0.1");
  ASSERT_EQ(run("plan.toml --yes").exit_code, 0);
  // As if it had been killed after two runs.
  std::string journal = text("plan.results/journal");
  size_t at = 0;
  for (int i = 0; i < 2; ++i) at = journal.find("\tfinished\t", at) + 1;
  test::write_file(directory_.path() / "plan.results/journal",
                   journal.substr(0, journal.find('\n', at) + 1));
  test::write_file(directory_.path() / "seconds", "0.6");
  const test::CommandResult result = run("plan.toml --yes --resume");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const std::string page = text("plan.results/results.md");
  EXPECT_NE(page.find("drift between sessions: median wall time is "), std::string::npos) << page;
  EXPECT_EQ(page.find("the machine changed"), std::string::npos) << page;
}

TEST_F(RunPlan, AnInterruptEndsTheCommandAndSaysHowToGoOn) {
  write_plan(R"(
[[experiment]]
id = "E1"
name = "long"
command = ["sh", "-c", "echo $$ >pid; sleep 30 & wait"]
recorded = false
needs_gpu = false
repetitions = 3
)");
  const test::CommandResult result = test::run_command(
      "(sleep 1; kill -TERM $(cat fathom.pid)) & sh -c 'echo $$ >fathom.pid; exec " +
          test::fathom_binary() + " run plan.toml --yes'; echo code $?",
      directory_.path());
  EXPECT_NE(result.output.find("code 130"), std::string::npos) << result.output << result.errors;
  EXPECT_NE(result.errors.find("To continue: fathom run plan.toml --out plan.results --resume"),
            std::string::npos)
      << result.errors;
  const int64_t command = std::stoll(text("pid"));
  EXPECT_NE(kill(static_cast<pid_t>(command), 0), 0);
  EXPECT_TRUE(finished("plan.results").empty());
}

}  // namespace
}  // namespace fathom
