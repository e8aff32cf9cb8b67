// The experiments that vary an option.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plan/experiment_parts.h"
#include "plan/goal_words.h"
#include "plan/plan_metrics.h"
#include "plan/sweeps.h"

namespace fathom {
namespace {

constexpr size_t kMostSweeps = 3;

std::string first_sentence(std::string_view text) {
  const size_t end = text.find(". ");
  return std::string(end == std::string_view::npos ? text : text.substr(0, end + 1));
}

// Options that affect the features, of other programs of the repository.
void say_what_cannot_be_set(PlanDraft& draft) {
  std::string names;
  size_t count = 0;
  std::set<std::string> seen;
  for (const uint32_t position : draft.features) {
    for (const uint32_t option : draft.facts.features[position].options) {
      const OptionFacts& facts = draft.facts.options[option];
      if (facts.kind != OptionKind::kCli || can_set(draft, option) || values_of(facts, {}).empty())
        continue;
      if (count == 4 || !seen.insert(facts.name).second) continue;
      names +=
          fmt::format("{}{} at {}", count++ > 0 ? ", " : "", facts.name, draft.place(facts.at));
    }
  }
  if (count == 0) return;
  draft.plan.open.push_back("The command does not have these options, which affect the features: " +
                            names + ". Give a command that has them with --command to vary them.");
}

// Kernels with this value in place of the default.
void add_expected_values(const PlanDraft& draft, const Sweep& sweep, const OptionFacts& option,
                         Experiment& experiment) {
  if (sweep.feature != nullptr || option.kind != OptionKind::kCli) return;
  for (const Configuration& configuration : experiment.configurations) {
    std::string name = configuration.settings[0].first;
    std::ranges::replace(name, '-', '_');
    std::vector<std::string> parameters = workload_parameters(draft);
    std::erase_if(parameters, [&](const std::string& one) { return one.starts_with(name + "="); });
    double number = 0;
    if (!read_number(configuration.settings[0].second, number)) continue;
    parameters.push_back(name + "=" + configuration.settings[0].second);
    for (ExpectedObservation& one : expected_of_kernels(draft, parameters, configuration.name)) {
      if (one.metric == "kernel_duration") experiment.expected.push_back(std::move(one));
    }
  }
}

void add_sweep(PlanDraft& draft, const Sweep& sweep, const OptionFacts& option) {
  Experiment experiment = begin_experiment(
      draft,
      draft.goal.asks(Question::kComparison) ? ExperimentKind::kCompare : ExperimentKind::kSweep,
      "vary " + option.name);
  experiment.configurations = values_of(option, sweep.wanted);
  if (option.kind == OptionKind::kCli)
    experiment.command = without_option(experiment.command, option);
  const std::string place = draft.place(option.at);
  experiment.purpose =
      sweep.feature != nullptr
          ? fmt::format("How {} depends on {} at {}.", sweep.feature->title, option.name, place)
          : fmt::format("How the time depends on {} at {}.", option.name, place);
  if (option.default_value)
    experiment.purpose += fmt::format(" Its default is {}.", *option.default_value);
  if (!option.help.empty()) experiment.purpose += fmt::format(" {}", first_sentence(option.help));
  experiment.hypothesis =
      sweep.feature != nullptr
          ? hypothesis_of(draft, sweep.feature)
          : fmt::format("None for {} before the first measurement.", option.name);
  if (experiment.recorded) add_watched_of(draft, sweep.feature, experiment.record);
  experiment.repetitions = kRepetitions;
  experiment.warmup = kWarmup;
  add_expected_values(draft, sweep, option, experiment);
  expect_unknown(experiment, draft.gpu && !draft.amd ? "iteration_time" : "wall_time");
  if (sweep.feature != nullptr) {
    for (const MetricFacts& metric : sweep.feature->metrics) {
      const PlanMetric* known = find_plan_metric(metric.id);
      if (known != nullptr && known->level != Level::kHardware && draft.tracks(metric.id))
        expect_unknown(experiment, metric.id);
    }
  }
  experiment.success.push_back(
      {CriterionKind::kSpread,
       fmt::format("Configurations of {} are distinguishable: the median is "
                   "known to 5 %.",
                   option.name),
       "", "wall_time", "", 5, "%"});
  draft.plan.experiments.push_back(std::move(experiment));
}

}  // namespace

void write_sweeps(PlanDraft& draft) {
  const std::vector<Sweep> all = sweeps_to_run(draft);
  size_t count = 0;
  for (const Sweep& sweep : all) {
    const OptionFacts& option = draft.facts.options[sweep.option];
    if (count++ >= kMostSweeps) {
      draft.plan.left_out.push_back(fmt::format("a sweep of {} ({}): {} sweeps come first",
                                                option.name, draft.place(option.at), kMostSweeps));
      continue;
    }
    add_sweep(draft, sweep, option);
  }
  say_what_cannot_be_set(draft);
  for (const uint32_t position : draft.goal.options) {
    const OptionFacts& option = draft.facts.options[position];
    const std::vector<std::string> numbers = draft.goal.numbers_of(position);
    const bool is_key = option.kind == OptionKind::kConfig;
    if (!numbers.empty() && !is_key && !has_settable(draft, option)) {
      draft.plan.open.push_back(
          fmt::format("The goal gives numbers for {} ({}), which the command does not have. Give "
                      "a command that has it with --command.",
                      option.name, draft.place(option.at)));
      continue;
    }
    if (can_set(draft, position) || !is_key) continue;
    draft.plan.open.push_back(fmt::format(
        "{} ({}{}) is set in code: no option of the command sets it. Change it there, or where the "
        "program passes it, and run the experiments once for each value{}.",
        option.name, draft.place(option.at),
        option.default_value ? ", default " + *option.default_value : "",
        numbers.empty() ? "" : fmt::format(": {}", fmt::join(numbers, ", "))));
  }
}

}  // namespace fathom
