#include "session/calibrate.h"

#include <filesystem>

#include "base/staging.h"
#include "session/watched_program.h"

namespace fathom {
namespace {

struct OneRun {
  ProgramEnd end;
  int64_t launches = 0;
  std::vector<std::string> notes;
};

Result<OneRun> run_plain(const RecordRequest& request) {
  WatchedProgram program;
  program.command = request.command;
  program.environment = request.environment;
  program.discard_output = true;
  OneRun run;
  run.end = TRY(run_watched(program));
  return run;
}

Result<OneRun> run_recorded(RecordRequest request, const std::filesystem::path& out) {
  request.out = out;
  request.force = true;
  request.discard_output = true;
  RecordResult result = TRY(record_program(request));
  OneRun run;
  run.end.status = result.status;
  run.end.wall_ns = result.wall.count;
  if (result.not_started) run.end.not_started = NotStarted{*result.not_started, result.not_found};
  run.notes = std::move(result.notes);
  std::error_code error;
  for (const CaptureSummary& capture : result.captures) {
    run.launches += capture.kernels;
    std::filesystem::remove(capture.path, error);
  }
  return run;
}

}  // namespace

Result<Calibration> calibrate(const RecordRequest& request, int pairs,
                              const std::function<void(int done, int all)>& report) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) return Error{"there is no folder for temporary files; set TMPDIR"};
  const StagingDirectory staging = TRY(StagingDirectory::create(folder, folder));
  const std::filesystem::path out = staging.content() / "run.capture";
  Calibration calibration;
  const int all = 2 * pairs + 1;
  // True: go on.
  const auto take = [&](OneRun run, std::vector<Nanos>* times) {
    calibration.status = run.end.status;
    if (run.end.not_started) {
      calibration.not_started = run.end.not_started->why;
      calibration.not_found = run.end.not_started->not_found;
      return false;
    }
    if (times != nullptr) times->push_back(Nanos{run.end.wall_ns});
    if (times == &calibration.recorded) {
      calibration.launches.push_back(run.launches);
      calibration.notes = std::move(run.notes);
    }
    return run.end.status == 0;
  };
  if (report) report(0, all);
  if (!take(TRY(run_plain(request)), nullptr)) return calibration;
  for (int pair = 0; pair < pairs; ++pair) {
    for (int turn = 0; turn < 2; ++turn) {
      if (report) report(1 + 2 * pair + turn, all);
      const bool is_plain = (pair + turn) % 2 == 0;
      OneRun run = is_plain ? TRY(run_plain(request)) : TRY(run_recorded(request, out));
      if (!take(std::move(run), is_plain ? &calibration.plain : &calibration.recorded))
        return calibration;
    }
  }
  return calibration;
}

}  // namespace fathom
