#include "session/record.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>

#include "base/byte_source.h"
#include "base/staging.h"
#include "events/intervals.h"
#include "ingest/capture/chunk_reader.h"
#include "ingest/capture/reader.h"
#include "probe/native_probe.h"
#include "record/record_settings.h"
#include "session/complete_capture.h"
#include "session/counter_plan.h"
#include "session/native_calls.h"
#include "session/ncu_run.h"
#include "session/watched_program.h"

extern const std::string_view record_sitecustomize_py;

namespace fathom {
namespace {

namespace fs = std::filesystem;

std::atomic<bool> window_asked = false;
void ask_for_window(int) { window_asked = true; }

// SIGUSR2 begins a window, while this lives.
class WindowSignal {
 public:
  WindowSignal() {
    struct sigaction action = {};
    action.sa_handler = ask_for_window;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR2, &action, &old_);
  }
  ~WindowSignal() { sigaction(SIGUSR2, &old_, nullptr); }
  WindowSignal(const WindowSignal&) = delete;
  WindowSignal& operator=(const WindowSignal&) = delete;

 private:
  struct sigaction old_ = {};
};

void set_variable(std::vector<std::string>& environment, std::string_view name,
                  const std::string& value) {
  std::erase_if(environment, [&](const std::string& line) {
    return line.size() > name.size() && line.starts_with(name) && line[name.size()] == '=';
  });
  environment.push_back(fmt::format("{}={}", name, value));
}

std::string variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& line : environment) {
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == '=')
      return line.substr(name.size() + 1);
  }
  return {};
}

// Why the program has to be left alone: CUDA loads one tool, and others refuse to share.
std::string other_profiler(const std::vector<std::string>& environment) {
  const std::string library = variable(environment, "CUDA_INJECTION64_PATH");
  if (!library.empty()) return fmt::format("CUDA_INJECTION64_PATH names another tool, {}", library);
  for (const std::string_view name : {"NV_TPS_LAUNCH_TOKEN", "NV_COMPUTE_PROFILER_PERFWORKS_DIR"}) {
    if (!variable(environment, name).empty()) return "Nsight Compute is running this program";
  }
  return {};
}

std::vector<std::string> python_probes(const RecordRequest& request) {
  std::vector<std::string> probes = request.probes;
  std::erase_if(probes, probe::is_native_probe);
  return probes;
}

NativeProbes native_probes(const RecordRequest& request) {
  NativeProbes native{request.probes, request.probe_library};
  std::erase_if(native.probes, std::not_fn(probe::is_native_probe));
  return native;
}

std::string options_text(const RecordRequest& request) {
  std::string text;
  const auto add = [&text](bool wanted, std::string_view word) {
    if (!wanted) return;
    if (!text.empty()) text += ',';
    text += word;
  };
  add(request.graph_nodes, record::kGraphNodes);
  add(request.allocations, record::kAllocations);
  add(request.all_calls, record::kAllCalls);
  add(request.pc_sampling.has_value(),
      fmt::format("{}={}", record::kPcSampling, request.pc_sampling.value_or(0)));
  add(!request.clocks, record::kNoClocks);
  add(request.torch, "torch");
  add(request.python_stacks, "python-stacks");
  add(request.wait_for_signal || !request.trigger_file.empty(), record::kDormant);
  if (request.window_ms) add(true, fmt::format("{}{}", record::kWindow, *request.window_ms));
  if (request.sampling_ns)
    add(true, fmt::format("{}{}", record::kPmSampling, *request.sampling_ns));
  if (request.before_ms) add(true, fmt::format("{}{}", record::kBefore, *request.before_ms));
  return text;
}

