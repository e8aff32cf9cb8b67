#include <filesystem>

#include "checks.h"
#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// What a recorded program's output and the windows of a recording are like, without a GPU.
class RecordStreams : public ::testing::Test {
 protected:
  test::CommandResult run(const std::string& command) {
    const std::string folder = fs::path(test::fathom_binary()).parent_path().string();
    return test::run_command("PATH=" + folder + ":$PATH; " + command, directory_.path());
  }
  bool has_python() { return run("python3 -c 1").exit_code == 0; }

  test::TemporaryDirectory directory_;
};

TEST_F(RecordStreams, AReaderThatGoesAwayEndsTheProgramAsWithoutUs) {
  const test::CommandResult result =
      run("timeout 20 bash -c 'fathom record -q -o h.capture --log-pattern \"zz{float}\" -- yes |"
          " head -n 1; echo ${PIPESTATUS[0]}'");
  EXPECT_EQ(result.output, "y\n141\n");
}

TEST_F(RecordStreams, OutputAndErrorsInOnePlaceKeepTheirOrder) {
  const std::string program =
      "sh -c 'for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done'";
  EXPECT_EQ(run("fathom record -q -o o.capture --log-pattern 'zz{float}' -- " + program +
                " > recorded 2>&1; " + program + " > plain 2>&1; cmp recorded plain")
                .exit_code,
            0);
  // Apart, they stay apart.
  EXPECT_EQ(run("fathom record -q -o p.capture --log-pattern 'zz{float}' -- " + program +
                " 2> errors | grep -c out; grep -c err errors")
                .output,
            "9\n9\n");
}

TEST_F(RecordStreams, ProbesAndNumbersHeedTheWindow) {
  if (!has_python()) GTEST_SKIP() << "no python3";
  test::write_file(directory_.path() / "engine.py", "def step():\n    pass\n");
  // It pauses only where a window is to end before it does.
  test::write_file(directory_.path() / "main.py",
                   "import engine, sys, time\n"
                   "for i in range(40):\n"
                   "    engine.step(); print('rate: %d' % i, flush=True)\n"
                   "    time.sleep(0.05 * len(sys.argv[1:]))\n");
  const std::string record = "fathom record --json=- -q --probe engine:step";
  const auto ranges = [&](const std::string& options, const std::string& argument = "") {
    const std::string output = run(record + " " + options + " -- python3 main.py " + argument +
                                   " | grep -o '\"ranges\": *[0-9]*'")
                                   .output;
    return output.empty() ? 0 : std::stoi(output.substr(output.find(':') + 1));
  };
  EXPECT_EQ(ranges("--out all.capture"), 40);
  const int first = ranges("--out first.capture --window 800ms", "slowly");
  EXPECT_GT(first, 0);
  EXPECT_LT(first, 30);
  EXPECT_EQ(ranges("--out none.capture --trigger never"), 0);
  const test::CommandResult waited =
      run("fathom record --out n.capture --trigger never --log-pattern 'rate: {int}' -- python3 "
          "main.py 2>&1 | grep -c 'no trigger came: never did not appear and was not touched'");
  EXPECT_EQ(waited.output, "1\n");
}

TEST_F(RecordStreams, TheSummaryStaysOutOfTheProgramsOutput) {
  const std::string record = "fathom record -o j.capture --log-pattern 'rate {int}' ";
  const std::string program = " -- sh -c 'echo rate 7; exit 3'";
  const auto has_summary = [](const std::string& text) {
    return text.starts_with("{") && text.find("\"exit_code\": 3") != std::string::npos &&
           text.ends_with("}\n");
  };
  const test::CommandResult errors = run(record + "--json" + program);
  EXPECT_EQ(errors.output, "rate 7\n");
  EXPECT_TRUE(has_summary(errors.errors)) << errors.errors;
  EXPECT_EQ(errors.exit_code, 3);
  // Over a longer file, and beside the summary for people.
  test::write_file(directory_.path() / "j.json", std::string(100'000, 'x'));
  const test::CommandResult file = run(record + "--json=j.json" + program);
  EXPECT_EQ(file.output, "rate 7\n");
  EXPECT_NE(file.errors.find("next: fathom analyze"), std::string::npos) << file.errors;
  EXPECT_TRUE(has_summary(run("cat j.json").output));
  const test::CommandResult output = run(record + "-q --json=-" + program);
  EXPECT_TRUE(output.output.starts_with("rate 7\n{")) << output.output;
  EXPECT_EQ(output.errors, "");
  // A place that cannot be written is known before the program runs.
  const test::CommandResult nowhere = run(record + "--json=missing/j.json" + program);
  EXPECT_EQ(nowhere.output, "");
  EXPECT_EQ(nowhere.exit_code, 2);
}

TEST_F(RecordStreams, ConvertOfNothingReadableFails) {
  const std::string capture =
      (test::source_dir() / "examples/captures/activities-h200.capture").string();
  const test::CommandResult nothing =
      run("head -c 300 " + capture + " > cut.capture; fathom convert cut.capture out.json 2>&1");
  EXPECT_EQ(nothing.exit_code, 1) << nothing.output;
  EXPECT_FALSE(fs::exists(directory_.path() / "out.json"));
  const test::CommandResult nowhere = run("fathom convert " + capture + " /nosuch/x.json 2>&1");
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_EQ(nowhere.output.find("--out"), std::string::npos) << nowhere.output;
}

TEST_F(RecordStreams, OptionsThatDoNothingAreMistakes) {
  EXPECT_EQ(run("fathom record --trigger SIGUSR1 -- true 2>&1").exit_code, 2);
  EXPECT_EQ(run("fathom record --replay -- true 2>&1").exit_code, 2);
}

}  // namespace
}  // namespace fathom
