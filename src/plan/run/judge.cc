#include "plan/run/judge.h"

#include <fmt/format.h>

#include <cmath>

#include "plan/plan_metrics.h"
#include "report/trial/sample_text.h"

namespace fathom {
namespace {

CriterionResult judge_expected(const ExperimentResult& result, const Criterion& criterion,
                               CriterionResult out) {
  size_t confirmed = 0, others = 0;
  for (const ExpectedResult& one : result.expected) {
    if (one.expected->metric != criterion.metric || !one.expected->known()) continue;
    if (!criterion.subject.empty() && one.expected->subject != criterion.subject) continue;
    const bool is_met =
        one.verdict == ExpectedVerdict::kConfirmed || one.verdict == ExpectedVerdict::kWithinNoise;
    if (one.verdict == ExpectedVerdict::kNotMeasured) {
      out.why = one.why;
      return out;
    }
    ++(is_met ? confirmed : others);
  }
  if (confirmed + others == 0) {
    out.why = "no range is expected of it";
    return out;
  }
  out.verdict = others == 0 ? CriterionVerdict::kMet : CriterionVerdict::kNotMet;
  out.value = fmt::format("{} of {} in the expected range", confirmed, confirmed + others);
  return out;
}

}  // namespace

std::string why_not_measured(const Experiment& experiment, const ConfigurationResult& of,
                             const std::string& id) {
  if (!of.not_measured.empty()) return of.not_measured;
  if (of.runs == 0) return "it was not run";
  if (find_metric(of, id, "") != nullptr) return "nothing of this name was seen";
  const PlanMetric* metric = find_plan_metric(id);
  if (metric == nullptr) return "no such metric";
  if (!experiment.recorded && metric->record != "run")
    return "the run was not recorded (recorded = false)";
  // Without GPU work the first note says why.
  if (find_metric(of, "gpu_events", "") == nullptr && !of.notes.empty()) return of.notes.front();
  if (!metric->record.empty() && metric->record != "run")
    return fmt::format("the recording does not have it; it needs {}", metric->record);
  if (!metric->counters.empty()) return "the recording has no such counters: --counters";
  return "the recording does not have it";
}

CriterionResult judge_criterion(const ExperimentResult& result, const Criterion& criterion) {
  CriterionResult out;
  out.criterion = &criterion;
  out.experiment = result.experiment->id;
  if (criterion.kind == CriterionKind::kByHand) {
    out.verdict = CriterionVerdict::kByHand;
    return out;
  }
  if (criterion.kind == CriterionKind::kExpected) return judge_expected(result, criterion, out);
  bool all_met = true;
  for (const ConfigurationResult& of : result.configurations) {
    const MetricResult* measured = find_metric(of, criterion.metric, criterion.subject);
    if (measured == nullptr) {
      out.configuration = of.name;
      out.why = why_not_measured(*result.experiment, of, criterion.metric);
      out.verdict = CriterionVerdict::kNotMeasured;
      return out;
    }
    const double median = measured->summary.p50;
    bool met = true;
    std::string value = measured_text(median, measured->unit);
    if (criterion.kind == CriterionKind::kAtMost) met = median <= criterion.value.value_or(0);
    if (criterion.kind == CriterionKind::kAtLeast) met = median >= criterion.value.value_or(0);
    if (criterion.kind == CriterionKind::kSpread) {
      if (!measured->interval || median == 0) {
        out.configuration = of.name;
        out.why = "too few runs for an interval";
        out.verdict = CriterionVerdict::kNotMeasured;
        return out;
      }
      const double width =
          100 * (measured->interval->high - measured->interval->low) / std::abs(median);
      met = width <= criterion.value.value_or(0);
      value = fmt::format("interval {:.1f} % wide", width);
    }
    all_met = all_met && met;
    if (out.value.empty() || !met) {
      out.configuration = of.name;
      out.value = value;
    }
  }
  out.verdict = all_met ? CriterionVerdict::kMet : CriterionVerdict::kNotMet;
  return out;
}
void find_surprise(const Surprise& surprise, const ExperimentResult& result,
                   std::vector<SurpriseResult>& out) {
  if (surprise.metric.empty() || !(surprise.below || surprise.above)) return;
  for (const ConfigurationResult& of : result.configurations) {
    const MetricResult* measured = find_metric(of, surprise.metric, surprise.subject);
    if (measured == nullptr) continue;
    const double median = measured->summary.p50;
    if ((surprise.below && median < *surprise.below) ||
        (surprise.above && median > *surprise.above)) {
      out.push_back(
          {&surprise, result.experiment->id, of.name, measured_text(median, measured->unit)});
    }
  }
}

}  // namespace fathom
