#include "session/code/planned_metrics.h"

#include <algorithm>
#include <set>

#include "base/text_parts.h"
#include "plan/plan_metrics.h"

namespace fathom {
namespace {

// A metric, and the text that says where its number comes from: a log pattern or a probe.
struct MetricSource {
  std::string metric, text;
  bool operator<(const MetricSource& other) const {
    return std::tie(metric, text) < std::tie(other.metric, other.text);
  }
};

bool is_log_pattern(const std::string& text) { return holds(text, '{'); }

std::set<MetricSource> sources_of(const Plan& plan, const Experiment& experiment) {
  std::set<MetricSource> sources;
  for (const Requirement& requirement : plan.requirements) {
    if (requirement.level == Level::kHardware) continue;
    if (!requirement.experiments.empty() && !contains(requirement.experiments, experiment.id))
      continue;
    for (const std::string& name : requirement.names) sources.insert({requirement.metric, name});
  }
  const auto add = [&](const std::string& metric, const std::string& subject) {
    if (is_log_pattern(subject) || holds(subject, ':')) sources.insert({metric, subject});
  };
  for (const ExpectedObservation& one : experiment.expected) add(one.metric, one.subject);
  for (const Criterion& one : experiment.success) add(one.metric, one.subject);
  for (const Surprise& one : experiment.surprises) add(one.metric, one.subject);
  for (const Criterion& one : plan.success) add(one.metric, one.subject);
  return sources;
}

// What a number of the log is in the metric's unit, by the word behind it: 'TTFT {float} ms'.
double factor_of(std::string_view pattern, size_t number, std::string_view unit) {
  size_t at = 0;
  for (size_t i = 0; i <= number; ++i) {
    at = pattern.find('}', at);
    if (at == std::string_view::npos) return 1;
    ++at;
  }
  while (at < pattern.size() && pattern[at] == ' ') ++at;
  const size_t end = std::min(pattern.find_first_of(" ,;)]|{", at), pattern.size());
  const std::string_view word = pattern.substr(at, end - at);
  struct Scale {
    std::string_view unit, word;
    double factor;
  };
  constexpr Scale kScales[] = {
      {"s", "ms", 1e-3},          {"s", "us", 1e-6},
      {"s", "µs", 1e-6},          {"s", "ns", 1e-9},
      {"s", "min", 60},           {"B", "kB", 1e3},
      {"B", "KB", 1e3},           {"B", "MB", 1e6},
      {"B", "GB", 1e9},           {"B", "MiB", 1 << 20},
      {"B", "GiB", 1 << 30},      {"B/s", "MB/s", 1e6},
      {"B/s", "GB/s", 1e9},       {"B/s", "TB/s", 1e12},
      {"FLOP/s", "GFLOP/s", 1e9}, {"FLOP/s", "TFLOP/s", 1e12},
      {"FLOP/s", "GFLOPS", 1e9},  {"FLOP/s", "TFLOPS", 1e12},
  };
  for (const Scale& scale : kScales) {
    if (scale.unit == unit && scale.word == word) return scale.factor;
  }
  return 1;
}

// "engine:Scheduler.step(batch.size)" → "engine:Scheduler.step" and "batch.size".
struct ProbeWords {
  std::string label;
  std::vector<std::string> numbers;
};
ProbeWords probe_words(const std::string& text) {
  ProbeWords words;
  const size_t open = text.find('(');
  words.label = text.substr(0, open);
  if (open == std::string::npos || text.back() != ')') return words;
  std::string rest = text.substr(open + 1, text.size() - open - 2);
  while (!rest.empty()) {
    // len(result) has brackets of its own and no comma.
    const size_t comma = std::min(rest.find(','), rest.size());
    std::string one = rest.substr(0, comma);
    one.erase(0, one.find_first_not_of(' '));
    while (!one.empty() && one.back() == ' ') one.pop_back();
    words.numbers.push_back(one);
    rest.erase(0, std::min(comma + 1, rest.size()));
  }
  return words;
}

void add_values(const MetricSource& source, std::string_view unit, const Observation* from,
                double factor, Observations& run) {
  if (from == nullptr || run.find(source.metric, source.text) != nullptr) return;
  if (source.metric == from->metric) {  // the same under the plan's name for it
    for (Observation& one : run.all) {
      if (&one == from) one.subject = source.text;
    }
    return;
  }
  Observation planned{source.metric, source.text, std::string(unit), from->values};
  for (double& value : planned.values) value *= factor;
  run.all.push_back(std::move(planned));
}

}  // namespace

std::vector<LogPattern> log_patterns_of(const Plan& plan, const Experiment& experiment) {
  std::set<std::string> texts;
  for (size_t i = 0; i < experiment.record.size(); ++i) {
    constexpr std::string_view kOption = "--log-pattern";
    const std::string& word = experiment.record[i];
    if (word == kOption && i + 1 < experiment.record.size()) texts.insert(experiment.record[i + 1]);
    if (word.starts_with("--log-pattern=")) texts.insert(word.substr(kOption.size() + 1));
  }
  for (const MetricSource& source : sources_of(plan, experiment)) {
    if (is_log_pattern(source.text)) texts.insert(source.text);
  }
  std::vector<LogPattern> patterns;
  for (const std::string& text : texts) {
    Result<LogPattern> pattern = LogPattern::parse(text);
    if (pattern.ok()) patterns.push_back(pattern.take());
  }
  return patterns;
}

void add_planned_metrics(const Plan& plan, const Experiment& experiment, Observations& run) {
  for (const MetricSource& source : sources_of(plan, experiment)) {
    const PlanMetric* metric = find_plan_metric(source.metric);
    if (metric == nullptr) continue;
    if (is_log_pattern(source.text)) {
      const Result<LogPattern> pattern = LogPattern::parse(source.text);
      if (!pattern.ok() || pattern.value().names().empty()) continue;
      const Observation* line = run.find("log_value", pattern.value().names()[0]);
      if (line == nullptr) line = run.find("log_value", source.text);
      add_values(source, metric->unit, line, factor_of(source.text, 0, metric->unit), run);
      continue;
    }
    const ProbeWords words = probe_words(source.text);
    // What only a log line has is not the time of a call: neither ttft nor itl.
    if (metric->record == "--log-pattern" && metric->unit == "s") continue;
    if (metric->unit == "s") {
      add_values(source, "s", run.find("function_time", words.label), 1, run);
      continue;
    }
    for (const std::string& number : words.numbers)
      add_values(source, metric->unit, run.find("log_value", words.label + " " + number), 1, run);
  }
}

}  // namespace fathom
