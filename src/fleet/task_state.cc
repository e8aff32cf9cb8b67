#include "fleet/task_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <sstream>

#include "base/check.h"
#include "base/output_directory.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStages[] = {"waiting", "running", "done", "failed"};

fs::path state_path(const Fleet& fleet, const FleetTask& task) {
  return fleet.directory / "state" / task.part;
}

struct FileStamp {
  int64_t bytes = -1, modified_ns = -1;
};
FileStamp stamp_of(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return {};
  return {info.st_size, int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
}

int64_t number_of(const std::string& text) {
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::string_view stage_name(TaskStage stage) { return kStages[static_cast<size_t>(stage)]; }

FileDescriptor lock_task(const Fleet& fleet, const FleetTask& task) {
  const fs::path path = state_path(fleet, task) += ".lock";
  FileDescriptor lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!lock.ok() || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return {};
  return lock;
}

TaskState read_state(const Fleet& fleet, const FleetTask& task) {
  constexpr size_t kLargestState = 64 << 10;
  std::istringstream in(read_fleet_file(state_path(fleet, task), kLargestState).value_or(""));
  std::map<std::string, std::string, std::less<>> fields;
  for (std::string line; fields.size() < 20 && std::getline(in, line);) {
    const size_t tab = line.find('\t');
    if (tab != std::string::npos) fields[line.substr(0, tab)] = line.substr(tab + 1);
  }
  TaskState state;
  for (size_t i = 0; i < std::size(kStages); ++i)
    if (fields["stage"] == kStages[i]) state.stage = static_cast<TaskStage>(i);
  state.tries = std::clamp<int64_t>(number_of(fields["tries"]), 0, INT32_MAX);
  state.host = fields["host"];
  state.began_s = number_of(fields["began_s"]);
  state.ended_s = number_of(fields["ended_s"]);
  state.bytes = number_of(fields["bytes"]);
  state.modified_ns = number_of(fields["modified_ns"]);
  state.reason = fields["reason"];
  if (state.stage == TaskStage::kRunning && lock_task(fleet, task).ok())
    state.stage = TaskStage::kWaiting;
  if (state.stage == TaskStage::kDone) {
    const FileStamp now = stamp_of(task.trace);
    // A trace that is gone was exported all the same.
    const bool changed =
        now.bytes >= 0 && (now.bytes != state.bytes || now.modified_ns != state.modified_ns);
    std::error_code error;
    if (changed || !fs::exists(fleet.part_of(task) / "run.parquet", error))
      state.stage = TaskStage::kWaiting;
  }
  return state;
}

Status write_state(const Fleet& fleet, const FleetTask& task, const TaskState& state) {
  const FileStamp stamp = stamp_of(task.trace);
  std::string reason = state.reason;
  for (char& c : reason)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  const std::string text = fmt::format(
      "stage\t{}\ntries\t{}\nhost\t{}\nbegan_s\t{}\nended_s\t{}\nbytes\t{}\nmodified_ns\t{}\n"
      "reason\t{}\n",
      stage_name(state.stage), state.tries, state.host, state.began_s, state.ended_s, stamp.bytes,
      stamp.modified_ns, reason);
  const fs::path path = state_path(fleet, task);
  const fs::path next = fs::path(path) += ".next";
  TRY(write_new_file(next, path, text));
  if (std::rename(next.c_str(), path.c_str()) != 0)
    return Error{fmt::format("cannot write {}: {}", path.string(), std::strerror(errno))};
  return Nothing{};
}

FleetStatus fleet_status(const Fleet& fleet) {
  FleetStatus status;
  for (const FleetTask& task : fleet.tasks) {
    status.tasks.push_back(read_state(fleet, task));
    switch (status.tasks.back().stage) {
      case TaskStage::kWaiting:
        ++status.waiting;
        break;
      case TaskStage::kRunning:
        ++status.running;
        break;
      case TaskStage::kDone:
        ++status.done;
        break;
      case TaskStage::kFailed:
        ++status.failed;
        break;
    }
  }
  return status;
}

}  // namespace fathom
