// `fathom ablate` as a program: real builds and runs, kills, hostile suites.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "checks.h"
#include "session/code/ablate.h"
#include "test_files.h"

namespace fathom::ablate {
namespace {

namespace fs = std::filesystem;
using test::CommandResult;
using test::read_file;
using test::write_file;

class AblateRun : public ::testing::Test {
 protected:
  fs::path at(const std::string& name) const { return place_.path() / name; }
  CommandResult sh(const std::string& command) const {
    return test::run_command(command, place_.path());
  }
  CommandResult ablate(const std::string& arguments) const {
    return sh("'" + test::fathom_binary() + "' ablate " + arguments);
  }
  std::string report() const { return read_file(at("out/OPTIMIZATION_REPORT.md")); }

  // A shell script stands for a program: it is quick to "build".
  void write_suite(const std::string& variants, const std::string& more = "") {
    fs::create_directories(at("s"));
    write_file(at("s/run.sh"), "echo \"time_us = ${TIME:-100}.$1\"\necho 1 2 ${LAST:-3} >values\n");
    write_file(at("s/suite.toml"),
               "title = \"small\"\n"
               "[build]\ncommand = [\"cp\", \"run.sh\", \"built.sh\"]\n"
               "[run]\ncommand = [\"sh\", \"built.sh\", \"1\"]\nwarmup = 0\nrepetitions = 6\n"
               "timeout = \"5s\"\n"
               "[check]\ncommand = [\"sh\", \"built.sh\", \"1\"]\noutput = \"values\"\n"
               "reference_variant = \"v0\"\nabsolute = 0.5\n"
               "[time]\npattern = \"time_us = {float}\"\n" +
                   more + variants);
  }

