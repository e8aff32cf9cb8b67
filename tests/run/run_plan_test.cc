// `fathom run` as a program: failures, limits, and hostile plans.
#include "session/code/run_plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "checks.h"
#include "run/plan_run.h"
#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

TEST_F(RunPlan, ASpentBudgetIsToldAndIsNoSuccess) {
  const std::string experiment = R"(
[[experiment]]
id = "E1"
name = "slow"
command = ["sleep", "0.2"]
recorded = false
needs_gpu = false
repetitions = 4
)";
  write_plan(experiment + "budget = 0.3\n");
  const test::CommandResult spent = run("plan.toml --yes");
  EXPECT_EQ(spent.exit_code, 1) << spent.errors;
  EXPECT_NE(
      spent.errors.find("2 runs not made: the budget of E1 (0.3 s) is spent (E1-c0-r2, E1-c0-r3)"),
      std::string::npos)
      << spent.errors;
  EXPECT_NE(text("plan.results/results.md").find("2 runs not made"), std::string::npos);
  EXPECT_NE(text("plan.results/results.json").find("\"complete\": false"), std::string::npos);
  // A budget that is enough says nothing.
  write_plan(experiment + "budget = 60\n");
  const test::CommandResult enough = run("plan.toml --yes --out enough");
  EXPECT_EQ(enough.exit_code, 0) << enough.errors;
  EXPECT_EQ(enough.errors.find("budget"), std::string::npos) << enough.errors;
}

// The load that plans of servers name: it starts the server, measures the first token, ends it.
TEST_F(RunPlan, TheShippedLoadMeasuresFirstTokens) {
  if (test::run_command("python3 -c 'import http.server'", directory_.path()).exit_code != 0)
    GTEST_SKIP() << "no python3";
  const std::string load = (test::source_dir() / "examples/serving/load.py").string();
  const std::string server = (test::source_dir() / "tests/run/fake_server.py").string();
  const std::string port = std::to_string(20'000 + getpid() % 20'000);
  write_plan(fmt::format(R"(
[[experiment]]
id = "E1"
name = "load"
command = ["python3", "{}", "--url", "http://127.0.0.1:{}/v1/completions", "--requests", "4", "--tokens", "3", "--", "python3", "{}", "{}"]
recorded = false
needs_gpu = false
time_limit = 120
[[experiment.expected]]
metric = "ttft"
subject = "TTFT p50: {{float}} ms"
low = 0.05
high = 5
)",
                         load, port, server, port));
  const test::CommandResult result = run("plan.toml --yes");
  EXPECT_EQ(result.exit_code, 0) << result.errors << text("plan.results/logs/E1-c0-r0.log");
  EXPECT_NE(result.output.find("confirmed"), std::string::npos)
      << result.output << text("plan.results/logs/E1-c0-r0.log");
  EXPECT_NE(text("plan.results/logs/E1-c0-r0.log").find("server ended"), std::string::npos);
}

TEST_F(RunPlan, AConfigurationThatFailsInItsWarmUpIsNamed) {
  write_plan(R"(
[[experiment]]
id = "E1"
name = "exits"
command = ["sh", "-c", "exit $0"]
recorded = false
needs_gpu = false
repetitions = 2
warmup = 1
[[experiment.configuration]]
name = "good"
arguments = ["0"]
[[experiment.configuration]]
name = "bad"
arguments = ["3"]
)");
  for (const char* arguments : {"plan.toml --yes", "plan.toml --yes --resume",
                                "plan.toml --replay plan.results --out replayed"}) {
    const test::CommandResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 1) << arguments;
    EXPECT_NE(result.output.find("3 runs, 1 failed"), std::string::npos) << result.output;
    EXPECT_NE(result.output.find("bad: warm-up E1-c1-w0: exit status 3"), std::string::npos)
        << result.output;
    EXPECT_EQ(result.output.find("good:"), std::string::npos) << result.output;
    EXPECT_NE(result.errors.find("1 run failed"), std::string::npos) << result.errors;
  }
  for (const char* page : {"plan.results/results.md", "replayed/results.md"}) {
    EXPECT_NE(text(page).find("| bad | `sh -c 'exit $0' 3` | 1 | 1 |"), std::string::npos)
        << text(page);
    EXPECT_NE(text(page).find("not measured: warm-up E1"), std::string::npos);
  }
}

