#include "record/exit_guard.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

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

}  // namespace
}  // namespace fathom
