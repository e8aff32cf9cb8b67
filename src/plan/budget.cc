#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/plan_draft.h"

namespace fathom {
namespace {

// Assumed time of one run where nobody has measured it. The smoke experiment tells the real one.
constexpr double kAssumedRun = 60;  // s
constexpr double kShortestRun = 10;

// A lower number is given up later.
int rank_of(const Experiment& experiment, const PlanDraft& draft) {
  switch (experiment.kind) {
    case ExperimentKind::kSmoke:
      return 0;
    case ExperimentKind::kBaseline:
    case ExperimentKind::kHost:
      return 1;
    case ExperimentKind::kCounters:
      return 2;
    case ExperimentKind::kCompare:
      return draft.goal.asks(Question::kComparison) || draft.goal.asks(Question::kRegression) ? 2
                                                                                              : 4;
    case ExperimentKind::kSweep:
      return 4;
    case ExperimentKind::kFirstCall:
      return std::ranges::find(draft.goal.metrics, "first_call_time") != draft.goal.metrics.end()
                 ? 2
                 : 5;
    case ExperimentKind::kStalls:
      return 3;
  }
  return 5;
}

// Counters run the program a second time.
double runs_with_counting(const Experiment& experiment) {
  const bool twice = std::ranges::any_of(experiment.record, [](const std::string& option) {
    return option.starts_with("--counters") || option.starts_with("--ncu");
  });
  return static_cast<double>(runs_of(experiment)) * (twice ? 2 : 1);
}

double cost(const Experiment& experiment, double run) {
  return runs_with_counting(experiment) * run;
}

double total_cost(const Plan& plan, double run) {
  double total = 0;
  for (const Experiment& experiment : plan.experiments) total += cost(experiment, run);
  return total;
}

}  // namespace

void fit_budget(PlanDraft& draft) {
  Plan& plan = draft.plan;
  if (draft.input.budget)
    plan.budget = draft.input.budget;
  else if (draft.goal.seconds)
    plan.budget = draft.goal.seconds;
  double run = kAssumedRun;
  if (plan.budget) {
    // Fewer repetitions first: three still give a median with a spread.
    if (total_cost(plan, run) > *plan.budget) {
      for (Experiment& experiment : plan.experiments)
        experiment.repetitions = std::min<int64_t>(experiment.repetitions, 3);
    }
    while (total_cost(plan, run) > *plan.budget && plan.experiments.size() > 2) {
      // The last of the least valuable ones.
      size_t worst = 0;
      for (size_t i = 0; i < plan.experiments.size(); ++i) {
        if (rank_of(plan.experiments[i], draft) >= rank_of(plan.experiments[worst], draft))
          worst = i;
      }
      const Experiment& dropped = plan.experiments[worst];
      plan.left_out.push_back(fmt::format(
          "{} ({}): {:.0f} s at an assumed {:.0f} s per run do not fit "
          "the budget of {:.0f} s",
          dropped.name, experiment_kind_name(dropped.kind), cost(dropped, run), run, *plan.budget));
      plan.experiments.erase(plan.experiments.begin() + static_cast<std::ptrdiff_t>(worst));
    }
    double runs = 0;
    for (const Experiment& experiment : plan.experiments) runs += runs_with_counting(experiment);
    run = std::min(run, std::max(kShortestRun, std::floor(*plan.budget / std::max(runs, 1.0))));
  }
  for (size_t i = 0; i < plan.experiments.size(); ++i) {
    Experiment& experiment = plan.experiments[i];
    experiment.id = fmt::format("E{}", i + 1);
    experiment.budget = cost(experiment, run);
    if (plan.budget)
      experiment.time_limit = std::min(experiment.time_limit, std::max(run, *experiment.budget));
  }
}

}  // namespace fathom
