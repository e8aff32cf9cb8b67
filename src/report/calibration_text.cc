#include "report/calibration_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/count_text.h"
#include "base/json_writer.h"
#include "base/screen_text.h"

namespace fathom {
namespace {

int64_t median_of(std::vector<int64_t> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::vector<int64_t> counts_of(const std::vector<Nanos>& times) {
  std::vector<int64_t> counts;
  for (const Nanos time : times) counts.push_back(time.count);
  return counts;
}

std::string duration_text(Nanos time) {
  const double ms = static_cast<double>(time.count) / 1e6;
  if (ms < 1 && ms > -1) return fmt::format("{:.0f} µs", ms * 1e3);
  return ms < 1000 && ms > -1000 ? fmt::format("{:.1f} ms", ms) : fmt::format("{:.3f} s", ms / 1e3);
}

std::string times_line(std::string_view label, Nanos median, const std::vector<Nanos>& times) {
  const auto [least, most] = std::ranges::minmax(counts_of(times));
  return fmt::format("        {:<9} {:>9}   ({} to {})\n", label, duration_text(median),
                     duration_text(Nanos{least}), duration_text(Nanos{most}));
}

}  // namespace

double CalibrationSummary::percent() const {
  return plain.count == 0
             ? 0
             : 100.0 * static_cast<double>(added.count) / static_cast<double>(plain.count);
}

std::optional<double> CalibrationSummary::us_per_launch() const {
  if (launches == 0) return std::nullopt;
  return static_cast<double>(added.count) / 1e3 / static_cast<double>(launches);
}

CalibrationSummary summarize_calibration(const Calibration& calibration) {
  CalibrationSummary summary;
  const size_t pairs = std::min(calibration.plain.size(), calibration.recorded.size());
  if (pairs == 0) return summary;
  const std::vector<int64_t> plain = counts_of(calibration.plain);
  std::vector<int64_t> added;
  for (size_t i = 0; i < pairs; ++i)
    added.push_back(calibration.recorded[i].count - calibration.plain[i].count);
  summary.plain = Nanos{median_of(plain)};
  summary.recorded = Nanos{median_of(counts_of(calibration.recorded))};
  summary.added = Nanos{median_of(added)};
  const auto [least, most] = std::ranges::minmax(plain);
  summary.noise = Nanos{(most - least) / 2};
  summary.launches = median_of(calibration.launches);
  summary.is_inside_noise = summary.added.count <= summary.noise.count;
  return summary;
}

std::string calibration_text(const Calibration& calibration, const std::string& command) {
  const CalibrationSummary summary = summarize_calibration(calibration);
  std::string text = fmt::format("fathom: {} of {}\n",
                                 counted(calibration.plain.size(), "pair of runs", "pairs of runs"),
                                 screen_safe(command));
  text += times_line("plain", summary.plain, calibration.plain);
  text += times_line("recorded", summary.recorded, calibration.recorded);
  text += fmt::format("        {:<9} {:>9}   {:.2f} %", "added", duration_text(summary.added),
                      summary.percent());
  if (const auto each = summary.us_per_launch())
    text +=
        fmt::format(", {:.2f} µs per launch, {} launches", *each, with_thousands(summary.launches));
  text += "\n        It includes the start of CUPTI, once for each process with GPU work.\n";
  if (summary.is_inside_noise) {
    text += fmt::format(
        "        The difference is inside the noise: plain runs vary by ± {}. Use a longer run or "
        "more pairs (--calibrate=20).\n",
        duration_text(summary.noise));
  }
  return text;
}

std::string calibration_json(const Calibration& calibration) {
  const CalibrationSummary summary = summarize_calibration(calibration);
  const auto ms = [](Nanos time) { return static_cast<double>(time.count) / 1e6; };
  JsonWriter json(true);
  json.begin_object();
  json.key("pairs").value(static_cast<int64_t>(calibration.plain.size()));
  json.key("plain_median_ms").value(ms(summary.plain));
  json.key("recorded_median_ms").value(ms(summary.recorded));
  json.key("added_ms").value(ms(summary.added));
  json.key("added_percent").value(summary.percent());
  json.key("launches").value(summary.launches);
  if (const auto each = summary.us_per_launch()) json.key("added_us_per_launch").value(*each);
  json.key("noise_ms").value(ms(summary.noise));
  json.key("inside_noise").value(summary.is_inside_noise);
  json.key("plain_ms").begin_array();
  for (const Nanos time : calibration.plain) json.value(ms(time));
  json.end_array();
  json.key("recorded_ms").begin_array();
  for (const Nanos time : calibration.recorded) json.value(ms(time));
  json.end_array();
  json.key("notes").begin_array();
  for (const std::string& note : calibration.notes) json.value(note);
  json.end_array();
  json.end_object();
  return json.take() + "\n";
}

}  // namespace fathom
