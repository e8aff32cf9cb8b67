#include "trial/command.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "checks.h"
#include "test_files.h"
#include "trial/interruption.h"
#include "trial/processes.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class TrialCommandTest : public ::testing::Test {
 protected:
  TrialEnd run(std::vector<std::string> words, double limit_s = 20) {
    command_.words = std::move(words);
    command_.limit_s = limit_s;
    command_.log = folder_ / "log";
    if (command_.environment.empty()) command_.environment = {"PATH=/usr/bin:/bin"};
    const Result<TrialEnd> end = run_command(command_);
    EXPECT_TRUE(end.ok());
    return end.ok() ? end.value() : TrialEnd();
  }
  std::string log() const { return text_of(folder_ / "log"); }

  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt_name();
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  static std::string fmt_name() {
    return "fathom-trial-" + std::to_string(getpid()) + "-" +
           ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  fs::path folder_;
  TrialCommand command_;
};

TEST_F(TrialCommandTest, ArgumentsAreNotReadByAShell) {
  const TrialEnd end = run({"printf", "[%s]", "$(touch made)", "a b", "'q'", "x\ny", ""});
  EXPECT_TRUE(end.ok());
  EXPECT_EQ(log(), "[$(touch made)][a b]['q'][x\ny][]");
  EXPECT_FALSE(fs::exists(folder_ / "made"));
  EXPECT_GT(end.wall_ns, 0);
}

TEST_F(TrialCommandTest, FolderAndEnvironment) {
  command_.folder = folder_;
  command_.environment =
      changed_environment({"PATH=/usr/bin:/bin", "A=1", "AB=2"}, {"A=3", "C=x=y"});
  const TrialEnd end = run(shell_words("pwd; echo $A $AB $C"));
  EXPECT_TRUE(end.ok());
  EXPECT_EQ(log(), fs::canonical(folder_).string() + "\n3 2 x=y\n");
}

TEST_F(TrialCommandTest, WaysToEnd) {
  EXPECT_EQ(end_text(run(shell_words("exit 3")), 20), "exit status 3");
  EXPECT_EQ(end_text(run(shell_words("kill -SEGV $$")), 20), "killed by SIGSEGV");
  const TrialEnd absent = run({"no-such-program-here"});
  EXPECT_EQ(absent.kind, EndKind::kNotStarted);
  EXPECT_TRUE(absent.not_found);
  command_.folder = folder_ / "absent";
  EXPECT_EQ(run({"true"}).kind, EndKind::kNotStarted);
  EXPECT_FALSE(run_command(TrialCommand()).ok());
}