  test::TemporaryDirectory place_;
};

constexpr const char* kTwo =
    "[[variant]]\nname = \"v0\"\n"
    "[[variant]]\nname = \"v1\"\nenvironment = { TIME = 50 }\n";

TEST_F(AblateRun, TheExampleIsBuiltCheckedAndTimed) {
  const std::string suite = (test::source_dir() / "examples/ablate-cpu/suite.toml").string();
  const CommandResult result = ablate("'" + suite + "' --yes --out out --cost-per-hour 36");
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const std::string text = report();
  EXPECT_NE(text.find("| `tiled` | "), std::string::npos) << text;
  EXPECT_NE(text.find("wrong: value"), std::string::npos) << text;
  EXPECT_NE(text.find("-DTILE=48"), std::string::npos) << text;
  EXPECT_NE(text.find("At $36.00 per hour"), std::string::npos) << text;
  for (const char* file : {"ablation.csv", "ablation.json", "waterfall.svg", "journal"})
    EXPECT_FALSE(read_file(at("out") / file).empty()) << file;
  // A wrong variant was not run.
  EXPECT_FALSE(fs::exists(at("out/logs/tiled-wrong.run.0.log")));
  // The same from the journal alone.
  const CommandResult replay =
      ablate("'" + suite + "' --replay out --out again --cost-per-hour 36");
  ASSERT_EQ(replay.exit_code, 0) << replay.errors;
  EXPECT_EQ(read_file(at("again/OPTIMIZATION_REPORT.md")), text);
  EXPECT_EQ(read_file(at("again/ablation.csv")), read_file(at("out/ablation.csv")));
}

TEST_F(AblateRun, NothingIsRunWithoutConfirmation) {
  write_suite(kTwo);
  const CommandResult result = ablate("s/suite.toml --out out");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.errors.find("sh built.sh 1"), std::string::npos) << result.errors;
  EXPECT_NE(result.errors.find("--yes"), std::string::npos);
  EXPECT_FALSE(fs::exists(at("out")));
}

TEST_F(AblateRun, VariantsOfAllKinds) {
  fs::create_directories(at("s"));
  write_file(at("s/time.txt"), "100\n");
  ASSERT_EQ(
      sh("cd s && git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm one"
         " && echo 70 >time.txt && git -c user.name=a -c user.email=a@b commit -qam two"
         " && echo 100 >time.txt")
          .exit_code,
      0);
  const std::string commit = sh("git -C s rev-parse HEAD").output.substr(0, 40);
  write_file(at("s/p.patch"), "--- a/time.txt\n+++ b/time.txt\n@@ -1 +1 @@\n-100\n+80\n");
  write_file(at("s/fast.txt"), "60\n");
  write_file(
      at("s/suite.toml"),
      "title = \"kinds\"\n"
      "[run]\ncommand = \"echo time_us = $(($(cat time.txt) - ${LESS:-0}))\"\nshell = true\n"
      "repetitions = 6\nwarmup = 0\n"
      "[time]\npattern = \"time_us = {float}\"\n"
      "[[variant]]\nname = \"base\"\n"
      "[[variant]]\nname = \"patched\"\nparent = \"base\"\npatch = \"p.patch\"\n"
      "[[variant]]\nname = \"commit\"\nparent = \"base\"\ncommit = \"" +
          commit +
          "\"\n"
          "[[variant]]\nname = \"file\"\nparent = \"base\"\nfiles = { \"time.txt\" = \"fast.txt\" "
          "}\n"
          "[[variant]]\nname = \"variable\"\nparent = \"base\"\nenvironment = { LESS = 50 }\n"
          "[[variant]]\nname = \"command\"\nparent = \"base\"\n"
          "run = { command = [\"echo\", \"time_us = 40\"] }\n"
          "[[variant]]\nname = \"no-such-commit\"\nparent = \"base\"\ncommit = \"0123abcd\"\n");
  // As from a hook, which points git at the user's repository.
  const std::string asked = "git -C s status --porcelain -uno; git -C s symbolic-ref HEAD";
  const std::string before = sh(asked).output;
  const CommandResult result =
      sh("GIT_DIR=\"$PWD/s/.git\" GIT_INDEX_FILE=\"$PWD/s/.git/index\" '" + test::fathom_binary() +
         "' ablate s/suite.toml --yes --out s/out --json");
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(sh(asked).output, before);
  EXPECT_NE(before.find("refs/heads"), std::string::npos) << before;
  const std::string csv = read_file(at("s/out/ablation.csv"));
  const auto time_of = [&](const std::string& name) {
    const size_t row = csv.find("\n" + name + ",");
    if (row == std::string::npos) return std::string("no row");
    const size_t begin = csv.find("timed,", row) + 6;
    return csv.substr(begin, csv.find(',', begin) - begin);
  };
  EXPECT_EQ(time_of("base"), "100") << csv;
  EXPECT_EQ(time_of("patched"), "80");
  EXPECT_EQ(time_of("commit"), "70");
  EXPECT_EQ(time_of("file"), "60");
  EXPECT_EQ(time_of("variable"), "50");
  EXPECT_EQ(time_of("command"), "40");
  EXPECT_NE(csv.find("not built: git: exit status 128: fatal: invalid reference: 0123abcd"),
            std::string::npos)
      << csv;
  // The checkout is as it was, and the repository has no new branch or work tree.
  EXPECT_EQ(read_file(at("s/time.txt")), "100\n");
  EXPECT_EQ(sh("git -C s worktree list | wc -l; git -C s branch | wc -l").output, "1\n1\n");
  const std::string text = read_file(at("s/out/OPTIMIZATION_REPORT.md"));
  EXPECT_NE(text.find("-100\n+80"), std::string::npos) << text;
  EXPECT_NE(text.find("+LESS=50"), std::string::npos) << text;
}

TEST_F(AblateRun, FailuresHaveARowAndNoTime) {
  write_suite(
      "[[variant]]\nname = \"v0\"\n"
      "[[variant]]\nname = \"unbuilt\"\nparent = \"v0\"\nbuild = { command = [\"sh\", \"-c\", "
      "\"echo a.cc:1: error: no brace; echo a.cc:2: error: two; echo no "
      "rule; exit 3\"] }\n"
      "[[variant]]\nname = \"missing\"\nparent = \"v0\"\nbuild = { command = "
      "[\"/no/such/program\"] }\n"
      "[[variant]]\nname = \"wrong\"\nparent = \"v0\"\nenvironment = { LAST = 4 }\n"
      "[[variant]]\nname = \"slow\"\nparent = \"v0\"\nrun = { command = [\"sleep\", \"60\"], "
      "timeout = "
      "\"200ms\" }\n"
      "[[variant]]\nname = \"silent\"\nparent = \"v0\"\nrun = { command = [\"true\"] }\n"
      "[[variant]]\nname = \"crash\"\nparent = \"v0\"\nrun = { command = [\"sh\", \"-c\", \"kill "
      "-SEGV "
      "$$\"] }\n");
  const CommandResult result = ablate("s/suite.toml --yes --out out");
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const std::string csv = read_file(at("out/ablation.csv"));
  for (const char* part :
       {"not built: exit status 3: a.cc:1: error: no brace; last line: no rule",
        "not built: cannot be started", "wrong: value 3 is 4",
        "failed: ended at its limit of 0.2 s", "failed: printed no", "failed: killed by SIGSEGV"})
    EXPECT_NE(csv.find(part), std::string::npos) << part << "\n" << csv;
  size_t timed = 0;
  for (size_t found = csv.find(",timed,"); found != std::string::npos;
       found = csv.find(",timed,", found + 1))
    ++timed;
  EXPECT_EQ(timed, 1u);
}

TEST_F(AblateRun, AnInterruptIsToldByTheExitStatus) {
  write_suite(
      "[[variant]]\nname = \"v0\"\n"
      "[[variant]]\nname = \"long\"\nrun = { command = [\"sleep\", \"30\"], timeout = \"60s\" }\n");
  const CommandResult result =
      sh("(sleep 1; kill -TERM $(cat fathom.pid)) & sh -c 'echo $$ >fathom.pid; exec " +
         test::fathom_binary() + " ablate s/suite.toml --yes --out out'; echo code $?");
  EXPECT_NE(result.output.find("code 130"), std::string::npos) << result.output << result.errors;
  EXPECT_NE(result.errors.find("continue with --resume"), std::string::npos) << result.errors;
}

TEST_F(AblateRun, ATimeUnderTheFloorIsAnError) {
  write_suite(
      "[[variant]]\nname = \"v0\"\n[[variant]]\nname = \"v1\"\nenvironment = { TIME = 5 }\n", "");
  std::string text = read_file(at("s/suite.toml"));
  write_file(at("s/suite.toml"),
             "platform = \"h200\"\n" + text + "[work]\nbytes = 48000000\n");  // 10 µs
  const CommandResult result = ablate("s/suite.toml --yes --out out");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("v1: 5.100 µs is under the roofline floor of 10.00 µs"),
            std::string::npos)
      << result.errors;
}

