#include "report/record_text.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include "base/json_writer.h"
#include "base/screen_text.h"
#include "report/doctor_sentences.h"

namespace fathom {
namespace {

std::string size_text(int64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  if (bytes < 1'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string seconds_text(Nanos time) {
  const double seconds = static_cast<double>(time.count) / 1e9;
  return seconds < 1 ? fmt::format("{:.1f} ms", seconds * 1e3) : fmt::format("{:.2f} s", seconds);
}

std::string counts_text(const CaptureSummary& capture) {
  std::string text = fmt::format("{} kernels, {} copies and memsets, {} CUDA calls",
                                 with_thousands(capture.kernels), with_thousands(capture.copies),
                                 with_thousands(capture.launches));
  if (capture.ops > 0) text += fmt::format(", {} ops", with_thousands(capture.ops));
  if (capture.ranges > 0) text += fmt::format(", {} ranges", with_thousands(capture.ranges));
  return text;
}

}  // namespace

std::vector<std::string> counter_notes(const CountersAsked& asked, const Environment& environment) {
  std::vector<std::string> notes;
  if (asked.by_ncu && !asked.has_ncu) {
    notes.emplace_back(
        "no counters: ncu was not found. Install Nsight Compute and put it on PATH, or use "
        "--counters");
  }
  const bool may_count = asked.by_cupti || (asked.by_ncu && asked.has_ncu);
  if (may_count && environment.counters == CounterPermission::kRestricted) {
    notes.push_back(fmt::format("{}; expect none. To allow them: {}",
                                obstacle_text(environment, Obstacle::kCountersRestricted),
                                obstacle_fix(environment, Obstacle::kCountersRestricted)));
  }
  return notes;
}

std::string record_text(const RecordResult& result, bool color) {
  const std::string bold = color ? "\033[1m" : "", plain = color ? "\033[0m" : "";
  if (result.captures.empty()) {
    return fmt::format(
        "fathom: nothing was recorded in {}: no process used the GPU{}; fathom doctor says what "
        "can "
        "be recorded here\n",
        seconds_text(result.wall), result.notes.empty() ? "" : ", or see the notes above");
  }
  std::string text;
  for (const CaptureSummary& capture : result.captures) {
    text +=
        fmt::format("fathom: {}{}{}  {}, process {}\n", bold, screen_safe(capture.path.string()),
                    plain, size_text(capture.bytes), capture.pid);
    text += fmt::format("        {}\n", counts_text(capture));
    text += fmt::format("        {} covered, GPU busy {}\n", seconds_text(capture.covered),
                        seconds_text(capture.busy));
    if (capture.lost > 0) {
      text += fmt::format(
          "        {} records were lost: there was no room for them, or they came too fast\n",
          with_thousands(capture.lost));
    }
  }
  text += fmt::format("        next: fathom analyze {}\n",
                      screen_safe(result.captures.front().path.string()));
  return text;
}

std::string record_json(const RecordResult& result) {
  JsonWriter json(true);
  json.begin_object();
  json.key("wall_ms").value(static_cast<double>(result.wall.count) / 1e6);
  if (WIFEXITED(result.status)) json.key("exit_code").value(int64_t{WEXITSTATUS(result.status)});
  if (WIFSIGNALED(result.status)) json.key("signal").value(int64_t{WTERMSIG(result.status)});
  json.key("captures").begin_array();
  for (const CaptureSummary& capture : result.captures) {
    json.begin_object();
    json.key("path").value(capture.path.string());
    json.key("process").value(capture.pid);
    json.key("kernels").value(capture.kernels);
    json.key("copies").value(capture.copies);
    json.key("calls").value(capture.launches);
    json.key("ops").value(capture.ops);
    json.key("ranges").value(capture.ranges);
    json.key("lost_records").value(capture.lost);
    json.key("bytes").value(capture.bytes);
    json.key("covered_ms").value(static_cast<double>(capture.covered.count) / 1e6);
    json.key("gpu_busy_ms").value(static_cast<double>(capture.busy.count) / 1e6);
    json.end_object();
  }
  json.end_array();
  json.key("notes").begin_array();
  for (const std::string& note : result.notes) json.value(note);
  json.end_array();
  json.end_object();
  return json.take() + "\n";
}

}  // namespace fathom
