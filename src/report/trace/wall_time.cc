#include "report/trace/wall_time.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include "analyze/finding_parts.h"
#include "base/count_text.h"
#include "report/markdown.h"

namespace fathom {
namespace {

constexpr size_t kGpusShown = 8;
constexpr size_t kBaseNameShown = 60;

// "late_launch" of a column as words.
std::string cause_words(std::string_view name) {
  std::string words(name);
  std::ranges::replace(words, '_', ' ');
  return words;
}

// Eighths of a character, so that a small share is still seen.
std::string busy_bar(double share) {
  constexpr size_t kBar = 20;
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<size_t>(std::lround(std::clamp(share, 0.0, 1.0) * kBar * 8));
  std::string out;
  for (size_t i = 0; i < eighths / 8; ++i) out += "█";
  out += kEighths[eighths % 8];
  return out + std::string(kBar - eighths / 8 - (eighths % 8 != 0), ' ');
}

std::string device_name(const DeviceTime& device) {
  return device.device ? fmt::format("GPU {}", *device.device) : "GPU";
}

bool has_gpu_time(const Summary& s) { return !s.base.devices.empty() && s.base.wall().count > 0; }

// Nothing to add where the GPU's work spans nearly all of the wall time.
std::string span_text(const Summary& s) {
  const Nanos span = s.base.mean_device().span;
  if (spans_nearly_all(span, s.base.wall())) return {};
  return fmt::format("; GPU work spans {}", micros_text(span));
}

std::pair<Nanos, Nanos> shortest_and_longest(const std::vector<BaseStep>& steps) {
  if (steps.empty()) return {};
  const auto [shortest, longest] = std::ranges::minmax(
      steps | std::views::transform([](const BaseStep& step) { return step.end - step.begin; }));
  return {shortest, longest};
}

// The steps' length, with its range where they differ; where one takes much longer than the
// others, their median and what differs.
std::string steps_text(const Summary& s) {
  const auto steps = static_cast<int64_t>(s.base.steps.size());
  const std::string count = counted(static_cast<uint64_t>(steps), "step");
  if (!s.slow_step) {
    const std::string mean = micros_text({s.base.wall().count / std::max<int64_t>(1, steps)});
    const auto [shortest, longest] = shortest_and_longest(s.base.steps);
    constexpr double kAlike = 1.1;
    if (ratio(longest, shortest) <= kAlike) return fmt::format("{} of {}", count, mean);
    return fmt::format("{}, mean {}, {} to {}", count, mean, micros_text(shortest),
                       micros_text(longest));
  }
  const SlowStep& slow = *s.slow_step;
  return fmt::format("{}, median {}, {} takes {} ({} +{})", count, micros_text(slow.median),
                     screen_safe(slow.name).substr(0, kBaseNameShown), micros_text(slow.wall),
                     slow.is_busy ? "GPU busy" : cause_words(slow.cause), micros_text(slow.more));
}

}  // namespace

namespace {

// Of the time base itself.
std::string base_text(const Summary& s) {
  const TimeBase& base = s.base;
  const Nanos wall = base.wall();
  const std::string of_what =
      base.start_up ? std::string() : fmt::format("the recording, {}; ", micros_text(wall));
  std::string name = screen_safe(base.name).substr(0, kBaseNameShown);
  while (name.ends_with(' ')) name.pop_back();  // of "step 1", "step 2" …
  switch (base.kind) {
    case TimeBaseKind::kSteps:
    case TimeBaseKind::kAnnotation:
      return fmt::format("{} ({}){}", steps_text(s), name, span_text(s));
    case TimeBaseKind::kRepetition:
      return fmt::format("{}, by GPU work that repeats: the recording marks none{}", steps_text(s),
                         span_text(s));
    case TimeBaseKind::kRecording:
      if (base.steps_found > 0) {
        return fmt::format("{}the {} found launch only {} of the GPU work{}", of_what,
                           counted(base.steps_found, "step"), percent_text(1 - base.outside_steps),
                           span_text(s));
      }
      if (base.repeats > 0) {
        return fmt::format(
            "{}it has no steps, its work repeats {} times: steps or layers is unknown{}", of_what,
            base.repeats, span_text(s));
      }
      return fmt::format("{}it has no steps{}", of_what, span_text(s));
    case TimeBaseKind::kGpuSpan:
      break;
  }
  return fmt::format("the GPU's work, {}; no host events recorded", micros_text(wall));
}

}  // namespace

// "steady state 40.2 ms of 108.7 ms; start-up 68.0 ms (first use 65.8 ms); 19 steps of …"
std::string time_base_text(const Summary& s) {
  if (!s.base.start_up) return base_text(s);
  constexpr double kShownRest = 0.005;
  const TimeBase::StartUp& start_up = *s.base.start_up;
  const Nanos rest = start_up.recorded - start_up.time - s.base.wall();
  return fmt::format(
      "steady state {} of {}; start-up {} (first use {}){}; {}", micros_text(s.base.wall()),
      micros_text(start_up.recorded), micros_text(start_up.time), micros_text(start_up.first_use),
      ratio(rest, start_up.recorded) >= kShownRest ? fmt::format(", end {}", micros_text(rest))
                                                   : std::string(),
      base_text(s));
}

std::string idle_causes_text(const Summary& s) {
  constexpr size_t kShown = 4;
  constexpr double kLeast = 0.005;
  std::vector<std::string> parts;
  for (const Summary::IdlePart& part : s.idle) {
    const double share = ratio(part.time, s.base.wall());
    if (share < kLeast || parts.size() == kShown) break;
    parts.push_back(fmt::format("{} {}", cause_words(part.cause), percent_text(share)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void show_wall_time(Screen& screen, const Summary& s) {
  if (!has_gpu_time(s)) {
    screen.entry("GPU", "no GPU work");
    return;
  }
  const Nanos wall = s.base.wall();
  const auto percent = [wall](Nanos part) { return ratio(part, wall) * 100; };
  const auto line = [&](const DeviceTime& t) {
    return fmt::format(
        "{} {:.1f} % busy    compute {:.1f}   exposed comm {:.1f}   copies {:.1f}   idle {:.1f}",
        busy_bar(ratio(t.busy, wall)), percent(t.busy), percent(t.computation),
        percent(t.exposed_communication), percent(t.exposed_copies), percent(t.idle));
  };
  if (s.base.devices.size() == 1) {
    screen.entry("GPU", line(s.base.devices.front()));
  } else {
    size_t shown = 0;
    for (const DeviceTime& device : s.base.devices) {
      if (shown++ == kGpusShown) break;
      screen.entry(device_name(device), line(device));
    }
    if (s.base.devices.size() > kGpusShown) {
      screen.entry("",
                   fmt::format("{} more GPUs: see steps.csv", s.base.devices.size() - kGpusShown));
    }
  }
  screen.entry("Wall", time_base_text(s));
  if (const std::string causes = idle_causes_text(s); !causes.empty())
    screen.entry("Idle", causes + "   (idle_causes.csv)");
}

std::string md_wall_time(const Summary& s) {
  if (!has_gpu_time(s)) return {};
  std::string text;
  const Nanos wall = s.base.wall();
  std::string time = time_base_text(s);
  if (s.path && s.path->missing.empty()) time += "; critical path: " + s.path->shares;
  text += fmt::format("| Wall time | {} |\n", md_prose_cell(time));
  const auto utilisation = [&](std::string_view name, const DeviceTime& t) {
    text += fmt::format("| {} | {} (idle {}, exposed communication {}, exposed copies {}) |\n",
                        name, percent_text(ratio(t.busy, wall)), percent_text(ratio(t.idle, wall)),
                        percent_text(ratio(t.exposed_communication, wall)),
                        percent_text(ratio(t.exposed_copies, wall)));
  };
  if (s.base.devices.size() == 1) {
    utilisation("GPU utilisation", s.base.devices.front());
  } else {
    for (size_t i = 0; i < std::min(kGpusShown, s.base.devices.size()); ++i)
      utilisation(fmt::format("{} utilisation", device_name(s.base.devices[i])), s.base.devices[i]);
  }
  if (const std::string causes = idle_causes_text(s); !causes.empty())
    text += fmt::format("| Idle by cause | {} |\n", causes);
  return text;
}

void write_wall_time(JsonWriter& json, const Summary& s) {
  const TimeBase& base = s.base;
  const auto millis = [&](std::string_view key, Nanos time) {
    json.key(key).raw(exact_decimal(time.count, 6));
  };
  json.key("wall_time").begin_object();
  json.key("base").value(time_base_name(base.kind));
  json.key("name");
  base.name.empty() ? json.null() : json.value(base.name);
  json.key("steps").value(static_cast<int64_t>(base.steps.size()));
  json.key("steps_found").value(static_cast<int64_t>(base.steps_found));
  millis("wall_ms", base.wall());
  millis("recorded_ms", base.start_up ? base.start_up->recorded : base.wall());
  millis("start_up_ms", base.start_up ? base.start_up->time : Nanos{});
  json.key("devices").begin_array();
  for (const DeviceTime& t : base.devices) {
    json.begin_object().key("device");
    t.device ? json.value(static_cast<int64_t>(*t.device)) : json.null();
    millis("busy_ms", t.busy);
    millis("computation_ms", t.computation);
    millis("exposed_communication_ms", t.exposed_communication);
    millis("exposed_copies_ms", t.exposed_copies);
    millis("idle_ms", t.idle);
    millis("span_ms", t.span);
    json.end_object();
  }
  json.end_array();
  json.key("idle_ms").begin_object();
  for (const Summary::IdlePart& part : s.idle) millis(part.cause, part.time);
  json.end_object().end_object();
}

}  // namespace fathom