TEST_F(AblateRun, AnEditIsMeasuredAgainAndTheRestIsNot) {
  write_suite(kTwo);
  ASSERT_EQ(ablate("s/suite.toml --yes --out out").exit_code, 0);
  EXPECT_EQ(ablate("s/suite.toml --yes --out out").exit_code, 2) << "without --resume";
  CommandResult result = ablate("s/suite.toml --yes --out out --resume");
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.errors.find("fathom: run"), std::string::npos) << result.errors;
  std::string text = read_file(at("s/suite.toml"));
  text.replace(text.find("TIME = 50"), 9, "TIME = 40");
  write_file(at("s/suite.toml"), text);
  result = ablate("s/suite.toml --yes --out out --resume");
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.errors.find("of 6 of v0"), std::string::npos) << result.errors;
  EXPECT_NE(result.errors.find("run 6 of 6 of v1"), std::string::npos) << result.errors;
  EXPECT_NE(read_file(at("out/ablation.csv")).find("timed,40.1,"), std::string::npos);
}

// The report and `next` are of the last edit alone, with or without the sources at hand.
TEST_F(AblateRun, AReplayLeavesOutWhatWasMeasuredBeforeAnEdit) {
  write_suite("[[variant]]\nname = \"v0\"\n[[variant]]\nname = \"v1\"\npatch = \"p.patch\"\n");
  write_file(at("s/p.patch"),
             "--- a/run.sh\n+++ b/run.sh\n@@ -1,2 +1,2 @@\n-echo \"time_us = ${TIME:-100}.$1\"\n"
             "+echo \"time_us = 50\"\n echo 1 2 ${LAST:-3} >values\n");
  ASSERT_EQ(ablate("s/suite.toml --yes --out out").exit_code, 0);
  std::string patch = read_file(at("s/p.patch"));
  patch.replace(patch.find("= 50"), 4, "= 25");
  write_file(at("s/p.patch"), patch);
  ASSERT_EQ(ablate("s/suite.toml --yes --out out --resume").exit_code, 0);
  const std::string csv = read_file(at("out/ablation.csv"));
  EXPECT_NE(csv.find("timed,25,"), std::string::npos) << csv;
  const CommandResult replay = ablate("s/suite.toml --replay out --out again");
  ASSERT_EQ(replay.exit_code, 0) << replay.errors;
  EXPECT_EQ(read_file(at("again/ablation.csv")), csv);
  // The diff is the edited one too.
  EXPECT_NE(report().find("+echo \"time_us = 25\""), std::string::npos) << report();
  const CommandResult next = ablate("next out");
  EXPECT_NE(next.output.find("Best: v1, 25.00 µs"), std::string::npos) << next.output;
}

