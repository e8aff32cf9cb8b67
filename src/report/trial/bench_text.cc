#include "report/trial/bench_text.h"

#include <algorithm>

#include "base/count_text.h"
#include "base/json_writer.h"
#include "base/kernel_name.h"
#include "report/trial/sample_text.h"

namespace fathom {
namespace {

constexpr size_t kKernelsShown = 5;

std::vector<double> walls(const BenchCommand& command) {
  std::vector<double> values;
  for (const TrialEnd& end : command.ends) values.push_back(static_cast<double>(end.wall_ns) / 1e9);
  return values;
}

template <typename Value>
std::vector<double> of_ends(const BenchCommand& command, Value value) {
  std::vector<double> values;
  for (const TrialEnd& end : command.ends) values.push_back(value(end));
  return values;
}

// The values of a metric of all recorded runs: of each run its median.
std::vector<double> of_recorded(const BenchCommand& command, const std::string& metric,
                                const std::string& subject) {
  std::vector<double> values;
  for (const Observations& run : command.recorded) {
    const Observation* found = run.find(metric, subject);
    if (found != nullptr) values.push_back(summarize_sample(found->values).p50);
  }
  return values;
}

std::string words_text(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return screen_safe(out);
}

// Kernels of the last recorded run, the longest first: that is the order they were observed in.
std::vector<std::string> kernels_of(const BenchCommand& command) {
  std::vector<std::string> names;
  if (command.recorded.empty()) return names;
  for (const Observation& one : command.recorded.back().all) {
    if (one.metric == "kernel_duration" && names.size() < kKernelsShown)
      names.push_back(one.subject);
  }
  return names;
}

struct ShownMetric {
  const char* metric;
  const char* word;
};
constexpr ShownMetric kHardwareShown[] = {{"sm_throughput", "SM"},
                                          {"tensor_pipe", "tensor"},
                                          {"dram_throughput", "DRAM"},
                                          {"l2_hit_rate", "L2 hits"},
                                          {"occupancy", "occupancy"}};

class BenchScreen {
 public:
  BenchScreen(const BenchResult& result, const TerminalStyle& style)
      : result_(result), screen_(style) {}

  std::string write() {
    for (const BenchCommand& command : result_.commands) show(command);
    compare();
    for (const std::string& note : result_.notes) screen_.line("note: " + screen_safe(note));
    return screen_.take();
  }

 private:
  void row(std::string_view label, std::string_view text) {
    screen_.line(fmt::format("  {} {}", fit_left(label, 10), text));
  }

  void show(const BenchCommand& command) {
    screen_.line(screen_.bold(command.name) + "  " + words_text(command.words));
    if (command.ends.empty()) {
      row("", "no finished run");
    } else if (std::ranges::none_of(command.ends, &TrialEnd::ok) && result_.failed) {
      show_failures(command);  // how long a failure takes is of no use
    } else {
      const std::vector<double> values = walls(command);
      const SampleSummary wall = summarize_sample(values);
      std::string high;
      if (wall.p95) high += "  p95 " + measured_text(*wall.p95, "s");
      if (wall.p99) high += "  p99 " + measured_text(*wall.p99, "s");
      row("wall time", fmt::format("{}{}  ({}, {} to {})", median_text(wall, "s"), high,
                                   counted(wall.count, "run"), measured_text(wall.least, "s"),
                                   measured_text(wall.most, "s")));
      show_usage(command);
      if (values.size() >= 5) {
        for (const std::string& line : histogram_lines(values, "s", 6))
          screen_.line("             " + line);
      }
      for (const std::string& warning : sample_warnings(wall, "s")) row("", screen_.warn(warning));
      show_failures(command);
    }
    show_gpu(command);
    screen_.line("");
  }

  void show_usage(const BenchCommand& command) {
    const auto seconds = [](int64_t ns) { return static_cast<double>(ns) / 1e9; };
    const SampleSummary user = summarize_sample(
        of_ends(command, [&](const TrialEnd& end) { return seconds(end.user_ns); }));
    const SampleSummary system = summarize_sample(
        of_ends(command, [&](const TrialEnd& end) { return seconds(end.system_ns); }));
    std::string text = fmt::format("user {}, system {}", measured_text(user.p50, "s"),
                                   measured_text(system.p50, "s"));
    int64_t peak = 0;
    for (const TrialEnd& end : command.ends) peak = std::max(peak, end.max_rss_bytes.value_or(0));
    if (peak > 0)
      text += fmt::format(", peak memory {}", measured_text(static_cast<double>(peak), "B"));
    row("CPU", text);
  }

  void show_failures(const BenchCommand& command) {
    for (size_t i = 0; i < command.ends.size(); ++i) {
      if (command.ends[i].ok()) continue;
      row("", screen_.warn(
                  fmt::format("run {}: {}", i + 1, end_text(command.ends[i], result_.limit_s))));
    }
    for (const std::string& line : command.last_lines) row("", "│ " + screen_safe(line));
  }

