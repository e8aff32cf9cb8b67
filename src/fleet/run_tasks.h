#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fleet/task_state.h"

namespace fathom {

// How one trace is exported: the words before its path, and what follows it.
struct ExportCommand {
  std::filesystem::path program;
  std::vector<std::string> environment;  // "NAME=value"
};

enum class TaskOutcome : uint8_t { kDone, kDoneBefore, kHeldElsewhere, kFailed };
// Exports a trace into its partition, and keeps how it went in the state and the log. An error is
// that even this could not be written.
Result<TaskOutcome> run_task(const Fleet& fleet, const FleetTask& task,
                             const ExportCommand& command);

// Tasks as processes of this machine, or through a runner, until all are done or have failed
// `tries` times.
struct FleetRun {
  std::vector<std::string> words;  // "fathom fleet task DIR --trace", before the number
  // A text for the shell in which {command} stands for the words, quoted, and {host} for one of the
  // hosts in turn; empty: the words themselves.
  std::string runner;
  std::vector<std::string> hosts;
  int64_t at_once = 1, tries = 2;
};
// Called after each attempt, with the status so far.
using TaskEnded = std::function<void(const FleetTask& task, const TaskState& state)>;
// What is left undone when it returns is in the status. Fails where no process can be started.
Status run_fleet(const Fleet& fleet, const FleetRun& plan, const TaskEnded& ended);

}  // namespace fathom
