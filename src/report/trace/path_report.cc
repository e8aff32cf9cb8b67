#include "report/trace/path_report.h"

#include <fmt/format.h>

#include <cmath>

namespace fathom {
namespace {

std::string path_millis(Nanos time) {
  const double millis = time.millis();
  return fmt::format("{:.{}f}", millis, millis < 1 ? 3 : millis < 100 ? 2 : 1);
}

// "-18.0 %"; what rounds to nothing has no sign.
std::string change_text(double change) {
  const double percent = std::round(change * 1000) / 10;
  return fmt::format("{}{:.1f} %", percent < 0 ? "−" : percent > 0 ? "+" : "", std::abs(percent));
}

std::string change_range_text(double from, double to) {
  const std::string first = change_text(from), last = change_text(to);
  return first == last ? first : first + " to " + last;
}

}  // namespace

std::string critical_path_text(const Summary::Path& path) {
  if (!path.missing.empty()) return "not computed: " + path.missing;
  std::string text =
      fmt::format("{} ms{}", path_millis(path.step), path.steps > 0 ? " a step" : "");
  if (path.steps < path.all_steps)
    text += fmt::format(" ({} of {} steps)", path.steps, path.all_steps);
  text += ": " + path.shares;
  if (!path.longest.empty() && !path.longest.front().name.empty()) {
    const Summary::Path::Row& row = path.longest.front();
    constexpr size_t kShown = 60;
    text +=
        fmt::format("; longest: {} {:.0f} %",
                    row.name.size() > kShown ? fit_left(row.name, kShown) : row.name, row.percent);
  }
  return text;
}

std::string what_if_text(const Summary::WhatIf& answer, bool has_steps) {
  const std::string least = path_millis(answer.at_least), most = path_millis(answer.at_most);
  const auto change = [&](Nanos then) { return ratio(then, answer.step) - 1; };
  if (answer.gpu_events + answer.host_segments == 0)
    return fmt::format("{}: {} ms{}, unchanged: the steps have nothing of it", answer.question,
                       path_millis(answer.step), has_steps ? " a step" : "");
  return fmt::format("{}: {} → {} ms{} ({}; without the profiler {}); path then: {}",
                     answer.question, path_millis(answer.step),
                     least == most ? most : least + " to " + most, has_steps ? " a step" : "",
                     change_range_text(change(answer.at_least), change(answer.at_most)),
                     change_range_text(-answer.saved_at_most, -answer.saved_at_least),
                     answer.shares);
}

void show_critical_path(Screen& screen, const Summary& s) {
  if (!s.path || s.gpu_events == 0) return;
  screen.entry("Path", screen_safe(critical_path_text(*s.path)));
  bool first = true;
  for (const Summary::WhatIf& answer : s.what_if) {
    screen.entry(first ? "What if" : "", screen_safe(what_if_text(answer, s.path->steps > 0)));
    first = false;
  }
}

void write_critical_path(JsonWriter& json, const Summary& s) {
  if (!s.path) return;
  const Summary::Path& path = *s.path;
  const auto millis = [&](std::string_view key, Nanos time) {
    json.key(key).raw(exact_decimal(time.count, 6));
  };
  json.key("critical_path").begin_object();
  if (!path.missing.empty()) {
    json.key("missing").value(path.missing).end_object();
    return;
  }
  millis("step_ms", path.step);
  json.key("steps").value(path.steps).key("steps_of_the_scope").value(path.all_steps);
  json.key("replay_error_percent").value(path.replay_error_percent);
  json.key("parts").begin_array();
  for (const Summary::Path::Part& part : path.parts) {
    json.begin_object().key("part").value(part.name).key("ms").value(part.millis);
    json.key("percent").value(part.percent).end_object();
  }
  json.end_array().key("longest").begin_array();
  for (const Summary::Path::Row& row : path.longest) {
    json.begin_object().key("part").value(row.part).key("name");
    row.name.empty() ? json.null() : json.value(row.name);
    json.key("ms").value(row.millis).key("percent").value(row.percent).end_object();
  }
  json.end_array().end_object();
  if (s.what_if.empty()) return;
  json.key("what_if").begin_array();
  for (const Summary::WhatIf& answer : s.what_if) {
    json.begin_object().key("change").value(answer.question);
    millis("step_ms", answer.step);
    millis("at_least_ms", answer.at_least);
    millis("at_most_ms", answer.at_most);
    json.key("gpu_events").value(answer.gpu_events);
    json.key("host_segments").value(answer.host_segments);
    json.key("saving_percent_without_profiler").begin_array();
    json.value(100 * answer.saved_at_least).value(100 * answer.saved_at_most).end_array();
    json.key("path").value(answer.shares).end_object();
  }
  json.end_array();
}

}  // namespace fathom
