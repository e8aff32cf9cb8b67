#include "plan/experiment_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "plan/plan_metrics.h"

namespace fathom {
namespace {

constexpr double kRunLimit = 600, kServerLimit = 180;  // s

bool samples(const PlanDraft& draft) {
  return std::ranges::any_of(draft.tracked, [](const Tracked& one) {
    return find_plan_metric(one.metric)->record == "--pm-sampling";
  });
}

template <typename Wanted>
void add_platform_bounds(const PlanDraft& draft, Experiment& experiment, const Wanted& wanted,
                         std::set<std::string, std::less<>>& done) {
  if (draft.platform == nullptr || !wanted("dram_throughput") || done.contains("dram_throughput") ||
      !draft.tracks("dram_throughput"))
    return;
  const Rate& bandwidth = draft.platform->memory_bandwidth;
  if (!bandwidth.peak || !bandwidth.achievable) return;
  expect(experiment, "dram_throughput", std::nullopt,
         std::min(100.0, std::round(1000 * *bandwidth.achievable / *bandwidth.peak) / 10),
         fmt::format("achievable bandwidth of {}, {}: {}", draft.platform->name,
                     source_kind_name(bandwidth.achievable_source.kind),
                     bandwidth.achievable_source.where));
  done.insert("dram_throughput");
}

}  // namespace

Experiment begin_experiment(const PlanDraft& draft, ExperimentKind kind, std::string name) {
  Experiment experiment;
  experiment.id = fmt::format("E{}", draft.plan.experiments.size() + 1);
  experiment.kind = kind;
  experiment.name = std::move(name);
  experiment.command = draft.program.command;
  experiment.environment = draft.program.environment;
  experiment.folder = draft.program.folder;
  experiment.needs_gpu = draft.gpu;
  experiment.recorded = draft.gpu && !draft.amd;
  experiment.ends_by_limit = draft.program.server;
  experiment.time_limit = draft.program.server ? kServerLimit : kRunLimit;
  return experiment;
}

std::string hypothesis_of(const PlanDraft& draft, const FeatureFacts* feature) {
  if (feature == nullptr) return "None before the first measurement.";
  const std::string place =
      feature->evidence.empty() ? "" : " at " + draft.place(feature->evidence[0].at);
  return fmt::format("{}{}: {}", feature->title, place, feature->implication);
}

std::vector<std::string> timeline_options(const PlanDraft& draft) {
  std::vector<std::string> options;
  const auto add = [&](const char* option) {
    if (draft.may_use(option)) options.emplace_back(option);
  };
  if (draft.program.torch) add("--torch");
  if (draft.has_feature("cuda_graphs")) add("--graph-nodes");
  if (draft.tracks("peak_memory")) add("--allocations");
  if (samples(draft)) add("--pm-sampling");
  add_watched(draft, options);
  return options;
}

void add_watched(const PlanDraft& draft, std::vector<std::string>& options) {
  for (const std::string& probe : draft.probes) {
    options.emplace_back("--probe");
    options.push_back(probe);
  }
  for (const std::string& pattern : draft.log_patterns) {
    options.emplace_back("--log-pattern");
    options.push_back(pattern);
  }
}

void add_watched_of(const PlanDraft& draft, const FeatureFacts* feature,
                    std::vector<std::string>& options) {
  std::vector<std::string> metrics;
  if (feature != nullptr) {
    for (const MetricFacts& metric : feature->metrics) metrics.push_back(metric.id);
  }
  for (const Requirement& row : draft.plan.requirements) {
    const bool of_feature =
        feature != nullptr &&
        (std::ranges::find(metrics, row.metric) != metrics.end() ||
         (row.metric == "function_time" &&
          draft.is_probed_for(row, SubjectKind::kFeature, std::string(feature->id))));
    const bool asked =
        std::ranges::find(draft.goal.metrics, row.metric) != draft.goal.metrics.end();
    if (row.level != Level::kApplication || row.names.empty() || (!of_feature && !asked)) continue;
    const std::string& name = row.names[0];
    const bool probed = std::ranges::find(draft.probes, name) != draft.probes.end();
    const bool printed = std::ranges::find(draft.log_patterns, name) != draft.log_patterns.end();
    if ((!probed && !printed) || std::ranges::find(options, name) != options.end()) continue;
    options.emplace_back(probed ? "--probe" : "--log-pattern");
    options.push_back(name);
  }
}

void expect(Experiment& experiment, std::string_view metric, std::optional<double> low,
            std::optional<double> high, std::string source) {
  ExpectedObservation one;
  one.metric = metric;
  one.unit = find_plan_metric(metric)->unit;
  one.low = low;
  one.high = high;
  one.source = std::move(source);
  experiment.expected.push_back(std::move(one));
}

void expect_unknown(Experiment& experiment, std::string_view metric) {
  const auto same = [&](const ExpectedObservation& one) {
    return one.metric == metric && one.subject.empty();
  };
  if (std::ranges::none_of(experiment.expected, same))
    expect(experiment, metric, std::nullopt, std::nullopt, "unknown, first measurement");
}

void expect_tracked(const PlanDraft& draft, Experiment& experiment,
                    const std::vector<Level>& levels) {
  const auto wanted = [&](std::string_view metric) {
    const PlanMetric* known = find_plan_metric(metric);
    return std::ranges::find(levels, known->level) != levels.end();
  };
  std::set<std::string, std::less<>> done;
  for (ExpectedObservation& one : expected_of_kernels(draft, workload_parameters(draft), "")) {
    if (!wanted(one.metric) || !draft.tracks(one.metric)) continue;
    done.insert(one.metric);
    experiment.expected.push_back(std::move(one));
  }
  for (ExpectedObservation& one : expected_of_features(draft)) {
    if (!wanted(one.metric) || done.contains(one.metric)) continue;
    done.insert(one.metric);
    experiment.expected.push_back(std::move(one));
  }
  add_platform_bounds(draft, experiment, wanted, done);
  for (const Tracked& one : draft.tracked) {
    const PlanMetric& metric = *find_plan_metric(one.metric);
    if (!wanted(one.metric) || done.contains(one.metric)) continue;
    if (metric.level == Level::kHardware) {
      if (draft.amd ? metric.amd.empty() : !counters_on(metric, draft.chip).exists()) continue;
      if (metric.record == "--pm-sampling" ||
          (!draft.amd && counters_on(metric, draft.chip).set.empty()))
        continue;
    }
    expect_unknown(experiment, one.metric);
  }
  if (experiment.kind == ExperimentKind::kBaseline || experiment.kind == ExperimentKind::kHost)
    expect_unknown(experiment, "wall_time");
}

}  // namespace fathom