TEST_F(AblateRun, AFolderThroughALinkOfAPatchIsRefused) {
  fs::create_directories(at("elsewhere"));
  write_file(at("elsewhere/kept"), "x");
  write_suite("[[variant]]\nname = \"v0\"\n");
  write_file(at("s/p.patch"),
             "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n"
             "@@ -0,0 +1 @@\n+" +
                 at("elsewhere").string() + "\n\\ No newline at end of file\n");
  for (const char* table : {"build", "run"}) {
    fs::remove_all(at("out"));
    write_suite(
        "[[variant]]\nname = \"v0\"\n[[variant]]\nname = \"linked\"\npatch = \"p.patch\"\n" +
        std::string(table) +
        " = { command = [\"sh\", \"-c\", \"echo y >kept\"], folder = \"l\" }\n");
    const CommandResult result = ablate("s/suite.toml --yes --out out");
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(read_file(at("elsewhere/kept")), "x") << table;
    EXPECT_NE(read_file(at("out/ablation.csv")).find("folder l leads out of the tree"),
              std::string::npos)
        << table << read_file(at("out/ablation.csv"));
  }
  // A folder that is not there is named.
  fs::remove_all(at("out"));
  write_suite("[[variant]]\nname = \"v0\"\nrun = { command = [\"true\"], folder = \"absent\" }\n");
  EXPECT_EQ(ablate("s/suite.toml --yes --out out").exit_code, 0);
  EXPECT_NE(read_file(at("out/ablation.csv")).find("the tree has no folder absent"),
            std::string::npos);
  // A folder of the tree's own is used.
  fs::remove_all(at("out"));
  write_suite(
      "[[variant]]\nname = \"v0\"\nrun = { command = [\"sh\", \"-c\", \"echo time_us = 5\"], "
      "folder = \"sub\" }\n");
  fs::create_directories(at("s/sub"));
  write_file(at("s/sub/file"), "x");
  EXPECT_EQ(ablate("s/suite.toml --yes --out out").exit_code, 0);
  EXPECT_NE(read_file(at("out/ablation.csv")).find("timed,5,"), std::string::npos);
}

TEST_F(AblateRun, ASourceThatIsTooLargeIsRefusedBeforeItIsListed) {
  write_suite(kTwo, "[tree]\nsource = \"/\"\n");
  CommandResult result = ablate("s/suite.toml --yes --out out");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.errors.find("/ is the whole file system"), std::string::npos) << result.errors;
  // A sparse file of a terabyte would take an hour to read.
  write_suite(kTwo, "[tree]\nmax_mb = 1\n");
  ASSERT_EQ(sh("truncate -s 1T s/huge.bin").exit_code, 0);
  result = ablate("s/suite.toml --yes --out out");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.errors.find("or 1 MB; name a smaller folder"), std::string::npos)
      << result.errors;
}

