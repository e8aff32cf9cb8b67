#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "checks.h"
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

// --cpu-times FILE: appends the CPU seconds of each test with the processes it ran, and its name.
// Not those of a process that it left running.
class CpuTimes : public ::testing::EmptyTestEventListener {
 public:
  explicit CpuTimes(const char* file) : out_(std::fopen(file, "a")) {}
  CpuTimes(const CpuTimes&) = delete;
  CpuTimes& operator=(const CpuTimes&) = delete;
  ~CpuTimes() override {
    if (out_ != nullptr) std::fclose(out_);
  }

 private:
  static double used() {
    double seconds = 0;
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
      rusage usage = {};
      getrusage(who, &usage);
      for (const timeval& part : {usage.ru_utime, usage.ru_stime})
        seconds += static_cast<double>(part.tv_sec) + static_cast<double>(part.tv_usec) * 1e-6;
    }
    return seconds;
  }
  void OnTestStart(const ::testing::TestInfo& /*test*/) override { before_ = used(); }
  void OnTestEnd(const ::testing::TestInfo& test) override {
    if (out_ == nullptr) return;
    std::fprintf(out_, "%.3f %s.%s\n", used() - before_, test.test_suite_name(), test.name());
  }

  std::FILE* out_;
  double before_ = 0;
};

// --part 3/12: only this part of the tests. Those of one parameter stay together, since what they
// share (a trace that was read, its text) is kept by the process; gtest's shards spread them.
std::string tests_of_part(const char* part) {
  unsigned index = 0, parts = 0;
  if (std::sscanf(part, "%u/%u", &index, &parts) != 2 || index >= parts) return "no_such_part";
  std::string filter;
  std::map<std::string, size_t> groups;
  const auto& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      // "EveryTrace/CostLaws.SumsClose/llama_h200" is of the group "EveryTrace/llama_h200".
      const std::string of = suite.name(), name = suite.GetTestInfo(j)->name();
      const size_t slash = name.find('/');
      const std::string group =
          slash == name.npos ? of + "." + name : of.substr(0, of.find('/')) + name.substr(slash);
      if (groups.emplace(group, groups.size()).first->second % parts == index)
        filter += (filter.empty() ? "" : ":") + of + "." + name;
    }
  }
  return filter;
}

}  // namespace

// Ends with the one line that says it all.
int main(int argc, char** argv) {
  if (argc > 3 && std::strcmp(argv[1], "--peak-memory") == 0) return measure_peak(argv);
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::TestEventListeners& listeners = ::testing::UnitTest::GetInstance()->listeners();
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--accept") == 0) fathom::test::accept_goldens = true;
    if (std::strcmp(argv[i], "--cpu-times") == 0 && i + 1 < argc)
      listeners.Append(new CpuTimes(argv[i + 1]));
    if (std::strcmp(argv[i], "--part") == 0 && i + 1 < argc)
      ::testing::GTEST_FLAG(filter) = tests_of_part(argv[i + 1]);
  }
  listeners.Append(new TimeLimit);  // it deletes them
  const int code = RUN_ALL_TESTS();
  const auto& all = *::testing::UnitTest::GetInstance();
  std::printf("%d passed, %d failed, %d skipped\n", all.successful_test_count(),
              all.failed_test_count(), all.skipped_test_count());
  return code;
}
