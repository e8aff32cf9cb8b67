// The memory ends, the disk is full, somebody kills the program: one sentence, exit 1, and what was
// there before stays.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/output_directory.h"
#include "checks.h"
#include "hostile/sanitizer.h"
#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using test::CommandResult;

class SuddenEnd : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_symlink(test::source_dir() / "examples", place() / "examples");
    fs::create_symlink(test::fathom_binary(), place() / "fathom");
  }
  fs::path place() const { return directory_.path(); }
  CommandResult run(const std::string& command) const {
    return test::run_command(command, place());
  }

  std::vector<std::string> left_over(const fs::path& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(".fathom-tmp-")) names.push_back(entry.path().string());
    }
    return names;
  }

  // Exit 0, or 1 with one sentence; 2 of diff, whose 1 is a regression.
  void expect_told(const CommandResult& result, const std::string& what) {
    if (result.exit_code == 0) return;
    EXPECT_EQ(result.exit_code, what.find("diff ") == std::string::npos ? 1 : 2)
        << what << ": " << result.errors;
    EXPECT_TRUE(result.errors.starts_with("fathom: ")) << what << ": " << result.errors;
    EXPECT_EQ(std::ranges::count(result.errors, '\n'), 1) << what << ": " << result.errors;
  }

  // Sends the signal as soon as something is being written; false where the run was quicker.
  bool interrupt(const std::vector<std::string>& words, int signal, int* status) const {
    std::vector<char*> argv;
    std::vector<std::string> held = words;
    for (std::string& word : held) argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      if (chdir(place().c_str()) != 0) _exit(126);
      execv(test::fathom_binary().c_str(), argv.data());
      _exit(127);
    }
    while (waitpid(child, status, WNOHANG) == 0) {
      if (!is_writing()) {
        usleep(200);  // it writes for milliseconds; looking without a pause takes a core from it
        continue;
      }
      kill(child, signal);
      return waitpid(child, status, 0) == child && WIFSIGNALED(*status);
    }
    return false;
  }

  bool is_writing() const {
    for (const fs::path& folder : {place(), place() / "report"}) {
      std::error_code error;
      for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (entry.path().filename().string().starts_with(".fathom-tmp-") &&
            fs::exists(entry.path() / "new/perf_report_csvs", error))
          return true;
      }
    }
    return false;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(SuddenEnd, WithoutMemory) {
  if (!test::kMemoryIsOurs) GTEST_SKIP() << "skipped: a sanitizer's memory is not ours";
  const std::string trace = "examples/llama-h200.json.gz";
  ASSERT_EQ(run("./fathom analyze " + trace + " --quiet --out report").exit_code, 0);
  int ended = 0;
  for (const int megabytes : {40, 60, 80, 100, 125, 150, 200, 400}) {
    for (const std::string& command :
         {"analyze " + trace + " --quiet --out report",
          std::string("scan examples/tiny-engine --quiet --out scan"),
          "diff " + trace + " examples/llama-compiled-h200.json.gz --quiet --out diff",
          "replay pack " + trace + " --op aten::mm --quiet --out packages"}) {
      const CommandResult result = run(
          fmt::format("ulimit -c 0; ulimit -v {}; exec ./fathom {}", megabytes * 1000, command));
      // Below what the loader needs it is the loader that says so.
      if (result.exit_code == 127) continue;
      const std::string what = fmt::format("{} MB, {}", megabytes, command);
      expect_told(result, what);
      ended += result.exit_code != 0;
      EXPECT_TRUE(left_over(place()).empty()) << what << ": " << left_over(place()).front();
      ASSERT_TRUE(verified_report(place() / "report")) << what;
    }
  }
  EXPECT_GT(ended, 3) << "the limits are too large to show anything";
}

// Told by its name, also where the first file that cannot be opened is a folder of ours.
TEST_F(SuddenEnd, WithoutFileDescriptors) {
  int ended = 0;
  for (int most = 4; most <= 12; ++most) {
    for (const std::string command :
         {"analyze examples/vision-h200.json.gz --quiet --no-cache --out report",
          "scan examples/tiny-engine --quiet --out scan",
          "convert examples/captures/activities-h200.capture out.json --force"}) {
      const CommandResult result =
          run(fmt::format("ulimit -n {}; exec ./fathom {}", most, command));
      if (result.exit_code == 0 || result.exit_code == 127) continue;
      const std::string what = fmt::format("{} descriptors, {}", most, command);
      EXPECT_EQ(result.exit_code, 1) << what;
      EXPECT_NE(result.errors.find("Too many open files"), std::string::npos)
          << what << ": " << result.errors;
      EXPECT_TRUE(left_over(place()).empty()) << what << ": " << left_over(place()).front();
      ++ended;
    }
  }
  EXPECT_GT(ended, 5) << "the limits are too large to show anything";
}

