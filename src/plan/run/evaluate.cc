// From finished runs to what they show.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "plan/run/compare_configurations.h"
#include "plan/run/judge.h"
#include "plan/run/results.h"
#include "plan/run/session_drift.h"
#include "report/trial/sample_text.h"

namespace fathom {
namespace {

void summarize_metric(MetricResult& result) {
  result.summary = summarize_sample(result.values);
  std::vector<double> medians = result.run_medians;
  std::sort(medians.begin(), medians.end());
  // Values of one run are alike: with enough runs, they are what varies.
  if (const auto over_runs = median_interval(medians)) {
    result.interval = over_runs;
    result.is_over_runs = true;
  } else {
    result.interval = result.summary.interval;
  }
}

class ExperimentEvaluation {
 public:
  ExperimentEvaluation(const Experiment& experiment, std::vector<RunOutcome> runs)
      : experiment_(experiment) {
    result_.experiment = &experiment;
    result_.runs = std::move(runs);
  }

  ExperimentResult evaluate() {
    gather();
    for (const ExpectedObservation& expected : experiment_.expected) expect(expected);
    for (const Criterion& criterion : experiment_.success)
      result_.criteria.push_back(judge_criterion(result_, criterion));
    for (const Surprise& surprise : experiment_.surprises)
      find_surprise(surprise, result_, result_.surprises);
    compare_configurations(result_);
    fit_settings(result_);
    number_ranges(result_);
    return std::move(result_);
  }

 private:
  void gather() {
    const size_t count = configuration_count(experiment_);
    result_.configurations.resize(count);
    for (size_t i = 0; i < count; ++i)
      result_.configurations[i].name = configuration_name(experiment_, i);
    for (const RunOutcome& run : result_.runs) {
      if (run.run.configuration >= count) continue;
      ConfigurationResult& into = result_.configurations[run.run.configuration];
      if (!run.not_run.empty()) {
        if (into.not_measured.empty()) into.not_measured = run.not_run;
        continue;
      }
      ++into.runs;
      if (run.failed) {
        ++into.failures;
        const std::string end = run.end ? run_end_text(experiment_, run.run, *run.end) : "";
        if (into.failure.empty())
          into.failure =
              fmt::format("{} {}: {}", run.run.is_warmup ? "warm-up" : "run", run.run.name, end);
        if (into.not_measured.empty()) into.not_measured = run.run.is_warmup ? into.failure : end;
      }
      add(run, into);
    }
    for (ConfigurationResult& into : result_.configurations) {
      for (MetricResult& metric : into.metrics) summarize_metric(metric);
      if (into.runs > into.failures) into.not_measured.clear();
      note_sessions(into);
    }
  }

  void add(const RunOutcome& run, ConfigurationResult& into) {
    for (const Observation& one : run.observations.all) {
      if (one.values.empty()) continue;
      // How long a failure took is of no use.
      if (run.failed && one.metric != "exit_status") continue;
      const auto [at, is_new] = places_[run.run.configuration].try_emplace(
          std::pair(one.metric, one.subject), into.metrics.size());
      if (is_new)
        into.metrics.push_back({one.metric, one.subject, one.unit, {}, {}, {}, {}, {}, false});
      MetricResult* known = &into.metrics[at->second];
      known->values.insert(known->values.end(), one.values.begin(), one.values.end());
      known->run_medians.push_back(summarize_sample(one.values).p50);
      known->run_sessions.push_back(run.session);
    }
    for (const ObservedCause& cause : run.observations.causes) {
      const bool is_known = std::ranges::any_of(into.causes, [&](const ObservedCause& other) {
        return other.subject == cause.subject && other.text == cause.text;
      });
      if (!is_known) into.causes.push_back(cause);
    }
    for (const std::string& note : run.observations.notes) {
      if (std::ranges::find(into.notes, note) == into.notes.end()) into.notes.push_back(note);
    }
  }

  void expect(const ExpectedObservation& expected) {
    for (size_t i = 0; i < result_.configurations.size(); ++i) {
      const ConfigurationResult& of = result_.configurations[i];
      if (!expected.configuration.empty() && expected.configuration != of.name) continue;
      ExpectedResult one;
      one.expected = &expected;
      one.configuration = i;
      one.measured = find_metric(of, expected.metric, expected.subject);
      if (one.measured == nullptr) {
        one.why = why_not_measured(experiment_, of, expected.metric);
      } else if (!expected.known()) {
        one.verdict = ExpectedVerdict::kFirstMeasurement;
      } else {
        const double low = expected.low.value_or(-INFINITY),
                     high = expected.high.value_or(INFINITY);
        const double median = one.measured->summary.p50;
        const auto& interval = one.measured->interval;
        const bool reaches = interval && interval->low <= high && interval->high >= low;
        one.verdict = median >= low && median <= high ? ExpectedVerdict::kConfirmed
                      : reaches                       ? ExpectedVerdict::kWithinNoise
                                                      : ExpectedVerdict::kSurprise;
        if (one.verdict == ExpectedVerdict::kSurprise)
          one.why = nearest_explanation(of, *one.measured, median < low);
      }
      result_.expected.push_back(std::move(one));
    }
  }

  std::string nearest_explanation(const ConfigurationResult& of, const MetricResult& measured,
                                  bool is_below) const {
    if (measured.metric == "exit_status") return "the run failed: its log is in logs/";
    for (const Surprise& surprise : experiment_.surprises) {
      if (surprise.metric != measured.metric) continue;
      const bool applies = is_below ? surprise.below.has_value() : surprise.above.has_value();
      const bool is_other_side =
          is_below ? surprise.above && !surprise.below : surprise.below && !surprise.above;
      if (applies || !is_other_side)
        return surprise.look_at.empty() ? surprise.text : surprise.look_at;
    }
    // What holds the run up is no reason for a kernel's number, nor another kernel's.
    for (const ObservedCause& cause : of.causes) {
      if (cause.subject == measured.subject) return cause.text;
    }
    return experiment_.recorded ? "none found: record with --counters to test hypotheses"
                                : "none: the run was not recorded";
  }

  const Experiment& experiment_;
  ExperimentResult result_;
  // Of each configuration: where a metric and its subject are.
  std::map<size_t, std::map<std::pair<std::string, std::string>, size_t>> places_;
};

}  // namespace

ExperimentResult evaluate_experiment(const Experiment& experiment, std::vector<RunOutcome> runs) {
  return ExperimentEvaluation(experiment, std::move(runs)).evaluate();
}

void evaluate_plan(const Plan& plan, PlanResults& results) {
  for (const Criterion& criterion : plan.success) {
    CriterionResult best;
    best.criterion = &criterion;
    best.experiment = criterion.experiment;
    best.why = "no experiment measured it";
    if (criterion.kind == CriterionKind::kByHand) {
      best.verdict = CriterionVerdict::kByHand;
      best.why.clear();
    }
    for (const ExperimentResult& of : results.experiments) {
      if (criterion.kind == CriterionKind::kByHand) break;
      if (!criterion.experiment.empty() && of.experiment->id != criterion.experiment) continue;
      CriterionResult one = judge_criterion(of, criterion);
      if (one.verdict == CriterionVerdict::kNotMeasured &&
          best.verdict != CriterionVerdict::kNotMeasured)
        continue;
      best = one;
      if (best.verdict == CriterionVerdict::kNotMet) break;
    }
    results.criteria.push_back(std::move(best));
  }
  for (const Surprise& surprise : plan.surprises) {
    for (const ExperimentResult& of : results.experiments)
      find_surprise(surprise, of, results.surprises);
  }
}

}  // namespace fathom