// What ends a run is the limit that is shown and told, also where the recorder gets more.
TEST_F(RunPlan, ALimitIsNamedAsItHolds) {
  const auto plan = [](const char* recorded) {
    return fmt::format(R"(
[[experiment]]
id = "E1"
name = "long"
command = ["sleep", "60"]
recorded = {}
needs_gpu = false
repetitions = 1
time_limit = 0.2
)",
                       recorded);
  };
  write_plan(plan("false"));
  const test::CommandResult plain = run("plan.toml --yes");
  EXPECT_NE(plain.output.find("at most 0.2 s each"), std::string::npos) << plain.output;
  EXPECT_NE(plain.output.find("run E1-c0-r0: ended at its limit of 0.2 s"), std::string::npos)
      << plain.output;
  write_plan(plan("true"));
  const test::CommandResult shown = run("plan.toml --out recorded");
  EXPECT_NE(shown.output.find("at most 30.2 s (0.2 s and 30 s for the recorder) each"),
            std::string::npos)
      << shown.output;
}

TEST_F(RunPlan, NothingIsDoneThatIsNotShown) {
  write_plan(R"toml(
[[experiment]]
id = "E1"
name = "quotes \u001b[31m and\nlines"
command = ["printf", "%s", "$(touch made) `touch made` ; touch made", "a\nb", "'", "\u001b[2J"]
recorded = false
needs_gpu = false
[[experiment.configuration]]
name = "../../outside"
arguments = ["| touch made"]
environment = { "X" = "$(touch made)" }
)toml");
  const test::CommandResult shown = run("plan.toml");
  EXPECT_EQ(shown.exit_code, 2);
  EXPECT_FALSE(fs::exists(directory_.path() / "plan.results"));
  EXPECT_EQ((shown.output + shown.errors).find('\x1b'), std::string::npos);
  EXPECT_NE(shown.output.find("'$(touch made) `touch made` ; touch made'"), std::string::npos)
      << shown.output;
  EXPECT_NE(shown.output.find("\\x0a"), std::string::npos) << shown.output;
  const test::CommandResult done = run("plan.toml --yes");
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_EQ((done.output + done.errors).find('\x1b'), std::string::npos);
  EXPECT_EQ(text("plan.results/results.md").find('\x1b'), std::string::npos);
  EXPECT_EQ(text("plan.results/logs/E1-c0-r0.log"),
            "$(touch made) `touch made` ; touch madea\nb'\x1b[2J| touch made");
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_.path()))
    names.insert(entry.path().filename().string());
  EXPECT_EQ(names, (std::set<std::string>{"plan.toml", "plan.results"}));
}

TEST_F(RunPlan, HostilePlansAreRefusedBeforeAnythingRuns) {
  const std::string head =
      "[[experiment]]\nid = \"E1\"\nname = \"x\"\nrecorded = false\nneeds_gpu = false\n"
      "command = [\"touch\", \"made\"]\n";
  for (const char* line :
       {"time_limit = 0", "time_limit = -5", "time_limit = nan", "time_limit = inf",
        "repetitions = 1000000000", "repetitions = 0", "repetitions = -1", "warmup = 1000000000",
        "folder = \"../..\"", "folder = \"/\"", "environment = { \"A=B\" = \"x\" }",
        "record = [\"--out\", \"/tmp/outside\"]", "shell = \"yes\"", "unknown = 1"}) {
    write_plan(head + line + "\n");
    const test::CommandResult result = run("plan.toml --yes");
    EXPECT_EQ(result.exit_code, 2) << line << result.errors;
    EXPECT_FALSE(result.errors.empty()) << line;
    EXPECT_FALSE(fs::exists(directory_.path() / "made")) << line;
    EXPECT_FALSE(fs::exists(directory_.path() / "plan.results")) << line;
  }
  std::string sweep = head + "repetitions = 10000\n";
  for (int i = 0; i < 5; ++i)
    sweep += fmt::format("[[experiment.configuration]]\nname = \"{}\"\n", i);
  write_plan(sweep);
  const test::CommandResult result = run("plan.toml --yes");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.errors.find("20000 runs"), std::string::npos) << result.errors;
  EXPECT_FALSE(fs::exists(directory_.path() / "made"));
}

