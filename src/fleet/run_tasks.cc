#include "fleet/run_tasks.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <deque>
#include <fstream>
#include <map>

#include "base/shell_text.h"
#include "trial/command.h"

extern char** environ;

namespace fathom {
namespace {

namespace fs = std::filesystem;

// No limit of time: Slurm and the user have theirs.
constexpr double kNoLimitS = 30.0 * 24 * 3600;

std::string this_host() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

// The last thing that our program complained of, "fathom: trace.json: not JSON", else the last
// line.
std::string last_complaint(const fs::path& log) {
  constexpr std::string_view kMark = "fathom: ";
  std::ifstream in(log, std::ios::binary);
  std::string last, complaint;
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    last = line;
    if (line.starts_with(kMark)) complaint = line.substr(kMark.size());
  }
  return (complaint.empty() ? last : complaint).substr(0, 400);
}

FileDescriptor lock_soon(const Fleet& fleet, const FleetTask& task) {
  for (int tries = 0; tries < 20; ++tries) {  // `fleet status` holds it for a moment
    FileDescriptor lock = lock_task(fleet, task);
    if (lock.ok()) return lock;
    usleep(50'000);
  }
  return {};
}

class Children {
 public:
  explicit Children(const FleetRun& plan) : plan_(plan) {}

  Status start(size_t task) {
    std::vector<std::string> words = plan_.words;
    words.push_back(std::to_string(task));
    if (!plan_.runner.empty()) {
      std::string text = plan_.runner, command;
      for (const std::string& word : words)
        command += (command.empty() ? "" : " ") + shell_word(word);
      const std::string host =
          plan_.hosts.empty() ? "" : plan_.hosts[started_ % plan_.hosts.size()];
      replace_all(text, "{host}", shell_word(host));
      replace_all(text, "{command}", command);
      words = shell_words(text);
    }
    ++started_;
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t pid = 0;
    const int failed =
        posix_spawnp(&pid, arguments[0], nullptr, nullptr, arguments.data(), environ);
    if (failed != 0)
      return Error{fmt::format("cannot run {}: {}", words[0], std::strerror(failed))};
    running_[pid] = task;
    return Nothing{};
  }

  // The task whose process ended next, and how.
  std::pair<size_t, int> wait() {
    for (;;) {
      int how = 0;
      const pid_t pid = waitpid(-1, &how, 0);
      if (pid < 0 && errno == EINTR) continue;
      const auto at = running_.find(pid);
      if (at == running_.end()) continue;
      const size_t task = at->second;
      running_.erase(at);
      return {task, how};
    }
  }

  size_t size() const { return running_.size(); }

 private:
  static void replace_all(std::string& text, std::string_view from, const std::string& to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  }

  const FleetRun& plan_;
  std::map<pid_t, size_t> running_;
  size_t started_ = 0;
};

}  // namespace

Result<TaskOutcome> run_task(const Fleet& fleet, const FleetTask& task,
                             const ExportCommand& command) {
  const FileDescriptor lock = lock_soon(fleet, task);
  if (!lock.ok()) return TaskOutcome::kHeldElsewhere;
  TaskState state = read_state(fleet, task);
  if (state.stage == TaskStage::kDone) return TaskOutcome::kDoneBefore;
  state.stage = TaskStage::kRunning;
  ++state.tries;
  state.host = this_host();
  state.began_s = std::time(nullptr);
  state.ended_s = 0;
  state.reason.clear();
  TRY(write_state(fleet, task, state));
  TrialCommand trial;
  trial.words = {command.program.string(),     "export", task.trace, "--to",
                 fleet.part_of(task).string(), "--quiet"};
  trial.environment = command.environment;
  trial.limit_s = kNoLimitS;
  trial.log = fleet.directory / "logs" / (task.part + ".log");
  trial.ends_child = true;
  trial.heeds_interrupt = false;  // what ends this process ends its child
  const TrialEnd end = TRY(run_command(trial));
  state.ended_s = std::time(nullptr);
  state.stage = end.ok() ? TaskStage::kDone : TaskStage::kFailed;
  if (!end.ok()) {
    const std::string line = last_complaint(trial.log);
    state.reason = end_text(end, trial.limit_s) + (line.empty() ? "" : ": " + line);
  }
  TRY(write_state(fleet, task, state));
  return end.ok() ? TaskOutcome::kDone : TaskOutcome::kFailed;
}

Status run_fleet(const Fleet& fleet, const FleetRun& plan, const TaskEnded& ended) {
  std::deque<size_t> left;
  std::map<size_t, int64_t> tried;
  for (size_t i = 0; i < fleet.tasks.size(); ++i)
    if (read_state(fleet, fleet.tasks[i]).stage != TaskStage::kDone) left.push_back(i);
  Children children(plan);
  while (!left.empty() || children.size() > 0) {
    while (!left.empty() && children.size() < static_cast<size_t>(plan.at_once)) {
      TRY(children.start(left.front()));
      ++tried[left.front()];
      left.pop_front();
    }
    const auto [index, how] = children.wait();
    const FleetTask& task = fleet.tasks[index];
    TaskState state = read_state(fleet, task);
    if (state.stage != TaskStage::kDone && state.reason.empty()) {
      // It did not come to writing one: a runner that failed, or it was killed.
      state.stage = TaskStage::kFailed;
      state.reason = WIFSIGNALED(how)
                         ? fmt::format("its process was killed by signal {}", WTERMSIG(how))
                         : fmt::format("its process ended with exit status {}", WEXITSTATUS(how));
    }
    if (state.stage != TaskStage::kDone && tried[index] < plan.tries)
      left.push_back(index);
    else
      ended(task, state);
  }
  return Nothing{};
}

}  // namespace fathom