// What the program gets to see beside its own.
Result<std::vector<std::string>> watched_environment(const RecordRequest& request,
                                                     const fs::path& directory) {
  std::vector<std::string> environment = request.environment;
  set_variable(environment, record::kDirectoryVariable, directory.string());
  set_variable(environment, record::kOptionsVariable, options_text(request));
  std::string libraries;
  for (const fs::path& path : request.cupti) {
    if (!libraries.empty()) libraries += ':';
    libraries += path.string();
  }
  set_variable(environment, record::kCuptiVariable, libraries);
  set_variable(environment, "CUDA_INJECTION64_PATH", request.library.string());
  set_variable(environment, "NVTX_INJECTION64_PATH", request.library.string());
  // A program that profiles itself with PyTorch would print that CUPTI is taken.
  if (variable(environment, "KINETO_LOG_LEVEL").empty())
    set_variable(environment, "KINETO_LOG_LEVEL", "5");
  add_native_environment(native_probes(request), directory, environment);
  const std::vector<std::string> in_python = python_probes(request);
  if (!request.torch && in_python.empty()) return environment;
  const fs::path hooks = directory / "python";
  std::error_code error;
  fs::create_directory(hooks, error);
  std::ofstream hook(hooks / "sitecustomize.py");
  hook << record_sitecustomize_py;
  hook.close();
  if (!hook) return Error{fmt::format("cannot write in {}", hooks.string())};
  const std::string old = variable(environment, "PYTHONPATH");
  set_variable(environment, "PYTHONPATH", hooks.string() + (old.empty() ? "" : ":" + old));
  std::string probes;
  for (const std::string& probe : in_python) probes += probe + "\n";
  set_variable(environment, "FATHOM_RECORD_PROBES", probes);
  return environment;
}

std::string shown_command(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

Result<fs::path> choose_place(const RecordRequest& request) {
  std::error_code error;
  if (!request.out.empty()) {
    TRY(check_file_place(request.out));
    if (fs::exists(request.out, error) && !request.force &&
        !capture::is_capture_file(request.out.string())) {
      return Error{fmt::format("{} exists and is no capture; use another name or --force",
                               request.out.string())};
    }
    return request.out;
  }
  const std::string name = fs::path(request.command[0]).filename().string();
  fs::path path = name + ".capture";
  for (int n = 2; fs::exists(path, error); ++n) path = fmt::format("{}-{}.capture", name, n);
  return path;
}

fs::path numbered(const fs::path& out, size_t index) {
  if (index == 0) return out;
  fs::path path = out;
  path.replace_filename(
      fmt::format("{}-{}{}", out.stem().string(), index + 1, out.extension().string()));
  return path;
}

// The next name of a capture of this recording. As with the first, a capture is replaced where the
// user chose the name; another file is passed over, and so is any file where the name is ours.
fs::path next_place(const RecordRequest& request, const fs::path& out, size_t& number) {
  std::error_code error;
  fs::path path = numbered(out, number++);
  while (number > 1 && !request.force && fs::exists(fs::symlink_status(path, error)) &&
         (request.out.empty() || !capture::is_capture_file(path.string())))
    path = numbered(out, number++);
  return path;
}

// Notes of the recorder and of the hook: each once, with how many processes say so.
std::vector<std::string> read_notes(const fs::path& directory) {
  std::vector<std::pair<std::string, int>> notes;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() != ".note") continue;
    std::ifstream file(entry.path());
    std::string line;
    while (std::getline(file, line) && notes.size() < 100) {
      const auto known = std::ranges::find(notes, line, &std::pair<std::string, int>::first);
      if (known == notes.end())
        notes.emplace_back(line, 1);
      else
        ++known->second;
    }
  }
  std::vector<std::string> texts;
  for (const auto& [text, count] : notes)
    texts.push_back(count == 1 ? text : fmt::format("{} ({} times)", text, count));
  std::ranges::sort(texts);
  return texts;
}

Result<CaptureSummary> summarize_capture(const fs::path& path, int64_t pid) {
  CaptureSummary summary;
  summary.path = path;
  summary.pid = pid;
  std::error_code error;
  summary.bytes = static_cast<int64_t>(fs::file_size(path, error));
  const std::unique_ptr<ByteSource> source = TRY(open_source(path.string()));
  const EventStore store = TRY(capture::read_capture(*source, path.string()));
  Nanos first{INT64_MAX}, last{INT64_MIN};
  std::vector<Interval> work;
  for (EventId e(0); e.index < store.size(); ++e.index) {
    const EventKind kind = store.kind(e);
    summary.kernels += kind == EventKind::kKernel ? 1 : 0;
    summary.copies += kind == EventKind::kMemcpy || kind == EventKind::kMemset ? 1 : 0;
    summary.launches += is_launch(kind) ? 1 : 0;
    summary.ops += kind == EventKind::kCpuOp ? 1 : 0;
    summary.ranges += kind == EventKind::kAnnotation ? 1 : 0;
    first = std::min(first, store.start(e));
    last = std::max(last, store.end(e));
    if (is_gpu_work(kind)) work.push_back({store.start(e), store.end(e)});
  }
  if (store.size() > 0) summary.covered = last - first;
  summary.busy = total_length(merge_intervals(std::move(work)));
  summary.lost = store.diagnostics().count(Flaw::kLostRecords);
  return summary;
}