// Times that the program prints beside its values are no values.
TEST_F(AblateRun, PrintedTimesAreNoPartOfTheCheckedOutput) {
  fs::create_directories(at("s"));
  write_file(at("s/run.sh"),
             "echo \"time_us = $(date +%N | sed s/^0*//).5\"\necho sum = ${SUM:-3}\n");
  write_file(
      at("s/suite.toml"),
      "title = \"times\"\n[run]\ncommand = [\"sh\", \"run.sh\"]\nrepetitions = 6\nwarmup = 0\n"
      "[check]\ncommand = [\"sh\", \"run.sh\"]\nreference_variant = \"v0\"\n"
      "[time]\npattern = \"time_us = {float}\"\nunit = \"ns\"\n"
      "[[variant]]\nname = \"v0\"\n[[variant]]\nname = \"same\"\nenvironment = { A = 1 }\n"
      "[[variant]]\nname = \"other\"\nenvironment = { SUM = 4 }\n");
  ASSERT_EQ(ablate("s/suite.toml --yes --out out").exit_code, 0);
  const std::string csv = read_file(at("out/ablation.csv"));
  EXPECT_NE(csv.find("\nsame,v0,timed,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("wrong: value 1 is 4 where 3 is expected"), std::string::npos) << csv;
}

// A variant without a parent of its own builds on the last one that is right.
TEST_F(AblateRun, TheDefaultParentIsTheLastRightVariant) {
  write_suite(
      "[[variant]]\nname = \"v0\"\n"
      "[[variant]]\nname = \"v1\"\nenvironment = { TIME = 80 }\n"
      "[[variant]]\nname = \"wrong\"\nenvironment = { TIME = 1, LAST = 9 }\n"
      "[[variant]]\nname = \"crash\"\nrun = { command = [\"false\"] }\n"
      "[[variant]]\nname = \"unbuilt\"\nbuild = { command = [\"false\"] }\n"
      "[[variant]]\nname = \"v2\"\nenvironment = { TIME = 40 }\n"
      "[[variant]]\nname = \"named\"\nparent = \"wrong\"\nenvironment = { TIME = 30 }\n");
  ASSERT_EQ(ablate("s/suite.toml --yes --out out").exit_code, 0);
  const std::string csv = read_file(at("out/ablation.csv"));
  EXPECT_NE(csv.find("\nv2,v1,timed,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\nnamed,wrong,timed,"), std::string::npos) << csv;
  const std::string text = report();
  EXPECT_NE(text.find("Speed-up over `v1`: 1.998 ×"), std::string::npos) << text;
  // What it changes is told against that one.
  EXPECT_NE(text.find("-TIME=80\n+TIME=40"), std::string::npos) << text;
}

TEST_F(AblateRun, NotesAndNext) {
  write_suite(kTwo);
  ASSERT_EQ(ablate("s/suite.toml --yes --out out").exit_code, 0);
  EXPECT_EQ(ablate("note out 'breaks at odd sizes' --variant v1 --step dropped").exit_code, 0);
  EXPECT_EQ(ablate("note out text --variant v7 --step dropped").exit_code, 2);
  EXPECT_EQ(ablate("note out text --variant v1 --step dropt").exit_code, 2);
  const CommandResult next = ablate("next out");
  EXPECT_EQ(next.exit_code, 0) << next.errors;
  EXPECT_NE(next.output.find("Best: v0"), std::string::npos) << next.output;
  ASSERT_EQ(ablate("s/suite.toml --yes --out out --resume").exit_code, 0);
  EXPECT_NE(report().find("breaks at odd sizes"), std::string::npos);
}

// What was finished before a kill is in the journal, and only the rest is done after it.
TEST_F(AblateRun, KilledAtTenRandomMomentsNothingFinishedIsLost) {
  write_suite(kTwo);
  std::mt19937 random(std::random_device{}());
  std::string before;
  for (int kill_number = 0; kill_number < 10; ++kill_number) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      if (chdir(place_.path().c_str()) != 0 || freopen("/dev/null", "w", stderr) == nullptr ||
          freopen("/dev/null", "w", stdout) == nullptr)
        _exit(99);
      execl(test::fathom_binary().c_str(), "fathom", "ablate", "s/suite.toml", "--yes", "--resume",
            "--out", "out", nullptr);
      _exit(98);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 150));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    if (!fs::exists(at("out/journal"))) continue;
    const std::string now = read_file(at("out/journal"));
    // Whole lines that were there stay there.
    const std::string kept = before.substr(0, before.rfind('\n') + 1);
    EXPECT_TRUE(now.starts_with(kept)) << "after kill " << kill_number;
    before = now;
  }
  const CommandResult result = ablate("s/suite.toml --yes --resume --out out");
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const std::string journal = read_file(at("out/journal"));
  for (const char* variant : {"v0", "v1"}) {
    for (int round = 0; round < 6; ++round) {
      const std::string head = std::string("\trun\tvariant=") + variant;
      size_t found = 0;
      for (size_t line = journal.find(head); line != std::string::npos;
           line = journal.find(head, line + 1)) {
        const std::string text = journal.substr(line, journal.find('\n', line) - line);
        found += text.find("\tround=" + std::to_string(round) + "\t") != std::string::npos ? 1 : 0;
      }
      EXPECT_EQ(found, 1u) << variant << " round " << round;
    }
  }
  EXPECT_NE(report().find("1.998 ×"), std::string::npos) << report();
}

