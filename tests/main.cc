#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include "test_files.h"

namespace {

// fathom_tests --peak-memory FILE COMMAND...: runs the command and writes its status and the most
// memory that it held, in kB. From a process of its own: a child counts what the process held that
// it was forked from, and the tests may have held much.
int measure_peak(char** argv) {
  const pid_t child = fork();
  if (child == 0) {
    execv(argv[3], argv + 3);
    _exit(127);
  }
  int status = 0;
  rusage usage = {};
  std::FILE* out = std::fopen(argv[2], "w");
  if (child < 0 || out == nullptr || wait4(child, &status, 0, &usage) != child) return 1;
  std::fprintf(out, "%d %ld\n", status, usage.ru_maxrss);
  return std::fclose(out) == 0 ? 0 : 1;
}

// A test that hangs ends the program and names itself, instead of holding ./test for ever.
class TimeLimit : public ::testing::EmptyTestEventListener {
  static constexpr unsigned kSeconds = 600;
  static inline char message[300];

  void OnTestStart(const ::testing::TestInfo& test) override {
    std::snprintf(message, sizeof(message), "[  FAILED  ] %s.%s did not end within %u s\n",
                  test.test_suite_name(), test.name(), kSeconds);
    std::signal(SIGALRM, [](int) {
      if (write(STDOUT_FILENO, message, std::strlen(message)) >= 0) _exit(1);
      _exit(2);
    });
    alarm(kSeconds);
  }
  void OnTestEnd(const ::testing::TestInfo& /*test*/) override { alarm(0); }
};

}  // namespace

// Ends with the one line that says it all.
int main(int argc, char** argv) {
  if (argc > 3 && std::strcmp(argv[1], "--peak-memory") == 0) return measure_peak(argv);
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--accept") == 0) fathom::test::accept_goldens = true;
  }
  ::testing::UnitTest::GetInstance()->listeners().Append(new TimeLimit);  // which deletes it
  const int code = RUN_ALL_TESTS();
  const auto& all = *::testing::UnitTest::GetInstance();
  std::printf("%d passed, %d failed, %d skipped\n", all.successful_test_count(),
              all.failed_test_count(), all.skipped_test_count());
  return code;
}