TEST_F(TrialCommandTest, TheLimitEndsTheWholeGroup) {
  // The child that is left would write after a second.
  const TrialEnd end = run(shell_words("(sleep 1; echo late >late) & trap '' TERM; sleep 30"), 0.2);
  EXPECT_EQ(end.kind, EndKind::kTimedOut);
  EXPECT_EQ(end_text(end, 0.2), "ended at its limit of 0.2 s");
  EXPECT_LT(end.wall_ns, 10'000'000'000);
  EXPECT_EQ(run({"sleep", "30"}, 0).kind, EndKind::kTimedOut);
}

TEST_F(TrialCommandTest, WhatIsLeftRunningIsKilled) {
  command_.folder = folder_;
  const TrialEnd end = run(shell_words("(sleep 1; echo late >late) & echo done"));
  EXPECT_TRUE(end.ok());
  EXPECT_EQ(log(), "done\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(1300));
  EXPECT_FALSE(fs::exists(folder_ / "late"));
}

// A daemon leaves the group and the session; it would disturb the next run all the same.
TEST_F(TrialCommandTest, WhatHasLeftTheGroupIsKilledToo) {
  command_.folder = folder_;
  run({"sh", "-c",
       "setsid sh -c 'echo $$ >pid.part; mv pid.part pid; sleep 60 & wait' & "
       "until test -e pid; do sleep 0.01; done"});
  const std::string pid = text_of(folder_ / "pid");
  ASSERT_FALSE(pid.empty());
  EXPECT_FALSE(process_start_ticks(std::stoll(pid)));
}

// Children that this program had before, and those of other commands, are not.
TEST_F(TrialCommandTest, OtherChildrenStay) {
  const pid_t other = fork();
  if (other == 0) {
    sleep(60);
    _exit(0);
  }
  TrialCommand longer = command_;
  longer.words = {"sh", "-c", "setsid sleep 0.7 & sleep 0.5; echo still"};
  longer.environment = {"PATH=/usr/bin:/bin"};
  longer.log = folder_ / "longer";
  std::thread beside([&] { EXPECT_TRUE(run_command(longer).ok()); });
  usleep(100'000);
  run({"true"});
  beside.join();
  EXPECT_EQ(text_of(folder_ / "longer"), "still\n");
  EXPECT_TRUE(process_start_ticks(other));
  kill(other, SIGKILL);
  int status = 0;
  waitpid(other, &status, 0);
}

TEST_F(TrialCommandTest, ALongLogKeepsItsBeginningAndItsEnd) {
  command_.log_limit = 1000;
  const TrialEnd end = run(shell_words("echo first; yes filler | head -c 5000000; echo last"));
  EXPECT_TRUE(end.ok());
  EXPECT_TRUE(end.log_cut);
  EXPECT_EQ(end.log_bytes, 5000011u);
  const std::string text = log();
  EXPECT_LT(text.size(), 1100u);
  EXPECT_TRUE(text.starts_with("first\nfiller\n"));
  EXPECT_TRUE(text.ends_with("last\n"));
  EXPECT_NE(text.find("[... 4999011 bytes left out ...]"), std::string::npos);
}

TEST_F(TrialCommandTest, NoLinkIsFollowedByTheLog) {
  std::ofstream(folder_ / "other") << "kept";
  fs::create_symlink(folder_ / "other", folder_ / "log");
  command_.words = {"echo", "x"};
  command_.log = folder_ / "log";
  EXPECT_FALSE(run_command(command_).ok());
  EXPECT_EQ(text_of(folder_ / "other"), "kept");
}

TEST_F(TrialCommandTest, UsageIsOfTheCommand) {
  const TrialEnd end =
      run({"python3", "-c", "x = bytearray(400_000_000)\nfor i in range(3_000_000): pass"});
  ASSERT_TRUE(end.ok()) << log();
  EXPECT_GT(end.user_ns + end.system_ns, 10'000'000);
  EXPECT_GT(end.max_rss_bytes.value_or(INT64_MAX), 390'000'000);
}

// What has left the process group and goes on writing neither holds the run up nor counts.
TEST_F(TrialCommandTest, AWriterThatIsLeftBehindHoldsNothingUp) {
  const TrialEnd end = run({"sh", "-c", "setsid timeout 5 yes & sleep 0.05"});
  EXPECT_TRUE(end.ok());
  EXPECT_LT(end.wall_ns, 900'000'000);
}

TEST_F(TrialCommandTest, ThePathOfTheCommandFindsIt) {
  test::write_file(folder_ / "bin/which-one", "#!/bin/sh\necho mine\n");
  std::filesystem::permissions(folder_ / "bin/which-one", std::filesystem::perms::owner_all);
  command_.environment = {"PATH=" + (folder_ / "bin").string() + ":/usr/bin:/bin"};
  EXPECT_TRUE(run({"which-one"}).ok());
  EXPECT_EQ(log(), "mine\n");
}

TEST_F(TrialCommandTest, ALogThatCannotBeWrittenIsAFailure) {
  command_.words = {"seq", "100000"};
  command_.log = "/dev/full";
  EXPECT_FALSE(run_command(command_).ok());
}

// As long as the disk takes to note the start, the command waits, and its clock too.
TEST_F(TrialCommandTest, NotingTheStartIsNotTimed) {
  command_.words = {"true"};
  const Result<TrialEnd> end = run_command(command_, [](void*, int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
  });
  ASSERT_TRUE(end.ok());
  EXPECT_LT(end.value().wall_ns, 500'000'000);
}

TEST_F(TrialCommandTest, AnInterruptEndsTheCommand) {
  const Interruption interruption;
  std::thread sender([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    kill(getpid(), SIGTERM);  // SIGINT is ignored in the background of a shell
  });
  const TrialEnd end = run({"sleep", "30"});
  sender.join();
  EXPECT_EQ(end.kind, EndKind::kInterrupted);
  EXPECT_EQ(Interruption::signal(), SIGTERM);
  EXPECT_LT(end.wall_ns, 10'000'000'000);
}

// Clocks that were locked are unlocked after an interrupt too.
TEST_F(TrialCommandTest, WhatPutsTheMachineBackIsNotCutShort) {
  const Interruption interruption;
  kill(getpid(), SIGTERM);
  EXPECT_EQ(run({"sleep", "0.1"}).kind, EndKind::kInterrupted);
  command_.heeds_interrupt = false;
  EXPECT_TRUE(run({"sleep", "0.3"}).ok());
}

TEST(ProcessStart, TellsAProcessFromAnotherOfItsId) {
  EXPECT_TRUE(process_start_ticks(getpid()));
  EXPECT_EQ(process_start_ticks(getpid()), process_start_ticks(getpid()));
  EXPECT_FALSE(process_start_ticks(0));
  EXPECT_FALSE(process_start_ticks(-5));
}

}  // namespace
}  // namespace fathom
