#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"
#include "plan/run/schedule.h"
#include "trial/command.h"
#include "trial/fit.h"
#include "trial/observation.h"
#include "trial/statistics.h"

namespace fathom {

// A run that is over, or why it was not made.
struct RunOutcome {
  ScheduledRun run;
  std::optional<TrialEnd> end;  // absent: replayed without a journal, or not run
  std::string not_run;          // why; empty: it ran
  Observations observations;
  bool failed = false;  // it ended otherwise than it should
  size_t session = 0;   // which start of the program made it, from 1; 0: not known
};

// A metric of one configuration over all its runs.
struct MetricResult {
  std::string metric, subject, unit;
  std::vector<double> values;        // of all runs, in order
  std::vector<double> run_medians;   // one for each run
  std::vector<size_t> run_sessions;  // as run_medians
  SampleSummary summary;             // of values
  // Of the median, over runs where there are 6 of them; else over the values of the runs.
  std::optional<SampleInterval> interval;
  bool is_over_runs = false;
};

struct ConfigurationResult {
  std::string name;
  size_t runs = 0, failures = 0;
  std::vector<MetricResult> metrics;
  std::vector<ObservedCause> causes;
  std::vector<std::string> notes;
  std::string not_measured;  // why there is nothing; empty: there is
  std::string failure;       // of the first run that failed: its name and end; empty: none did
  std::string story;         // file, relative to the results; empty: none
};

enum class ExpectedVerdict : uint8_t {
  kConfirmed,
  kWithinNoise,  // the median is outside, its interval reaches the range
  kSurprise,
  kFirstMeasurement,  // nothing was expected
  kNotMeasured
};
std::string_view expected_verdict_name(ExpectedVerdict verdict);  // "confirmed"

struct ExpectedResult {
  const ExpectedObservation* expected = nullptr;
  size_t configuration = 0;
  ExpectedVerdict verdict = ExpectedVerdict::kNotMeasured;
  const MetricResult* measured = nullptr;
  std::string why;  // kNotMeasured: the reason; kSurprise: the nearest explanation
};

enum class CriterionVerdict : uint8_t { kMet, kNotMet, kNotMeasured, kByHand };
std::string_view criterion_verdict_name(CriterionVerdict verdict);  // "met"

struct CriterionResult {
  const Criterion* criterion = nullptr;
  std::string experiment;
  CriterionVerdict verdict = CriterionVerdict::kNotMeasured;
  std::string configuration;  // that decided; empty: all of them
  std::string value;          // measured there
  std::string why;            // not measured
};

struct SurpriseResult {
  const Surprise* surprise = nullptr;
  std::string experiment, configuration, detail;
};

// A metric against what was varied.
struct ScalingResult {
  std::string setting, metric, subject, unit;
  std::vector<double> x, y;
  Fit fit;
};

// The second configuration against the first.
struct ComparisonResult {
  size_t first = 0, second = 0;
  std::string metric, subject, unit;
  SampleComparison comparison;
  // Of the medians of runs; false: of the values inside too few runs, which are alike.
  bool is_over_runs = false;
};

// Ranges whose names differ in a number only: layers.
struct NumberedRanges {
  std::string pattern;  // "layer #"
  size_t configuration = 0;
  std::vector<std::pair<int64_t, double>> medians;  // number, seconds
};

struct ExperimentResult {
  const Experiment* experiment = nullptr;
  std::vector<RunOutcome> runs;  // of warm-ups those that failed
  std::vector<ConfigurationResult> configurations;
  std::vector<ExpectedResult> expected;
  std::vector<CriterionResult> criteria;
  std::vector<SurpriseResult> surprises;
  std::vector<ScalingResult> scaling;
  std::vector<ComparisonResult> comparisons;
  std::vector<NumberedRanges> numbered;
};

struct PlanResults {
  const Plan* plan = nullptr;
  std::vector<ExperimentResult> experiments;
  std::vector<CriterionResult> criteria;  // of the plan
  std::vector<SurpriseResult> surprises;
  std::vector<std::pair<std::string, std::string>> machine;  // state, name and value
  std::vector<std::string> notes;
  bool is_replay = false, is_complete = true;
};

// From finished runs to what they show. The plan must outlive the results.
ExperimentResult evaluate_experiment(const Experiment& experiment, std::vector<RunOutcome> runs);
// The plan's own criteria and surprises, over its experiments' results.
void evaluate_plan(const Plan& plan, PlanResults& results);

// The configuration's result of a metric: the subject as it is, else the first that fits it as a
// pattern or holds it; for an empty one, that of the run, else the first of all.
const MetricResult* find_metric(const ConfigurationResult& configuration, const std::string& metric,
                                const std::string& subject);

}  // namespace fathom
