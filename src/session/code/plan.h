#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/output_directory.h"
#include "base/progress.h"
#include "doctor/environment.h"
#include "plan/plan.h"
#include "plan/plan_file.h"

namespace fathom {

// What is asked for with a plan.
struct PlanRequest {
  std::string goal, repository;
  std::string platform;  // by its name or a file; empty: the machine's, or the goal's
  std::string command;
  std::vector<std::string> parameters;  // NAME=VALUE
  std::optional<double> budget;         // s
  std::string named;                    // how plan.toml names the repository; empty: as given
  Environment machine;
  size_t threads = 0;
  ProgressCallback progress;
};

// Reads the repository and plans. Nothing is run or written.
Result<Plan> plan_experiments(const PlanRequest& request);

// repos/llm.c/ → repos/llm.c.fathom-plan.
Result<std::filesystem::path> default_plan_directory(const std::string& repository);
// plan.md and plan.toml, whole or not at all; sentences about files that were in the way.
Result<std::vector<std::string>> write_plan(const Plan& plan, const OutputPlace& place);

// As RecordValueCheck: the forms of probes, patterns, times and sets of counters.
std::optional<std::string> record_value_mistake(std::string_view option, const std::string& value);

}  // namespace fathom