TEST_F(RunPlan, OnlyTheFolderOfTheResultsIsWritten) {
  write_plan(kMarks);
  fs::create_directory(directory_.path() / "full");
  test::write_file(directory_.path() / "full/notes", "mine");
  EXPECT_EQ(run("plan.toml --yes --out full").exit_code, 1);
  EXPECT_EQ(text("full/notes"), "mine");
  // A link in the place of one of its folders.
  EXPECT_EQ(run("plan.toml --yes --only E1").exit_code, 0);
  fs::create_directory(directory_.path() / "elsewhere");
  fs::remove_all(directory_.path() / "plan.results/tables");
  fs::create_directory_symlink(directory_.path() / "elsewhere",
                               directory_.path() / "plan.results/tables");
  EXPECT_EQ(run("plan.toml --yes --resume").exit_code, 1);
  EXPECT_TRUE(fs::is_empty(directory_.path() / "elsewhere"));
  // Another plan does not go on in it, nor the same without --resume.
  fs::remove(directory_.path() / "plan.results/tables");
  EXPECT_EQ(run("plan.toml --yes").exit_code, 2);
  write_plan(std::string(kMarks) + "# edited\n");
  EXPECT_EQ(run("plan.toml --yes --resume").exit_code, 1);
}

TEST_F(RunPlan, FailuresLimitsAndBudgets) {
  write_plan(R"(
[[experiment]]
id = "E1"
name = "fails"
command = ["sh", "-c", "echo oops; exit 3"]
recorded = false
needs_gpu = false
repetitions = 4
[[experiment.expected]]
metric = "wall_time"
low = 0.0
high = 10.0
[[experiment]]
id = "E2"
name = "server"
command = ["sh", "-c", "echo ready: 7; sleep 60"]
recorded = false
needs_gpu = false
time_limit = 0.3
ends_by_limit = true
[[experiment.expected]]
metric = "log_value"
subject = "ready: {int}"
low = 7
high = 7
[[experiment]]
id = "E3"
name = "budget"
command = ["sleep", "0.2"]
recorded = false
needs_gpu = false
repetitions = 50
budget = 0.5
[[experiment]]
id = "E4"
name = "absent"
command = ["no-such-program-here"]
recorded = false
needs_gpu = false
)");
  const test::CommandResult result = run("plan.toml --yes");
  EXPECT_EQ(result.exit_code, 1);
  const std::string runs = text("plan.results/tables/runs.csv");
  EXPECT_NE(runs.find("E1-c0-r0,exit status 3"), std::string::npos) << runs;
  EXPECT_NE(runs.find("E1-c0-r1,not run: E1-c0-r0: exit status 3"), std::string::npos);
  EXPECT_NE(runs.find("E2-c0-r0,ended at its limit of 0.3 s"), std::string::npos) << runs;
  EXPECT_NE(runs.find("not run: the budget of E3 (0.5 s) is spent"), std::string::npos) << runs;
  EXPECT_NE(runs.find("E4-c0-r0,cannot be started: No such file or directory"), std::string::npos);
  const std::string expected = text("plan.results/tables/expected.csv");
  EXPECT_NE(expected.find("not measured,exit status 3"), std::string::npos) << expected;
  EXPECT_NE(expected.find("confirmed"), std::string::npos) << expected;
}

TEST(RecordedWall, IsTheLastSummaryOfTheLog) {
  EXPECT_EQ(recorded_wall_ns("x\n{\n  \"wall_ms\": 12.5,\n  \"exit_code\": 0\n}\n"), 12'500'000);
  EXPECT_EQ(recorded_wall_ns("{\n  \"wall_ms\": 1,\n}\n{\n  \"wall_ms\": 2,\n}\n"), 2'000'000);
  EXPECT_FALSE(recorded_wall_ns("a {\n  \"wall_ms\": 3"));
  EXPECT_FALSE(recorded_wall_ns("{\n  \"wall_ms\": nan"));
  EXPECT_FALSE(recorded_wall_ns(""));
}

}  // namespace
}  // namespace fathom
