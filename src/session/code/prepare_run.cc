#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/byte_source.h"
#include "base/count_text.h"
#include "base/read_all.h"
#include "base/screen_text.h"
#include "session/code/earlier_runs.h"
#include "session/code/run_plan.h"

namespace fathom {

namespace fs = std::filesystem;
using namespace run_files;

namespace {

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

}  // namespace

Result<fs::path> working_folder(const Experiment& experiment, const fs::path& repository) {
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(repository / experiment.folder, error);
  if (error || !is_below(folder, repository))
    return Error{fmt::format("experiment {}: folder {} is outside the repository", experiment.id,
                             screen_safe(experiment.folder))};
  if (!fs::is_directory(folder, error))
    return Error{fmt::format("experiment {}: there is no folder {}", experiment.id,
                             screen_safe(folder.string()))};
  return folder;
}

std::optional<int64_t> recorded_wall_ns(std::string_view log) {
  constexpr std::string_view kHead = "{\n  \"wall_ms\": ";
  const size_t at = log.rfind(kHead);
  if (at == std::string_view::npos || (at > 0 && log[at - 1] != '\n')) return std::nullopt;
  double value = 0;
  const char* begin = log.data() + at + kHead.size();
  const auto [end, error] = std::from_chars(begin, log.data() + log.size(), value);
  if (error != std::errc() || !(value >= 0 && value < 1e12)) return std::nullopt;
  return static_cast<int64_t>(value * 1e6);
}

Result<PreparedRun> prepare_run(const RunPlanRequest& request) {
  PreparedRun prepared;
  // Read once: what is checked, run and copied is the same text.
  const std::unique_ptr<ByteSource> source = TRY(open_source(request.plan.string()));
  prepared.text = TRY(read_all(*source, 4 << 20)).text;
  PlanCheck check = read_plan(prepared.text, screen_safe(request.plan.string()), request.check);
  if (!check.mistakes.empty()) {
    std::string all;
    for (const std::string& mistake : check.mistakes) all += (all.empty() ? "" : "\n") + mistake;
    return Error{all};
  }
  prepared.plan = std::move(check.plan);
  std::error_code error;
  prepared.out = fs::absolute(request.out, error).lexically_normal();
  prepared.runs = TRY(schedule_runs(prepared.plan, request.only));
  if (!request.replay.empty()) {
    if (!fs::is_directory(request.replay, error))
      return Error{fmt::format("{} is no folder", request.replay.string())};
    const auto holds_runs = [&](const fs::path& folder) {
      return fs::exists(folder / "journal", error) ||
             std::ranges::any_of(prepared.runs, [&](const ScheduledRun& run) {
               return !log_in(folder, run).empty() ||
                      !recordings_in(folder, prepared.plan.experiments[run.experiment], run)
                           .empty();
             });
    };
    if (!holds_runs(request.replay) && holds_runs(request.replay / "recorded"))
      return Error{fmt::format("{} holds no recording of this plan; {} does",
                               request.replay.string(), (request.replay / "recorded").string())};
    if (fs::equivalent(request.replay, prepared.out, error))
      return Error{"--out is the recorded folder; choose another one"};
    return prepared;
  }
  const Result<fs::path> repository = repository_of(prepared.plan, request.plan);
  if (!repository.ok())
    return Error{fmt::format("{}; edit repository in {}", repository.error().message,
                             screen_safe(request.plan.string()))};
  prepared.folder = repository.value();
  std::string stamp;
  const std::map<std::string, FinishedRun> finished = TRY(read_finished(prepared.out, stamp));
  if (!finished.empty() && !request.resume)
    return Error{
        fmt::format("{} holds a run already; --resume continues it, --out takes another folder",
                    request.out.string())};
  std::set<size_t> without_gpu;
  size_t done = 0, last = SIZE_MAX;
  for (const ScheduledRun& run : prepared.runs) {
    const Experiment& experiment = prepared.plan.experiments[run.experiment];
    if (run.experiment != last) TRY(working_folder(experiment, prepared.folder));
    last = run.experiment;
    if (finished.contains(run.name)) {
      ++done;
    } else if (experiment.needs_gpu && !request.has_gpu) {
      without_gpu.insert(run.experiment);
    } else {
      prepared.to_run.push_back(run);
    }
  }
  for (const size_t number : without_gpu)
    prepared.notes.push_back(fmt::format("{} needs a GPU and none was found: not run",
                                         prepared.plan.experiments[number].id));
  if (done > 0) prepared.notes.push_back(fmt::format("{} finished earlier", counted(done, "run")));
  const RunPlaces places{request.program.string(), (prepared.out / "captures").string()};
  prepared.shown = shown_commands(prepared.plan, prepared.to_run, places);
  if (request.lock_clocks && !prepared.to_run.empty()) {
    prepared.shown.insert(
        prepared.shown.begin(),
        fmt::format("before: nvidia-smi --lock-gpu-clocks={0},{0}", *request.lock_clocks));
    prepared.shown.emplace_back("after: nvidia-smi --reset-gpu-clocks");
  }
  return prepared;
}

}  // namespace fathom
