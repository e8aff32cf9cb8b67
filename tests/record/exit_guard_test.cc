#include "record/exit_guard.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "checks.h"

namespace fathom {
namespace {

void hang_in_a_guard() {
  const record::ExitGuard guard(std::chrono::milliseconds(50),
                                [] { std::fputs("too late", stderr); });
  while (true) pause();
}

void pass_a_guard() {
  const record::ExitGuard guard(std::chrono::seconds(60), [] { std::fputs("too late", stderr); });
}

TEST(ExitGuard, AHandlerThatHangsEndsWithTheProgramsStatus) {
  EXPECT_EXIT(
      {
        std::atexit(hang_in_a_guard);
        record::remember_exit_status();
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "too late");
}

TEST(ExitGuard, AHandlerThatEndsIsLeftAlone) {
  EXPECT_EXIT(
      {
        std::atexit(pass_a_guard);
        record::remember_exit_status();
        std::exit(3);
      },
      ::testing::ExitedWithCode(3), "^$");
}

// What CUPTI does: it sets something up for a while, and registers what takes it down.
std::mutex set_up;
std::atomic<bool> is_set_up = false;
void wait_for_set_up() { const std::lock_guard lock(set_up); }
void take_down() {
  if (!is_set_up) _exit(9);
}

TEST(NewestAtExit, RunsBeforeWhatTheSetUpHasRegistered) {
  EXPECT_EXIT(
      {
        const std::function<void()> register_it = [] { std::atexit(wait_for_set_up); };
        std::thread([&] {
          const std::lock_guard lock(set_up);
          const record::NewestAtExit newest(register_it);
          std::atexit(take_down);
          std::this_thread::sleep_for(std::chrono::milliseconds(300));
          is_set_up = true;
        }).detach();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "^$");
}

}  // namespace
}  // namespace fathom
