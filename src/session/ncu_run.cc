#include "session/ncu_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <unordered_map>

#include "base/byte_source.h"
#include "base/file_descriptor.h"
#include "base/hash.h"
#include "base/kernel_name.h"
#include "base/screen_text.h"
#include "capture/chunk_writer.h"
#include "ingest/capture/chunk_reader.h"
#include "ingest/ncu/reader.h"
#include "session/counter_plan.h"
#include "session/watched_program.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// Launches of each kernel that are measured. The first of several is left out: caches are cold.
constexpr size_t kLaunchesEach = 2;
constexpr size_t kMostInvocations = 40;
constexpr size_t kLongestPattern = 100'000;  // the system takes arguments up to 128 KiB

struct Launch {
  uint64_t start;
  std::string_view name, key;
};

// The key of choose_kernels: the name, then the shape.
std::string_view name_in(std::string_view key) { return key.substr(0, key.find('\t')); }

std::string escaped(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (std::strchr(".$()[]{}*+?^|\\", c) != nullptr) text += '\\';
    text += c;
  }
  return text;
}

std::string joined(const auto& parts) {
  std::string text;
  for (const auto& part : parts) text += fmt::format("{}{}", text.empty() ? "" : "|", part);
  return text;
}

// What ncu writes beside the table. Each kind of failure once.
std::vector<std::string> failures_in(const fs::path& log) {
  std::vector<std::string> notes;
  std::ifstream file(log);
  std::string line;
  bool is_refused = false, is_empty = false;
  while (std::getline(file, line) && notes.size() < 5) {
    if (line.find("ERR_NVGPUCTRPERM") != std::string::npos) {
      is_refused = true;
    } else if (line.find("No kernels were profiled") != std::string::npos) {  // source text: ncu's
      is_empty = true;
    } else if (line.starts_with("==ERROR==")) {
      notes.push_back("ncu: " + screen_safe(line.substr(std::min<size_t>(line.size(), 10))));
    }
  }
  if (is_refused) {
    notes.emplace_back(
        "no counters: ncu may not read the GPU's counters (ERR_NVGPUCTRPERM). Run as root, or let "
        "everybody: options nvidia NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d; see "
        "fathom doctor");
  }
  if (is_empty && !is_refused) notes.emplace_back("no counters: ncu profiled no kernel");
  return notes;
}

bool is_worth_keeping(std::string_view metric) {
  return !metric.empty() && !metric.starts_with("device__attribute");
}

// One capture with the counters of the rows of a process.
Status write_rows(const CounterSet& set, int64_t process, const fs::path& path) {
  const FileDescriptor fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (fd.get() < 0) return Error{fmt::format("cannot write {}", path.string())};
  capture::FileSink sink(fd.get());
  capture::ChunkWriter writer(sink);
  writer.begin();
  writer.write_meta(fmt::format("counters\t{}\t{}\n", set.origin().tool, set.origin().version));
  std::vector<capture::Counter> counters;
  uint32_t occurrence = 0;
  for (CounterRowId id(0); id.index < set.size(); ++id.index) {
    const CounterRow& row = set.row(id);
    if (row.process.value_or(0) != process) continue;
    const std::string_view symbol = set.text(row.mangled.valid() ? row.mangled : row.kernel);
    const std::string shown = demangled(symbol);
    capture::Counter base = {};
    base.name = writer.text(shown);
    base.mangled = writer.text(symbol);
    const auto put = [](const std::optional<Dim3>& from, uint32_t(&to)[3]) {
      if (!from) return;
      to[0] = from->x;
      to[1] = from->y;
      to[2] = from->z;
    };
    put(row.grid, base.grid);
    put(row.block, base.block);
    base.dynamic_shared = static_cast<uint32_t>(row.dynamic_shared.value_or(0));
    base.device = static_cast<uint32_t>(row.device.value_or(0));
    base.occurrence = occurrence++;
    base.passes = static_cast<uint32_t>(row.passes.value_or(1));
    for (const MetricValue& value : set.values(id)) {
      if (!is_worth_keeping(set.metric_name(value.metric))) continue;
      capture::Counter counter = base;
      counter.metric = writer.text(set.metric_name(value.metric));
      counter.value = value.value;
      counters.push_back(counter);
    }
  }
  writer.write<capture::Counter>(capture::ChunkKind::kCounters, counters);
  if (writer.failure() != 0)
    return Error{
        fmt::format("cannot write {}: {}", path.string(), std::strerror(writer.failure()))};
  return Nothing{};
}

}  // namespace

