#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "checks.h"
#include "test_files.h"

namespace fathom {

// `fathom run` as a program, on a plan in a folder of its own.
class RunPlan : public ::testing::Test {
 protected:
  void write_plan(const std::string& experiments);
  test::CommandResult run(const std::string& arguments);
  std::string text(const std::filesystem::path& name);
  // Starts the program in a process group of its own, with its output dropped.
  pid_t start(std::vector<std::string> arguments);
  // The names of finished runs, in the order of the journal.
  std::vector<std::string> finished(const std::filesystem::path& out);

  test::TemporaryDirectory directory_;
};

// Two configurations with eight runs each, and a warm-up; each run marks its begin and end.
inline constexpr const char* kMarks = R"(
[[experiment]]
id = "E1"
name = "marks"
command = ["sh", "-c", "echo begin $0 >>marks; sleep 0.02; echo end $0 >>marks; echo value: 3"]
recorded = false
needs_gpu = false
repetitions = 8
warmup = 1
time_limit = 20
[[experiment.configuration]]
name = "a"
arguments = ["a"]
[[experiment.configuration]]
name = "b"
arguments = ["b"]
[[experiment.expected]]
metric = "log_value"
subject = "value: {int}"
low = 3
high = 3
)";

}  // namespace fathom
