#include "plan/run/compare_configurations.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/ascii.h"

namespace fathom {
namespace {

constexpr size_t kMostScaling = 40;  // of an experiment
constexpr size_t kMostCompared = 6;  // metrics of a configuration, beside those of the run

std::optional<double> setting_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() ||
      !std::isfinite(value))
    return std::nullopt;
  return value;
}

// Values of a run are alike; where runs are few they are all there is.
bool is_compared_by_runs(const MetricResult& first, const MetricResult& second) {
  return first.run_medians.size() >= 4 && second.run_medians.size() >= 4;
}

SampleComparison compare_metrics(const MetricResult& first, const MetricResult& second) {
  return is_compared_by_runs(first, second) ? compare_samples(first.run_medians, second.run_medians)
                                            : compare_samples(first.values, second.values);
}

// Metrics of the first configuration that the others have too, the most interesting first.
std::vector<const MetricResult*> interesting(const ExperimentResult& result) {
  std::vector<const MetricResult*> out;
  if (result.configurations.empty()) return out;
  for (const MetricResult& metric : result.configurations.front().metrics) {
    if (interest(metric) >= 0) out.push_back(&metric);
  }
  std::stable_sort(out.begin(), out.end(), [](const MetricResult* a, const MetricResult* b) {
    return interest(*a) < interest(*b);
  });
  return out;
}

const std::string* setting(const Experiment& experiment, size_t configuration,
                           const std::string& name) {
  const Configuration* of = configuration_of(experiment, configuration);
  if (of == nullptr) return nullptr;
  for (const auto& [key, value] : of->settings) {
    if (key == name) return &value;
  }
  return nullptr;
}

// The configurations in which only this setting differs from the first.
std::vector<size_t> along(const Experiment& experiment, const std::string& name) {
  std::vector<size_t> out;
  const Configuration* base = configuration_of(experiment, 0);
  for (size_t i = 0; i < experiment.configurations.size(); ++i) {
    bool others_equal = true;
    for (const auto& [key, value] : experiment.configurations[i].settings) {
      const std::string* first = setting(experiment, 0, key);
      others_equal = others_equal && (key == name || (first != nullptr && *first == value));
    }
    others_equal =
        others_equal && experiment.configurations[i].settings.size() == base->settings.size();
    const std::string* value = setting(experiment, i, name);
    if (others_equal && value != nullptr && setting_number(*value)) out.push_back(i);
  }
  return out;
}

// The metric where the setting is largest against where it is smallest.
SampleVerdict compare_ends(const ExperimentResult& result, const ScalingResult& of,
                           const std::vector<size_t>& members) {
  const MetricResult *first = nullptr, *last = nullptr;
  double least = INFINITY, most = -INFINITY;
  for (const size_t i : members) {
    const double x = *setting_number(*setting(*result.experiment, i, of.setting));
    for (const MetricResult& one : result.configurations[i].metrics) {
      if (one.metric != of.metric || one.subject != of.subject) continue;
      if (x < least) least = x, first = &one;
      if (x > most) most = x, last = &one;
    }
  }
  return compare_metrics(*first, *last).verdict;
}

}  // namespace

int interest(const MetricResult& metric) {
  constexpr std::string_view kOrder[] = {
      "wall_time",     "iteration_time",  "ttft",      "itl",         "throughput", "gpu_busy_time",
      "function_time", "kernel_duration", "log_value", "peak_memory", "gpu_idle"};
  const auto at = std::ranges::find(kOrder, metric.metric);
  return at == std::end(kOrder) ? -1 : static_cast<int>(at - std::begin(kOrder));
}

void compare_configurations(ExperimentResult& result) {
  if (result.configurations.size() < 2) return;
  std::map<std::string, size_t> taken;
  for (const MetricResult* first : interesting(result)) {
    if (!first->subject.empty() && ++taken[first->metric] > kMostCompared) continue;
    for (size_t i = 1; i < result.configurations.size(); ++i) {
      const ConfigurationResult& other = result.configurations[i];
      for (const MetricResult& second : other.metrics) {
        if (second.metric != first->metric || second.subject != first->subject) continue;
        result.comparisons.push_back({0, i, first->metric, first->subject, first->unit,
                                      compare_metrics(*first, second),
                                      is_compared_by_runs(*first, second)});
      }
    }
  }
}

void fit_settings(ExperimentResult& result) {
  const Experiment& experiment = *result.experiment;
  if (experiment.configurations.empty()) return;
  for (const auto& [name, unused] : experiment.configurations.front().settings) {
    const std::vector<size_t> members = along(experiment, name);
    if (members.size() < 4) continue;
    std::map<std::string, size_t> taken;
    for (const MetricResult* metric : interesting(result)) {
      if (result.scaling.size() == kMostScaling) return;
      if (!metric->subject.empty() && ++taken[metric->metric] > kMostCompared) continue;
      ScalingResult scaling{name, metric->metric, metric->subject, metric->unit, {}, {}, {}};
      for (const size_t i : members) {
        for (const MetricResult& one : result.configurations[i].metrics) {
          if (one.metric != metric->metric || one.subject != metric->subject) continue;
          scaling.x.push_back(*setting_number(*setting(experiment, i, name)));
          scaling.y.push_back(one.summary.p50);
        }
      }
      const std::optional<Fit> fit = best_fit(scaling.x, scaling.y);
      if (!fit) continue;
      // A law of what may be noise is none.
      const SampleVerdict ends = compare_ends(result, scaling, members);
      if (ends == SampleVerdict::kNotResolved) continue;
      if (ends == SampleVerdict::kNoDifference && fit->kind != FitKind::kConstant) continue;
      scaling.fit = *fit;
      result.scaling.push_back(std::move(scaling));
    }
  }
}

void number_ranges(ExperimentResult& result) {
  for (size_t i = 0; i < result.configurations.size(); ++i) {
    std::map<std::string, std::map<int64_t, double>> groups;
    for (const MetricResult& metric : result.configurations[i].metrics) {
      if (metric.metric != "function_time") continue;
      const std::string& name = metric.subject;
      size_t end = name.find_last_of("0123456789");
      if (end == std::string::npos) continue;
      size_t begin = end++;
      while (begin > 0 && is_digit(name[begin - 1])) --begin;
      int64_t number = 0;
      if (std::from_chars(name.data() + begin, name.data() + end, number).ec != std::errc())
        continue;
      groups[name.substr(0, begin) + "#" + name.substr(end)][number] = metric.summary.p50;
    }
    for (const auto& [pattern, medians] : groups) {
      if (medians.size() < 3) continue;
      result.numbered.push_back({pattern, i, {medians.begin(), medians.end()}});
    }
  }
}

}  // namespace fathom
