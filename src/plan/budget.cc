#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/plan_draft.h"
#include "plan/plan_text.h"

namespace fathom {
namespace {

// Assumed time of one run where nobody has measured it. The smoke experiment measures the real
// time.
constexpr double kAssumedRun = 60;  // s
constexpr double kShortestRun = 10;
constexpr double kUsualRuns = 40;  // of a plan; with a budget, so many are to fit

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

// A server takes its whole limit.
double cost(const Experiment& experiment, double run) {
  return runs_with_counting(experiment) * (experiment.ends_by_limit ? experiment.time_limit : run);
}

// Shorter runs of a server before fewer of them.
void shorten_servers(Plan& plan) {
  constexpr double kShortestServer = 30;  // s
  double runs = 0;
  for (const Experiment& experiment : plan.experiments) runs += runs_with_counting(experiment);
  for (Experiment& experiment : plan.experiments) {
    if (experiment.ends_by_limit)
      experiment.time_limit = std::clamp(std::floor(*plan.budget / runs), kShortestServer,
                                         std::max(kShortestServer, experiment.time_limit));
  }
}

double total_cost(const Plan& plan, double run) {
  double total = 0;
  for (const Experiment& experiment : plan.experiments) total += cost(experiment, run);
  return total;
}

// One time for all runs of a plan: a short budget is meant for a program with short runs.
double assumed_run(const std::optional<double>& budget) {
  if (!budget) return kAssumedRun;
  return std::clamp(std::floor(*budget / kUsualRuns), kShortestRun, kAssumedRun);
}

// Three give a median with a spread; an interval needs more.
int64_t fewest_repetitions(const Experiment& experiment) {
  const bool interval = std::ranges::any_of(
      experiment.success, [](const Criterion& one) { return one.kind == CriterionKind::kSpread; });
  return interval ? kRepetitionsForInterval : 3;
}

// The most valuable experiments first, each where the time left has room for it. The smoke
// experiment stays in any case.
void keep_what_fits(PlanDraft& draft, double run) {
  Plan& plan = draft.plan;
  std::vector<size_t> order(plan.experiments.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {},
                           [&](size_t i) { return rank_of(plan.experiments[i], draft); });
  std::vector<bool> kept(order.size());
  double left = *plan.budget;
  for (const size_t i : order) {
    const Experiment& experiment = plan.experiments[i];
    const double needed = cost(experiment, run);
    kept[i] = needed <= left || experiment.kind == ExperimentKind::kSmoke;
    if (kept[i]) {
      left -= needed;
      continue;
    }
    plan.left_out.push_back(
        fmt::format("{} ({}): {} at an assumed {} per run do not fit the budget of {}",
                    experiment.name, experiment_kind_name(experiment.kind), duration_text(needed),
                    duration_text(run), duration_text(*plan.budget)));
  }
  size_t position = 0;
  std::erase_if(plan.experiments, [&](const Experiment&) { return !kept[position++]; });
}

}  // namespace

void fit_budget(PlanDraft& draft) {
  Plan& plan = draft.plan;
  if (draft.input.budget)
    plan.budget = draft.input.budget;
  else if (draft.goal.seconds)
    plan.budget = draft.goal.seconds;
  if (plan.budget) shorten_servers(plan);
  const double run = assumed_run(plan.budget);
  if (plan.budget && total_cost(plan, run) > *plan.budget) {
    // Fewer repetitions first, as far as the criteria can still be met.
    for (Experiment& experiment : plan.experiments)
      experiment.repetitions = std::min(experiment.repetitions, fewest_repetitions(experiment));
    keep_what_fits(draft, run);
  }
  for (size_t i = 0; i < plan.experiments.size(); ++i) {
    Experiment& experiment = plan.experiments[i];
    experiment.id = fmt::format("E{}", i + 1);
    experiment.budget = cost(experiment, run);
    if (plan.budget && *experiment.budget > *plan.budget) {
      plan.open.push_back(fmt::format(
          "Not even the smoke run fits the budget: {} at an assumed {} per run, of {}. "
          "It is ended at that time.",
          duration_text(*experiment.budget), duration_text(run), duration_text(*plan.budget)));
      experiment.budget = plan.budget;
      experiment.time_limit = *plan.budget;
    } else if (plan.budget) {
      experiment.time_limit = std::min(experiment.time_limit, std::max(run, *experiment.budget));
    }
  }
}

}  // namespace fathom