// A stack that leaves room for one or no thread: the work is done by those there are.
TEST_F(SuddenEnd, WithoutThreads) {
  if (!test::kMemoryIsOurs) GTEST_SKIP() << "skipped: a sanitizer's memory is not ours";
  const std::string trace = "examples/llama-h200.json.gz";
  ASSERT_EQ(run("./fathom analyze " + trace + " --quiet --no-cache --out many").exit_code, 0);
  ASSERT_EQ(run("./fathom scan examples/tiny-engine --no-report --json >many.json").exit_code, 0);
  const std::string no_threads = "ulimit -c 0; ulimit -s 1500000; ulimit -v 1800000; exec ";
  if (run(no_threads + "true").exit_code != 0) GTEST_SKIP() << "skipped: the limit is not allowed";
  CommandResult result =
      run(no_threads + "./fathom analyze " + trace + " --quiet --no-cache --out few --threads 8");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(run("diff -r many few | grep -v '\"report\"' | grep '^[<>] ' | grep -v '^[<>] file "
                "\\|^[<>] sum '")
                .output,
            "");
  result = run(no_threads + "./fathom scan examples/tiny-engine --no-report --json >few.json");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(run("cmp many.json few.json").exit_code, 0);
  // A program that is watched runs as ever; builds that could be side by side follow each other.
  result = run(no_threads + "./fathom record --log-pattern 'x {int}' -- sh -c 'echo x 1; exit 7'");
  EXPECT_EQ(result.exit_code, 7) << result.errors;
  EXPECT_EQ(result.output, "x 1\n");
  EXPECT_NE(result.errors.find("--log-pattern read no line"), std::string::npos) << result.errors;
  std::string suite =
      "title = 't'\n[build]\ncommand = ['true', '{v}']\njobs = 4\n"
      "[run]\ncommand = ['true']\nrepetitions = 1\n";
  for (const char v : {'a', 'b', 'c', 'd'})
    suite +=
        fmt::format("[[variant]]\nname = '{0}'\nchange = '{0}'\nvalues = {{ v = '{0}' }}\n", v);
  test::write_file(place() / "suite/suite.toml", suite);
  result = run(no_threads + "./fathom ablate suite/suite.toml --yes --out ablation");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

// Threads start with the stack that `ulimit -s` allows, the program as well.
TEST_F(SuddenEnd, WithASmallStack) {
  if (!test::kMemoryIsOurs) GTEST_SKIP() << "skipped: a sanitizer's memory is not ours";
  test::write_file(place() / "repo/deep.cu", "__global__ void k(int* p) { p[" +
                                                 std::string(200, '(') + "1" +
                                                 std::string(200, ')') + "] = 1; }\n");
  for (const std::string& command :
       {std::string("analyze examples/llama-h200.json.gz --quiet --out report"),
        std::string("scan repo --quiet --out scan"), std::string("platforms"),
        std::string("replay pack examples/llama-h200.json.gz --op aten::mm --quiet --out packs")}) {
    for (const char* stack : {"64", "256", "unlimited"}) {
      const CommandResult result =
          run(fmt::format("ulimit -c 0; ulimit -s {}; exec ./fathom {}", stack, command));
      EXPECT_EQ(result.exit_code, 0) << stack << ", " << command << ": " << result.errors;
    }
  }
  // Nor is there memory for another stack, somewhere between what the loader and the work need.
  // Not at whole megabytes: a run that ends between loader and main, 100 kB wide, tells nothing.
  bool refused = false;
  for (int megabytes = 10; megabytes <= 40 && !refused; megabytes += 2) {
    const CommandResult none =
        run(fmt::format("ulimit -c 0; ulimit -s 64; ulimit -v {}; exec ./fathom platforms",
                        megabytes * 1000 + 500));
    if (none.exit_code != 127) expect_told(none, fmt::format("{} MB, platforms", megabytes));
    refused = none.errors.find("the stack is limited to 64 kB") != std::string::npos;
  }
  EXPECT_TRUE(refused);
}

TEST_F(SuddenEnd, WithAFullDisk) {
  const std::string trace = "examples/llama-h200.json.gz";
  ASSERT_EQ(run("./fathom analyze " + trace + " --quiet --out report").exit_code, 0);
  // A limit on the size of a file fails as a full disk does, in the middle of a file.
  for (const int kilobytes : {1, 4, 20, 100, 400}) {
    const CommandResult result = run(fmt::format(
        "ulimit -f {}; exec ./fathom analyze {} --quiet --out report", kilobytes * 2, trace));
    expect_told(result, fmt::format("{} KB", kilobytes));
    if (kilobytes < 100) {
      EXPECT_EQ(result.exit_code, 1);
    }
    EXPECT_TRUE(left_over(place()).empty());
    ASSERT_TRUE(verified_report(place() / "report")) << kilobytes;
  }
}

TEST_F(SuddenEnd, OnASmallFileSystem) {
  if (run("mkdir small && mount -t tmpfs -o size=1400k none small 2>/dev/null").exit_code != 0)
    GTEST_SKIP() << "skipped: this machine does not let us mount";
  struct Unmount {
    fs::path at;
    ~Unmount() { test::run_command("umount small", at); }
  } unmount{place()};
  const std::string little = "examples/ddp-rank0-h200.json.gz",
                    large = "examples/train-h200.json.gz";
  run("head -c 1390k /dev/zero >small/fill");
  const CommandResult packed =
      run("./fathom replay pack " + little + " --op aten::mm --out small/packages");
  EXPECT_EQ(packed.exit_code, 1);
  expect_told(packed, "packages");
  EXPECT_FALSE(fs::exists(place() / "small/packages"));
  run("rm small/fill");
  for (const char* out : {"small", "small/report"}) {
    ASSERT_EQ(run(fmt::format("./fathom analyze {} --quiet --out {}", little, out)).exit_code, 0)
        << out;
    ASSERT_TRUE(verified_report(place() / out));
    test::write_file(place() / out / "mine", "my notes");
    const CommandResult full =
        run(fmt::format("./fathom analyze {} --quiet --force --out {}", large, out));
    EXPECT_EQ(full.exit_code, 1) << "1400 kB was enough for " << large;
    expect_told(full, out);
    EXPECT_NE(full.errors.find("No space left"), std::string::npos) << full.errors;
    EXPECT_TRUE(left_over(place() / "small").empty());
    EXPECT_TRUE(verified_report(place() / out)) << "the old report is whole";
    EXPECT_EQ(test::read_file(place() / out / "mine"), "my notes");
    ASSERT_EQ(run(fmt::format("./fathom analyze {} --quiet --out {}", little, out)).exit_code, 0);
    EXPECT_EQ(test::read_file(place() / out / "mine"), "my notes");
    run("rm -rf small/* small/.f*");
  }
}

TEST_F(SuddenEnd, ByASignal) {
  const std::string trace = "examples/ddp-rank0-h200.json.gz";
  const std::vector<std::string> analyze = {"fathom",  "analyze", trace,
                                            "--quiet", "--out",   "report"};
  int ended = 0;
  for (const bool replaces : {false, true}) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM, SIGKILL}) {
      int status = 0;
      bool caught = false;
      for (int i = 0; i < 20 && !caught; ++i) {
        if (!replaces) fs::remove_all(place() / "report");
        caught = interrupt(analyze, signal, &status);
      }
      if (!caught) continue;  // every run was quicker than we are
      ++ended;
      EXPECT_EQ(WTERMSIG(status), signal);
      if (signal != SIGKILL) {
        EXPECT_TRUE(left_over(place()).empty()) << signal;
      }
      if (replaces) {
        EXPECT_TRUE(fs::exists(place() / "report/summary.json"));
      }
      const CommandResult again = run("./fathom analyze " + trace + " --quiet --out report");
      EXPECT_EQ(again.exit_code, 0) << again.errors;
      EXPECT_EQ(again.errors, "") << "nothing of ours is taken for the user's";
      EXPECT_TRUE(left_over(place()).empty()) << "the next run removes what is stale";
      EXPECT_TRUE(verified_report(place() / "report"));
    }
  }
  EXPECT_GT(ended, 0) << "no run was ended by its signal";
}

}  // namespace
}  // namespace fathom
