#include "app/record_extras.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>

#include "app/option_rules.h"
#include "app/output_options.h"
#include "app/record_summary.h"
#include "session/calibrate.h"
#include "session/counter_plan.h"

namespace fathom {
namespace {

constexpr int kUsualPairs = 5, kMostPairs = 1000;

std::optional<int> pairs_in(const std::string& text) {
  if (text == kNoValue) return kUsualPairs;
  int pairs = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pairs);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return pairs >= 1 && pairs <= kMostPairs ? std::optional(pairs) : std::nullopt;
}

// On PATH, or where its packages and the toolkit put it.
std::filesystem::path find_ncu() {
  std::vector<std::filesystem::path> folders;
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable != nullptr ? variable : "";
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    if (const std::string_view folder = rest.substr(0, colon); !folder.empty())
      folders.emplace_back(folder);
    rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
  }
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(name); root != nullptr && *root != '\0')
      folders.push_back(std::filesystem::path(root) / "bin");
  }
  folders.emplace_back("/usr/local/cuda/bin");
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator("/opt/nvidia/nsight-compute", error)) {
    folders.push_back(entry.path());
  }
  for (const std::filesystem::path& folder : folders) {
    const std::filesystem::path program = folder / "ncu";
    if (std::filesystem::is_regular_file(program, error) && access(program.c_str(), X_OK) == 0)
      return std::filesystem::absolute(program, error);
  }
  return {};
}

}  // namespace

std::string counter_set(const std::string& text) {
  if (text == kNoValue) return "basic";
  return counter_metrics(text) ? text : std::string();
}

std::string counter_set_mistake(const std::string& text) {
  if (!counter_set(text).empty()) return "";
  return fmt::format("'{}' is not a counter set; the sets are {}", text,
                     fmt::join(counter_set_names(), ", "));
}

std::optional<int64_t> duration_ms(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  constexpr int64_t kMost = 1'000'000;
  if (error != std::errc() || number <= 0 || number > kMost) return std::nullopt;
  if (unit == "ms") return number;
  if (unit == "s" || unit.empty()) return number * 1000;
  if (unit == "m" || unit == "min") return number * 60'000;
  return std::nullopt;
}

void add_record_extras(CLI::App& command, RecordExtras& extras) {
  command
      .add_option(
          "--before", extras.before,
          "Keep what happened this long before the trigger too, such as 5s, in memory of up "
          "to 256 MB; recording then costs the same before the trigger")
      ->check([](const std::string& text) {
        return duration_ms(text) ? std::string() : "expected a time such as 500ms, 10s or 2m";
      })
      ->option_text("TIME");
  command
      .add_flag("--ncu", extras.ncu,
                "Run the program again under Nsight Compute for the kernels with 90 % of the GPU "
                "time: basic (default), memory, stalls, roofline or full")
      ->check(counter_set_mistake)
      ->option_text("[=SET]");
  command
      .add_flag("--calibrate", extras.calibrate,
                "Measure what recording costs: run the program plain and recorded in turn, this "
                "many pairs (default: 5). Drops its standard output; keeps no capture")
      ->check([](const std::string& text) {
        return pairs_in(text) ? std::string()
                              : fmt::format("expected a number of pairs from 1 to {}", kMostPairs);
      })
      ->option_text("[=PAIRS]");
}

std::optional<std::string> extras_mistake(const RecordExtras& extras, bool has_trigger,
                                          bool has_counters) {
  if (!extras.before.empty() && !has_trigger)
    return "--before keeps what happened before a trigger; it needs --trigger";
  if (extras.ncu && has_counters)
    return "--ncu and --counters both measure counters; use one of them";
  if (extras.calibrate && (extras.ncu || has_counters || has_trigger))
    return "--calibrate measures whole runs; it cannot be used with --counters, --ncu or --trigger";
  return std::nullopt;
}

void put_extras(const RecordExtras& extras, RecordRequest& request) {
  if (!extras.before.empty()) request.before_ms = duration_ms(extras.before);
  if (!extras.ncu) return;
  request.use_ncu = true;
  request.ncu_set = counter_set(*extras.ncu);
  request.ncu = find_ncu();
}

int run_calibration(const RecordExtras& extras, const RecordRequest& request,
                    const SummaryPlace& place, const Terminal& terminal) {
  const int pairs = pairs_in(extras.calibrate.value_or(kNoValue)).value_or(kUsualPairs);
  const bool shows_progress = terminal.color;
  const auto report = [&](int done, int all) {
    if (shows_progress) std::fprintf(stderr, "\rfathom: run %d of %d ", done + 1, all);
  };
  const Result<Calibration> measured = calibrate(request, pairs, report);
  if (shows_progress) std::fputs("\r\033[K", stderr);
  if (!measured.ok()) {
    complain(measured.error().message);
    return static_cast<int>(ExitCode::kFailed);
  }
  const Calibration& calibration = measured.value();
  if (calibration.not_started) {
    complain(fmt::format("cannot run {}: {}", request.command[0], *calibration.not_started));
    return calibration.not_found ? 127 : 126;
  }
  if (calibration.status != 0) {
    const int status = calibration.status;
    complain(
        WIFSIGNALED(status)
            ? fmt::format("the program was ended by signal {}; not calibrated", WTERMSIG(status))
            : fmt::format("the program exited with code {}; not calibrated", WEXITSTATUS(status)));
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  tell(calibration.notes, false);
  std::string command;
  for (const std::string& word : request.command) command += (command.empty() ? "" : " ") + word;
  const Status written = place.is_json() ? place.write(calibration_json(calibration))
                                         : print_output(calibration_text(calibration, command));
  return written.ok() ? 0 : static_cast<int>(ExitCode::kFailed);
}

}  // namespace fathom
