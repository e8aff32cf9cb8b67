#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/trial/bench_text.h"

namespace fathom {

struct BenchRequest {
  std::vector<std::vector<std::string>> commands;  // argument lists
  std::vector<std::string> environment;            // "NAME=value"
  int64_t runs = 10, warmup = 1;                   // of each command
  double limit_s = 600;                            // of one run
  bool allow_failure = false;
  int64_t recorded_runs = 3;  // of each under `fathom record`; 0: none
  std::vector<std::string> record_options;
  std::filesystem::path program;  // fathom itself
};

// Called before each run.
using BenchProgress = void (*)(void* context, int64_t done, int64_t all);

// Runs the commands in turn. An interrupt ends the run that is under way; what was measured until
// then is the result.
Result<BenchResult> bench_commands(const BenchRequest& request, BenchProgress progress = nullptr,
                                   void* context = nullptr);

// `fathom record` writes run.capture, run-2.capture, …: those that are there.
std::vector<std::filesystem::path> captures_at(const std::filesystem::path& first);

}  // namespace fathom
