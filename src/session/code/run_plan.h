#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan_file.h"
#include "plan/run/results.h"
#include "trial/machine_state.h"

namespace fathom {

struct RunPlanRequest {
  std::filesystem::path plan;     // plan.toml
  std::filesystem::path out;      // folder of the results
  std::vector<std::string> only;  // ids of experiments; empty: all
  bool resume = false;
  std::filesystem::path replay;          // a recorded folder; empty: the commands are run
  std::optional<int64_t> lock_clocks;    // MHz, by nvidia-smi
  std::vector<std::string> environment;  // "NAME=value"
  std::filesystem::path program;         // fathom itself
  RecordValueCheck* check = nullptr;     // of the values of record's options
  bool has_gpu = false;
  MachineState machine;
  std::string environment_page;  // environment.md; empty: none
  bool page = true;              // report.html too
};

// A plan that was read and checked, and what of it is left to run.
struct PreparedRun {
  Plan plan;
  std::string text;              // of plan.toml
  std::filesystem::path folder;  // the repository that commands run in
  std::filesystem::path out;     // absolute
  std::vector<ScheduledRun> runs;
  std::vector<ScheduledRun> to_run;  // without what is finished or cannot run here
  std::vector<std::string> shown;    // every command that will be run
  std::vector<std::string> notes;    // what will not be run, and why
};

// That an experiment runs in: below the repository, and there.
Result<std::filesystem::path> working_folder(const Experiment& experiment,
                                             const std::filesystem::path& repository);

// Reads and checks; runs and writes nothing. A fault of the plan is one line of the error each.
Result<PreparedRun> prepare_run(const RunPlanRequest& request);

struct RunPlanResult {
  PlanResults results;
  size_t failed_runs = 0;
  std::vector<std::string> not_made;    // runs that a budget left out, and why
  std::vector<std::string> lost_files;  // of runs that were finished earlier
  bool interrupted = false;
};
// Runs what is left, one line for each run to `progress`, and writes the results: results.md,
// results.json, report.html, tables/, stories/, logs/, captures/. What is finished is in the
// journal before the next run begins.
Result<RunPlanResult> run_plan(const RunPlanRequest& request, const PreparedRun& prepared,
                               const std::function<void(const std::string&)>& progress);

// The wall time that `fathom record --json` printed last, in nanoseconds.
std::optional<int64_t> recorded_wall_ns(std::string_view log);

}  // namespace fathom
