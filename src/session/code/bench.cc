#include "session/code/bench.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/byte_source.h"
#include "base/read_all.h"
#include "base/staging.h"
#include "base/text_parts.h"
#include "session/code/observe.h"
#include "trial/interruption.h"
#include "trial/order.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> last_lines_of(const fs::path& log, size_t count) {
  std::vector<std::string> lines;
  const Result<std::unique_ptr<ByteSource>> source = open_source(log.string());
  if (!source.ok()) return lines;
  const Result<WholeText> whole = read_all(*source.value(), 16 << 20);
  if (!whole.ok()) return lines;
  std::string_view text = whole.value().text;
  while (!text.empty() && lines.size() < count) {
    while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    const size_t begin = text.rfind('\n') + 1;
    if (!text.empty()) lines.insert(lines.begin(), std::string(text.substr(begin)));
    text = text.substr(0, begin);
  }
  return lines;
}

class Bench {
 public:
  Bench(const BenchRequest& request, fs::path folder)
      : request_(request), folder_(std::move(folder)) {
    result_.limit_s = request.limit_s;
    for (size_t i = 0; i < request.commands.size(); ++i) {
      BenchCommand command;
      command.name =
          i < 26 ? std::string(1, static_cast<char>('A' + i)) : fmt::format("C{}", i + 1);
      command.words = request.commands[i];
      result_.commands.push_back(std::move(command));
    }
  }

  Result<BenchResult> run(BenchProgress progress, void* context) {
    const size_t count = request_.commands.size();
    const auto rounds = [](int64_t number) {
      return static_cast<size_t>(std::max<int64_t>(0, number));
    };
    const size_t warm = rounds(request_.warmup), timed = rounds(request_.runs);
    const size_t recorded = rounds(request_.recorded_runs);
    const auto all = static_cast<int64_t>(count * (warm + timed + recorded));
    int64_t done = 0;
    const auto tell = [&] {
      if (progress != nullptr) progress(context, done, all);
      ++done;
    };
    for (const size_t which : interleaved(count, warm)) {
      tell();
      const TrialEnd end = TRY(run_one(which));
      if (stops(which, end, false)) return std::move(result_);
    }
    for (const size_t which : interleaved(count, timed)) {
      tell();
      const TrialEnd end = TRY(run_one(which));
      if (stops(which, end, true)) return std::move(result_);
    }
    for (const size_t which : interleaved(count, recorded)) {
      tell();
      if (!TRY(record_one(which))) return std::move(result_);
    }
    if (progress != nullptr) progress(context, all, all);
    return std::move(result_);
  }

 private:
  TrialCommand trial(std::vector<std::string> words) const {
    TrialCommand trial;
    trial.words = std::move(words);
    trial.environment = request_.environment;
    trial.limit_s = request_.limit_s;
    trial.log = folder_ / "log";
    return trial;
  }

  Result<TrialEnd> run_one(size_t which) { return run_command(trial(request_.commands[which])); }

  // Whether the comparison ends here.
  bool stops(size_t which, const TrialEnd& end, bool is_timed) {
    BenchCommand& command = result_.commands[which];
    if (end.kind == EndKind::kInterrupted) {
      result_.interrupted = true;
      return true;
    }
    if (is_timed || !end.ok()) command.ends.push_back(end);
    if (end.ok()) return false;
    if (request_.allow_failure && end.kind != EndKind::kNotStarted) {
      if (!is_timed) command.ends.pop_back();
      return false;
    }
    command.last_lines = last_lines_of(folder_ / "log", 5);
    result_.failed = true;
    return true;
  }

  // False: an interrupt.
  Result<bool> record_one(size_t which) {
    std::vector<std::string> words = {request_.program.string(), "record", "--quiet"};
    words.insert(words.end(), request_.record_options.begin(), request_.record_options.end());
    const fs::path capture = folder_ / fmt::format("run{}.capture", recorded_++);
    words.insert(words.end(), {"--out", capture.string(), "--"});
    words.insert(words.end(), request_.commands[which].begin(), request_.commands[which].end());
    TrialCommand command = trial(std::move(words));
    command.ends_child = true;
    const TrialEnd end = TRY(run_command(command));
    if (end.kind == EndKind::kInterrupted) {
      result_.interrupted = true;
      return false;
    }
    Observations run;
    for (const fs::path& path : captures_at(capture)) {
      Result<ObservedCapture> observed = observe_capture(path.string());
      if (observed.ok())
        append_observations(run, std::move(observed.take().observations));
      else
        note(observed.error().message);
    }
    if (run.find("gpu_busy_time", "") == nullptr) {
      note(fmt::format("{} was recorded without GPU work", result_.commands[which].name));
      return true;
    }
    result_.commands[which].recorded.push_back(std::move(run));
    return true;
  }

  void note(const std::string& text) {
    if (!contains(result_.notes, text)) result_.notes.push_back(text);
  }

  const BenchRequest& request_;
  fs::path folder_;
  int recorded_ = 0;
  BenchResult result_;
};

}  // namespace

std::vector<fs::path> captures_at(const fs::path& first) {
  std::vector<fs::path> found;
  std::error_code error;
  constexpr int kMostProcesses = 1000;
  const std::string stem = (first.parent_path() / first.stem()).string();
  for (int i = 1; i <= kMostProcesses; ++i) {
    const fs::path path =
        i == 1 ? first : fs::path(fmt::format("{}-{}{}", stem, i, first.extension().string()));
    if (!fs::is_regular_file(path, error)) break;
    found.push_back(path);
  }
  return found;
}

Result<BenchResult> bench_commands(const BenchRequest& request, BenchProgress progress,
                                   void* context) {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (error) return Error{"there is no folder for temporary files; set TMPDIR"};
  const StagingDirectory staging = TRY(StagingDirectory::create(folder, folder));
  const Interruption interruption;
  return Bench(request, staging.content()).run(progress, context);
}

}  // namespace fathom
