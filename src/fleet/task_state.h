#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "fleet/fleet.h"

namespace fathom {

enum class TaskStage : uint8_t { kWaiting, kRunning, kDone, kFailed };
// "waiting", "running", "done", "failed".
std::string_view stage_name(TaskStage stage);

// How the task of a trace stands, as its last attempt left it in state/NAME.
struct TaskState {
  TaskStage stage = TaskStage::kWaiting;
  int64_t tries = 0;
  std::string host;                    // of the last attempt
  int64_t began_s = 0, ended_s = 0;    // since 1970
  int64_t bytes = 0, modified_ns = 0;  // of the trace that was exported
  std::string reason;                  // kFailed
};

// kDone only where the trace is the one that was exported and its tables are there. kRunning only
// where an attempt holds the lock; what was killed is waiting again.
TaskState read_state(const Fleet& fleet, const FleetTask& task);
// Replaces the file, whole or not at all.
Status write_state(const Fleet& fleet, const FleetTask& task, const TaskState& state);

// Held while a task runs, so that two attempts do not meet; not ok where another holds it.
FileDescriptor lock_task(const Fleet& fleet, const FleetTask& task);

struct FleetStatus {
  std::vector<TaskState> tasks;  // as Fleet::tasks
  int64_t waiting = 0, running = 0, done = 0, failed = 0;
};
FleetStatus fleet_status(const Fleet& fleet);

}  // namespace fathom
