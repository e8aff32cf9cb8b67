// Inputs made to exhaust the machine: what the program may take is bounded, whatever they unfold
// to.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

#include "checks.h"
#include "hostile/sanitizer.h"
#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOp =
    R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":10,"dur":20},)"
    R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":12,"dur":5,)"
    R"("args":{"correlation":7}},)";
constexpr std::string_view kKernelEvent =
    R"({"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":40,"dur":3000,)"
    R"("args":{"stream":7,"correlation":7}})";

struct Outcome {
  int status = 0;
  int64_t peak_megabytes = 0;
  std::string output;
};

class BoundedMemory : public testing::Test {
 protected:
  // "{FRONT}" + so many megabytes of one byte + "{BACK}", through the command.
  void make(const std::string& name, std::string_view front, char filler, int megabytes,
            std::string_view back, const std::string& through = "cat") {
    test::write_file(directory_.path() / "front", front);
    test::write_file(directory_.path() / "back", back);
    const test::CommandResult made = test::run_command(
        fmt::format(
            "{{ cat front; head -c {}000000 /dev/zero | tr '\\0' '{}'; cat back; }} | {} >{}",
            megabytes, filler, through, name),
        directory_.path());
    ASSERT_EQ(made.exit_code, 0) << made.errors;
  }

  // The same text as gzip: a member of 50 MB written over and over, since packing it all takes
  // long.
  void make_bomb(const std::string& name, std::string_view front, char filler, int megabytes,
                 std::string_view back) {
    make("member", "", filler, 50, "", "gzip -1");
    test::write_file(directory_.path() / "front", front);
    test::write_file(directory_.path() / "back", back);
    const test::CommandResult made = test::run_command(
        fmt::format(
            "{{ gzip -1 <front; for i in $(seq {}); do cat member; done; gzip -1 <back; }} >{}",
            megabytes / 50, name),
        directory_.path());
    ASSERT_EQ(made.exit_code, 0) << made.errors;
  }

  Outcome analyze(const std::string& name, std::vector<std::string> options = {}) {
    const fs::path peak = directory_.path() / "peak";
    std::vector<std::string> words = {
        "fathom_tests", "--peak-memory", peak.string(), test::fathom_binary(), "analyze",
        name,           "--json",        "--out",       name + ".report"};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const fs::path output = directory_.path() / "output";
    const pid_t child = fork();
    if (child == 0) {
      if (chdir(directory_.path().c_str()) != 0 || !freopen(output.c_str(), "w", stdout) ||
          dup2(STDOUT_FILENO, STDERR_FILENO) < 0) {
        _exit(126);
      }
      execv("/proc/self/exe", argv.data());
      _exit(127);
    }
    Outcome run;
    int measured = 0;
    EXPECT_EQ(waitpid(child, &measured, 0), child);
    EXPECT_EQ(measured, 0);
    std::istringstream numbers(test::read_file(peak));
    numbers >> run.status >> run.peak_megabytes;
    run.peak_megabytes /= 1024;
    EXPECT_GT(run.peak_megabytes, 0);
    run.output = test::read_file(output);
    return run;
  }

  static void expect_read(const Outcome& run, int64_t megabytes) {
    EXPECT_TRUE(WIFEXITED(run.status) && WEXITSTATUS(run.status) == 0)
        << run.output.substr(0, 2000);
    if (test::kMemoryIsOurs) {
      EXPECT_LT(run.peak_megabytes, megabytes);
    }
  }

  test::TemporaryDirectory directory_;
};

// 400 MB of white space in 0.4 MB of gzip, between two events.
TEST_F(BoundedMemory, AGzipBombOfWhiteSpace) {
  make_bomb("bomb.json.gz", fmt::format("{{\"traceEvents\":[{}", kOp), ' ', 400,
            fmt::format("{}]}}", kKernelEvent));
  const Outcome run = analyze("bomb.json.gz");
  expect_read(run, 150);
  EXPECT_NE(run.output.find("aten::mm"), std::string::npos);
}

TEST_F(BoundedMemory, TheSizeAllowedBoundsABomb) {
  make_bomb("bomb.json.gz", fmt::format("{{\"traceEvents\":[{}{},", kOp, kKernelEvent), ' ', 400,
            "]}");
  const Outcome run = analyze("bomb.json.gz", {"--max-size", "50MB"});
  expect_read(run, 150);
  EXPECT_NE(run.output.find("size_limit"), std::string::npos) << run.output.substr(0, 2000);
}

// A string that never ends is an event too large to hold: what came before it is analyzed.
TEST_F(BoundedMemory, AGzipBombOfOneString) {
  make_bomb("bomb.json.gz", fmt::format("{{\"traceEvents\":[{}{},{{\"name\":\"", kOp, kKernelEvent),
            'a', 1500, "\"}]}");
  const Outcome run = analyze("bomb.json.gz");
  expect_read(run, 1200);
  EXPECT_NE(run.output.find("aten::mm"), std::string::npos);
  EXPECT_NE(run.output.find("oversized_event"), std::string::npos) << run.output.substr(0, 2000);
}

// Brackets that nothing closes are followed as damage: not a place kept for each of them.
TEST_F(BoundedMemory, OpenBrackets) {
  for (const char bracket : {'[', '{'}) {
    make("open.json", fmt::format("{{\"traceEvents\":[{}{},", kOp, kKernelEvent), bracket, 20, "");
    const Outcome run = analyze("open.json");
    expect_read(run, 235);
    EXPECT_NE(run.output.find("aten::mm"), std::string::npos);
  }
}

// 15 MB as a name and as an argument: legal, and read as what they are.
TEST_F(BoundedMemory, AStringOfFifteenMegabytes) {
  make("name.json",
       fmt::format("{{\"traceEvents\":[{}{},{{\"ph\":\"X\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":1,"
                   "\"ts\":50,\"dur\":1,\"name\":\"",
                   kOp, kKernelEvent),
       'a', 15, "\"}]}");
  expect_read(analyze("name.json"), 155);
  make("args.json",
       R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":10,)"
       R"("dur":20,"args":{"Concrete Inputs":[")",
       'a', 15, fmt::format("\"]}}}},{}{}]}}", kOp, kKernelEvent));
  expect_read(analyze("args.json"), 290);
}

}  // namespace
}  // namespace fathom