  void show_gpu(const BenchCommand& command) {
    const std::vector<double> busy = of_recorded(command, "gpu_busy_time", "");
    if (busy.empty()) return;
    const std::vector<double> idle = of_recorded(command, "gpu_idle", "");
    const std::vector<double> events = of_recorded(command, "gpu_events", "");
    row("GPU time",
        fmt::format("{} busy, {:.1f} % idle, {} kernels and copies ({} recorded)",
                    median_text(summarize_sample(busy), "s"), summarize_sample(idle).p50,
                    measured_text(summarize_sample(events).p50, ""), counted(busy.size(), "run")));
    for (const std::string& kernel : kernels_of(command)) {
      const std::vector<double> time = of_recorded(command, "kernel_duration", kernel);
      const std::vector<double> share = of_recorded(command, "kernel_share", kernel);
      std::string line = fmt::format(
          "{:5.1f} %  {}  {}", share.empty() ? 0.0 : summarize_sample(share).p50,
          measured_text(summarize_sample(time).p50, "s"), fit_left(screen_safe(kernel), 48));
      for (const ShownMetric& shown : kHardwareShown) {
        const std::vector<double> values = of_recorded(command, shown.metric, kernel);
        if (!values.empty())
          line += fmt::format("  {} {:.0f} %", shown.word, summarize_sample(values).p50);
      }
      screen_.line("             " + line);
    }
  }

  void compare() {
    if (result_.failed) return;
    const BenchCommand& first = result_.commands.front();
    for (size_t i = 1; i < result_.commands.size(); ++i) {
      const BenchCommand& other = result_.commands[i];
      screen_.line(fmt::format("{} against {}: wall time {}", other.name, first.name,
                               faster_text(compare_samples(walls(first), walls(other)))));
      const std::vector<double> before = of_recorded(first, "gpu_busy_time", "");
      const std::vector<double> after = of_recorded(other, "gpu_busy_time", "");
      if (before.empty() || after.empty()) continue;
      screen_.line(fmt::format("{} against {}: GPU time {}", other.name, first.name,
                               faster_text(compare_samples(before, after))));
    }
  }

  const BenchResult& result_;
  Screen screen_;
};

void put_sample(JsonWriter& json, const std::vector<double>& values) {
  json.begin_object();
  if (!values.empty()) {
    const SampleSummary summary = summarize_sample(values);
    json.key("count").value(static_cast<int64_t>(summary.count));
    json.key("median").value(summary.p50);
    if (summary.interval) {
      json.key("low").value(summary.interval->low);
      json.key("high").value(summary.interval->high);
      json.key("confidence").value(summary.interval->confidence);
    }
    json.key("mean").value(summary.mean);
    json.key("min").value(summary.least);
    json.key("max").value(summary.most);
    if (summary.p95) json.key("p95").value(*summary.p95);
    if (summary.p99) json.key("p99").value(*summary.p99);
    json.key("outliers").value(static_cast<int64_t>(summary.outliers));
    json.key("drifts").value(summary.drift.is_significant);
  }
  json.key("values").begin_array();
  for (const double value : values) json.value(value);
  json.end_array();
  json.end_object();
}

std::string_view verdict_word(SampleVerdict verdict) {
  switch (verdict) {
    case SampleVerdict::kLess:
      return "faster";
    case SampleVerdict::kMore:
      return "slower";
    default:
      return sample_verdict_name(verdict);
  }
}

void put_comparison(JsonWriter& json, std::string_view what, const std::vector<double>& first,
                    const std::vector<double>& second) {
  if (first.empty() || second.empty()) return;
  const SampleComparison comparison = compare_samples(first, second);
  json.key(what).begin_object();
  json.key("verdict").value(verdict_word(comparison.verdict));
  json.key("ratio").value(comparison.estimate);
  if (comparison.interval) {
    json.key("low").value(comparison.interval->low);
    json.key("high").value(comparison.interval->high);
  }
  json.end_object();
}

}  // namespace

std::string bench_text(const BenchResult& result, const TerminalStyle& style) {
  return BenchScreen(result, style).write();
}

std::string bench_json(const BenchResult& result) {
  JsonWriter json(true);
  json.begin_object();
  json.key("commands").begin_array();
  for (const BenchCommand& command : result.commands) {
    json.begin_object();
    json.key("name").value(command.name);
    json.key("command").begin_array();
    for (const std::string& word : command.words) json.value(word);
    json.end_array();
    json.key("wall_s");
    put_sample(json, walls(command));
    json.key("user_s");
    put_sample(json, of_ends(command, [](const TrialEnd& end) {
                 return static_cast<double>(end.user_ns) / 1e9;
               }));
    json.key("system_s");
    put_sample(json, of_ends(command, [](const TrialEnd& end) {
                 return static_cast<double>(end.system_ns) / 1e9;
               }));
    json.key("ends").begin_array();
    for (const TrialEnd& end : command.ends) json.value(end_text(end, result.limit_s));
    json.end_array();
    if (!command.recorded.empty()) {
      json.key("gpu_busy_s");
      put_sample(json, of_recorded(command, "gpu_busy_time", ""));
      json.key("kernels").begin_array();
      for (const std::string& kernel : kernels_of(command)) {
        json.begin_object();
        json.key("name").value(kernel);
        for (const Observation& one : command.recorded.back().all) {
          if (one.subject != kernel) continue;
          json.key(one.metric)
              .value(summarize_sample(of_recorded(command, one.metric, kernel)).p50);
        }
        json.end_object();
      }
      json.end_array();
    }
    json.end_object();
  }
  json.end_array();
  json.key("comparisons").begin_array();
  for (size_t i = 1; i < result.commands.size(); ++i) {
    const BenchCommand &first = result.commands.front(), &other = result.commands[i];
    json.begin_object();
    json.key("of").value(other.name);
    json.key("against").value(first.name);
    put_comparison(json, "wall_time", walls(first), walls(other));
    put_comparison(json, "gpu_time", of_recorded(first, "gpu_busy_time", ""),
                   of_recorded(other, "gpu_busy_time", ""));
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