Result<NcuSelection> select_for_ncu(const fs::path& path) {
  const KernelsToCount chosen = TRY(choose_kernels(path));
  const std::set<std::string, std::less<>> keys(chosen.keys.begin(), chosen.keys.end());
  std::set<std::string_view> names;
  for (const std::string& key : keys) {
    if (name_in(key).find(':') == std::string_view::npos) names.insert(name_in(key));
  }
  std::vector<Launch> launches;
  TRY(for_each_kernel(path, [&](std::string_view text, const capture::Kernel& kernel) {
    if (text.empty() || kernel.graph_node != 0) return;
    const auto name = names.find(text);
    if (name == names.end()) return;
    const auto key = keys.find(launch_key(text, kernel));
    launches.push_back({kernel.start, *name, key == keys.end() ? "" : std::string_view(*key)});
  }));
  std::ranges::stable_sort(launches, {}, &Launch::start);
  std::map<std::string_view, int64_t> of_name, of_key;
  for (const Launch& launch : launches) ++of_key[launch.key];
  std::map<std::string_view, size_t> taken, seen;
  std::set<int64_t> invocations;
  for (const Launch& launch : launches) {
    const int64_t invocation = ++of_name[launch.name];
    if (launch.key.empty()) continue;
    const bool is_first = ++seen[launch.key] == 1 && of_key[launch.key] > 1;
    if (is_first || taken[launch.key] >= kLaunchesEach) continue;
    ++taken[launch.key];
    if (invocations.size() < kMostInvocations) invocations.insert(invocation);
  }
  NcuSelection selection;
  selection.invocations.assign(invocations.begin(), invocations.end());
  for (const std::string_view name : names) selection.names.emplace_back(name);
  return selection;
}

std::vector<std::string> ncu_arguments(const NcuSelection& selection, const std::string& set,
                                       const fs::path& log) {
  std::vector<std::string> arguments = {"--csv",      "--page",
                                        "raw",        "--log-file",
                                        log.string(), "--print-units",
                                        "base",       "--print-kernel-base",
                                        "mangled",    "--kernel-name-base",
                                        "mangled",    "--target-processes",
                                        "all",        "--clock-control",
                                        "none",       "--cache-control",
                                        "none"};
  std::vector<std::string> names;
  size_t length = 0;
  for (const std::string& name : selection.names) {
    length += 2 * name.size();
    if (length > kLongestPattern) break;
    names.push_back(escaped(name));
  }
  arguments.insert(arguments.end(),
                   {"--kernel-id", fmt::format("::regex:^({})$:^({})$", joined(names),
                                               joined(selection.invocations))});
  if (set == "full") {
    arguments.insert(arguments.end(), {"--set", "full"});
    return arguments;
  }
  std::vector<std::string> sections = {"SpeedOfLight",
                                       "ComputeWorkloadAnalysis",
                                       "MemoryWorkloadAnalysis",
                                       "SchedulerStats",
                                       "Occupancy",
                                       "LaunchStats"};
  if (set == "memory") sections.emplace_back("MemoryWorkloadAnalysis_Tables");
  if (set == "stalls") sections.emplace_back("WarpStateStats");
  if (set == "roofline")
    sections.insert(sections.end(), {"SpeedOfLight_RooflineChart", "InstructionStats"});
  for (const std::string& section : sections)
    arguments.insert(arguments.end(), {"--section", section});
  return arguments;
}

Status count_with_ncu(const NcuRequest& request, const fs::path& directory,
                      std::vector<ProcessRecords>& processes, RecordResult& result) {
  if (request.ncu.empty()) return Nothing{};  // said before the program ran
  NcuSelection selection;
  for (const ProcessRecords& process : processes) {
    if (process.capture.empty()) continue;
    const NcuSelection more = TRY(select_for_ncu(process.capture));
    for (const std::string& name : more.names) {
      if (std::ranges::find(selection.names, name) == selection.names.end())
        selection.names.push_back(name);
    }
    std::vector<int64_t> all;
    std::ranges::set_union(selection.invocations, more.invocations, std::back_inserter(all));
    selection.invocations = std::move(all);
  }
  if (selection.names.empty() || selection.invocations.empty()) {
    result.notes.emplace_back("no counters: no kernels were recorded that ncu could measure");
    return Nothing{};
  }
  const fs::path log = directory / "ncu.csv";
  WatchedProgram program;
  program.command = {request.ncu.string()};
  for (std::string& word : ncu_arguments(selection, request.set, log))
    program.command.push_back(std::move(word));
  program.command.insert(program.command.end(), request.command.begin(), request.command.end());
  program.environment = request.environment;
  const ProgramEnd end = TRY(run_watched(program));
  if (end.not_started) {
    result.notes.push_back(
        fmt::format("no counters: cannot run {}: {}", request.ncu.string(), end.not_started->why));
    return Nothing{};
  }
  std::vector<std::string> failures = failures_in(log);
  result.notes.insert(result.notes.end(), failures.begin(), failures.end());
  const Result<std::unique_ptr<ByteSource>> source = open_source(log.string());
  Result<CounterSet> set =
      source.ok() ? ncu::read(*source.value(), "ncu's report") : Result<CounterSet>(source.error());
  if (!set.ok()) {
    if (failures.empty())
      result.notes.push_back(fmt::format("no counters: {}", set.error().message));
    return Nothing{};
  }
  // Processes in the order in which their first kernel was measured.
  std::vector<int64_t> measured;
  for (CounterRowId id(0); id.index < set.value().size(); ++id.index) {
    const int64_t process = set.value().row(id).process.value_or(0);
    if (std::ranges::find(measured, process) == measured.end()) measured.push_back(process);
  }
  size_t next = 0;
  for (ProcessRecords& process : processes) {
    if (process.capture.empty() || next >= measured.size()) continue;
    const fs::path rows = directory / fmt::format("ncu-{}.counters", next);
    TRY(write_rows(set.value(), measured[next++], rows));
    process.counters = rows;
  }
  return Nothing{};
}

}  // namespace fathom