TEST_F(AblateRun, HostileSuitesDoNothingThatIsNotShown) {
  fs::create_directories(at("s"));
  const std::string outside = at("outside").string();
  // Shell characters are text to a program; a title and names cannot leave their place.
  write_file(at("s/suite.toml"), "title = \"x\\u001b[2J`touch " + outside +
                                     "`\"\n"
                                     "[run]\ncommand = [\"echo\", \"$(touch " +
                                     outside + ")\", \"; touch " + outside +
                                     "\\n\", \"time_us = 5\"]\nwarmup = 0\nrepetitions = 6\n"
                                     "[time]\npattern = \"time_us = {float}\"\n"
                                     "[[variant]]\nname = \"v0\"\nenvironment = { X = \"`touch " +
                                     outside + "`\" }\n");
  const CommandResult result = ablate("s/suite.toml --yes --out out");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_FALSE(fs::exists(outside));
  EXPECT_NE(result.errors.find("'$(touch "), std::string::npos) << result.errors;
  EXPECT_EQ(result.errors.find('\033'), std::string::npos);
  EXPECT_EQ(result.output.find('\033'), std::string::npos);
  // Links in the out folder lead nowhere.
  fs::create_directories(at("elsewhere"));
  fs::remove_all(at("out/trees"));
  fs::create_directory_symlink(at("elsewhere"), at("out/trees"));
  EXPECT_EQ(ablate("s/suite.toml --yes --out out --resume").exit_code, 1);
  EXPECT_TRUE(fs::is_empty(at("elsewhere")));
  // A folder of somebody else's is refused.
  fs::create_directories(at("theirs"));
  write_file(at("theirs/file"), "x");
  EXPECT_EQ(ablate("s/suite.toml --yes --out theirs").exit_code, 2);
  EXPECT_EQ(read_file(at("theirs/file")), "x");
}

TEST_F(AblateRun, AFileThroughALinkOfACommitStaysInItsTree) {
  fs::create_directories(at("s"));
  fs::create_directories(at("elsewhere"));
  fs::create_directory_symlink(at("elsewhere"), at("s/link"));
  write_file(at("s/new.txt"), "planted\n");
  ASSERT_EQ(
      sh("cd s && git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm one")
          .exit_code,
      0);
  write_file(
      at("s/suite.toml"),
      "title = \"links\"\n[run]\ncommand = [\"echo\", \"time_us = 5\"]\nrepetitions = 6\n"
      "[time]\npattern = \"time_us = {float}\"\n"
      "[[variant]]\nname = \"v0\"\ncommit = \"HEAD\"\nfiles = { \"link/x.txt\" = \"new.txt\" }\n");
  const CommandResult result = ablate("s/suite.toml --yes --out out");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_TRUE(fs::is_empty(at("elsewhere")));
  EXPECT_NE(read_file(at("out/ablation.csv")).find("leads out of the tree"), std::string::npos);
  // The output of a check is removed before it runs, but not through a link.
  write_file(at("elsewhere/kept"), "x");
  write_file(at("s/suite.toml"),
             "title = \"links\"\n[run]\ncommand = [\"echo\", \"time_us = 5\"]\nrepetitions = 6\n"
             "[check]\ncommand = [\"true\"]\noutput = \"link/kept\"\nreference = \"new.txt\"\n"
             "[time]\npattern = \"time_us = {float}\"\n"
             "[[variant]]\nname = \"v0\"\ncommit = \"HEAD\"\n");
  EXPECT_EQ(ablate("s/suite.toml --yes --out out2").exit_code, 0);
  EXPECT_EQ(read_file(at("elsewhere/kept")), "x");
  EXPECT_NE(read_file(at("out2/ablation.csv")).find("wrong: link/kept leads out"),
            std::string::npos);
}

}  // namespace
}  // namespace fathom::ablate