// Whether a process left anything that is worth a file.
bool has_events(const CaptureSummary& summary) {
  return summary.kernels + summary.copies + summary.ops + summary.ranges + summary.launches > 0;
}

Status write_lines(const fs::path& path, const std::vector<std::string>& lines) {
  std::ofstream file(path);
  for (const std::string& line : lines) file << line << '\n';
  file.close();
  if (!file) return Error{fmt::format("cannot write {}", path.string())};
  return Nothing{};
}

// Runs the program again, to count the kernels that took most of the time.
Status count_kernels(const RecordRequest& request, const fs::path& directory,
                     std::vector<ProcessRecords>& processes, RecordResult& result) {
  if (request.counters.empty()) return Nothing{};
  std::vector<std::string> keys;
  for (const ProcessRecords& process : processes) {
    if (process.capture.empty()) continue;
    const KernelsToCount chosen = TRY(choose_kernels(process.capture));
    for (const std::string& key : chosen.keys) {
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  if (keys.empty()) {
    result.notes.emplace_back("no counters: no kernels were recorded that could be counted");
    return Nothing{};
  }
  const fs::path second = directory / "counters";
  std::error_code error;
  fs::create_directory(second, error);
  TRY(write_lines(second / record::kKernelsFile, keys));
  TRY(write_lines(second / record::kMetricsFile, request.counters));
  RecordRequest again = request;
  again.sampling_ns.reset();
  again.torch = again.python_stacks = false;
  again.probes.clear();
  WatchedProgram program;
  program.command = request.command;
  program.environment = TRY(watched_environment(again, second));
  set_variable(program.environment, record::kOptionsVariable,
               request.replay ? fmt::format("{},{}", record::kCounters, record::kReplay)
                              : std::string(record::kCounters));
  const ProgramEnd end = TRY(run_watched(program));
  for (std::string& note : read_notes(second)) result.notes.push_back(std::move(note));
  if (end.status != result.status) {
    result.notes.emplace_back(
        "the program ended in another way when it ran again for the counters; they may be "
        "incomplete");
  }
  std::vector<ProcessRecords> counted = find_processes(second);
  std::erase_if(counted, [](const ProcessRecords& process) { return process.capture.empty(); });
  size_t next = 0;
  for (ProcessRecords& process : processes) {
    if (!process.capture.empty() && next < counted.size())
      process.counters = counted[next++].capture;
  }
  return Nothing{};
}

Status bring_home(const RecordRequest& request, const fs::path& directory, const fs::path& out,
                  const std::vector<LoggedNumber>& logged, const TimeWindows& windows,
                  RecordResult& result) {
  std::vector<ProcessRecords> processes = find_processes(directory);
  TRY(count_kernels(request, directory, processes, result));
  if (request.use_ncu) {
    TRY(count_with_ncu({request.ncu, request.command, request.environment, request.ncu_set},
                       directory, processes, result));
  }
  if (processes.empty() && !logged.empty()) processes.push_back({});
  bool first = true;
  size_t made = 0;
  for (ProcessRecords& process : processes) {
    process.native_probes = native_probes(request).probes;
    const fs::path staged = directory / "complete";
    TRY(complete_capture(process, first ? logged : std::vector<LoggedNumber>{}, windows,
                         shown_command(request.command), staged));
    CaptureSummary summary = TRY(summarize_capture(staged, process.pid));
    if (!has_events(summary) && (!first || logged.empty())) continue;
    summary.path = next_place(request, out, made);
    std::error_code error;
    fs::rename(staged, summary.path, error);
    if (error)
      return Error{fmt::format("cannot write {}: {}", summary.path.string(), error.message())};
    result.captures.push_back(std::move(summary));
    first = false;
  }
  for (std::string& note : native_probe_notes(native_probes(request), find_native_calls(directory)))
    result.notes.push_back(std::move(note));
  const std::vector<std::string> placed = placed_probes(processes);
  for (const std::string& probe : python_probes(request)) {
    if (std::ranges::find(placed, probe) == placed.end()) {
      result.notes.push_back(fmt::format(
          "--probe {}: nothing was recorded; no Python process imported a module with it", probe));
    }
  }
  return Nothing{};
}

void touch(const fs::path& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return;
  futimens(fd, nullptr);
  close(fd);
}

int64_t wall_clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::pair<int64_t, int64_t> window_from(const RecordRequest& request, int64_t now) {
  const int64_t before = request.before_ms.value_or(0) * 1'000'000;
  return {now - before, request.window_ms ? now + *request.window_ms * 1'000'000 : INT64_MAX};
}

int64_t changed_at(const fs::path& path) {
  struct stat file = {};
  if (stat(path.c_str(), &file) != 0) return 0;
  return static_cast<int64_t>(file.st_mtim.tv_sec) * 1'000'000'000 + file.st_mtim.tv_nsec;
}

}  // namespace

Result<RecordResult> record_program(const RecordRequest& request) {
  const fs::path out = TRY(choose_place(request));
  fs::path folder = out.parent_path();
  if (folder.empty()) folder = ".";
  const StagingDirectory staging = TRY(StagingDirectory::create(folder, folder));
  const fs::path directory = fs::absolute(staging.content());

  WatchedProgram program;
  program.command = request.command;
  program.environment = TRY(watched_environment(request, directory));
  if (request.sampling_ns) TRY(write_lines(directory / record::kSampledFile, sampled_metrics()));
  program.discard_output = request.discard_output;
  const std::string other = other_profiler(request.environment);
  if (!other.empty()) program.environment = request.environment;
  std::vector<LoggedNumber> logged;
  if (!request.log_patterns.empty()) {
    program.on_line = [&](std::string_view line, int64_t time) {
      for (const LogPattern& pattern : request.log_patterns) {
        for (const LogPattern::Found& found : pattern.match(line))
          logged.push_back({time, found.value, pattern.names()[found.counter]});
      }
    };
  }
  const WindowSignal signal;
  TimeWindows windows;
  int64_t last_trigger = 0;
  if (request.wait_for_signal || !request.trigger_file.empty()) {
    last_trigger = changed_at(request.trigger_file);
    program.meanwhile = [&] {
      const int64_t now = request.trigger_file.empty() ? 0 : changed_at(request.trigger_file);
      if (!window_asked.exchange(false) && (now == 0 || now == last_trigger)) return;
      last_trigger = now;
      touch(directory / record::kTriggerFile);
      windows.spans.push_back(window_from(request, wall_clock_ns()));
    };
    windows.is_whole_run = false;
  } else if (request.window_ms) {
    windows = {false, {window_from(request, wall_clock_ns())}};
  }
  const ProgramEnd end = TRY(run_watched(program));
  RecordResult result;
  result.status = end.status;
  result.wall = Nanos{end.wall_ns};
  if (end.not_started) {
    result.not_started = end.not_started->why;
    result.not_found = end.not_started->not_found;
    return result;
  }
  result.notes = request.notes;
  for (std::string& note : read_notes(directory)) result.notes.push_back(std::move(note));
  if (end.lines_unread)
    result.notes.emplace_back(
        "--log-pattern read no line: this machine allows no thread for the program's output");
  if (!other.empty()) {
    result.notes.push_back(
        fmt::format("nothing was recorded: {}. Only one profiler can be used at a time", other));
  }
  if (!windows.is_whole_run) {
    std::erase_if(logged, [&windows](const LoggedNumber& number) {
      const auto time = static_cast<uint64_t>(number.time_ns);
      return !windows.include(time, time);
    });
    if (windows.spans.empty())
      result.notes.push_back(
          fmt::format("no trigger came: {}",
                      request.wait_for_signal
                          ? "fathom got no SIGUSR2"
                          : request.trigger_file.string() + " did not appear and was not touched"));
  }
  TRY(bring_home(request, directory, out, logged, windows, result));
  return result;
}

}  // namespace fathom
