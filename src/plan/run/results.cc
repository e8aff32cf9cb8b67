#include "plan/run/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/ascii.h"
#include "base/count_text.h"
#include "base/glob.h"
#include "plan/plan_metrics.h"
#include "report/trial/sample_text.h"

namespace fathom {
namespace {

constexpr size_t kMostScaling = 40;  // of an experiment
constexpr size_t kMostCompared = 6;  // metrics of a configuration, beside those of the run

std::string lower_text(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::optional<double> setting_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() ||
      !std::isfinite(value))
    return std::nullopt;
  return value;
}

// What is worth a comparison or a fit: times first, the run's own before those of its parts.
int interest(const MetricResult& metric) {
  constexpr std::string_view kOrder[] = {
      "wall_time",     "iteration_time",  "ttft",      "itl",         "throughput", "gpu_busy_time",
      "function_time", "kernel_duration", "log_value", "peak_memory", "gpu_idle"};
  const auto at = std::ranges::find(kOrder, metric.metric);
  return at == std::end(kOrder) ? -1 : static_cast<int>(at - std::begin(kOrder));
}

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

// Values of a run are alike; where runs are few they are all there is.
bool is_compared_by_runs(const MetricResult& first, const MetricResult& second) {
  return first.run_medians.size() >= 4 && second.run_medians.size() >= 4;
}

SampleComparison compare_metrics(const MetricResult& first, const MetricResult& second) {
  return is_compared_by_runs(first, second) ? compare_samples(first.run_medians, second.run_medians)
                                            : compare_samples(first.values, second.values);
}

// Why a metric that was asked for has no value.
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

struct SessionRuns {
  size_t session = 0;
  std::vector<double> medians;
};

std::vector<SessionRuns> by_session(const MetricResult& metric) {
  std::map<size_t, std::vector<double>> sessions;
  for (size_t i = 0; i < metric.run_medians.size() && i < metric.run_sessions.size(); ++i) {
    if (metric.run_sessions[i] != 0)
      sessions[metric.run_sessions[i]].push_back(metric.run_medians[i]);
  }
  std::vector<SessionRuns> out;
  for (auto& [session, medians] : sessions) out.push_back({session, std::move(medians)});
  return out;
}

// Whether two sessions measured something else. Under four runs each no test reaches 95 %: then
// they must lie further apart than 5 %, and than three times what the runs of one session do. Of a
// single run nothing is known.
bool sessions_differ(const SessionRuns& first, const SessionRuns& second) {
  if (first.medians.size() < 2 || second.medians.size() < 2) return false;
  if (first.medians.size() >= 4 && second.medians.size() >= 4) {
    const SampleVerdict verdict = compare_samples(first.medians, second.medians).verdict;
    return verdict == SampleVerdict::kLess || verdict == SampleVerdict::kMore;
  }
  const auto [least, most] = std::ranges::minmax(first.medians);
  const auto [other_least, other_most] = std::ranges::minmax(second.medians);
  const double apart = std::max(other_least - most, least - other_most);
  return apart > 0.05 * std::abs(most) &&
         apart > 3 * std::max(most - least, other_most - other_least);
}

// Runs that were made after a resume are compared with those before it: the machine may have
// changed in between, and one median over both would hide it.
void note_sessions(ConfigurationResult& of) {
  for (const MetricResult& metric : of.metrics) {
    if (interest(metric) < 0 || !metric.subject.empty()) continue;
    const std::vector<SessionRuns> sessions = by_session(metric);
    for (size_t i = 1; i < sessions.size(); ++i) {
      if (!sessions_differ(sessions[0], sessions[i])) continue;
      const PlanMetric* known = find_plan_metric(metric.metric);
      const std::string_view title = known != nullptr ? known->title : metric.metric;
      const auto part = [&](const SessionRuns& one) {
        return fmt::format("{} in session {} ({})",
                           measured_text(summarize_sample(one.medians).p50, metric.unit),
                           one.session, counted(one.medians.size(), "run"));
      };
      of.notes.push_back(
          fmt::format("drift between sessions: median {} is {}, {}. The values above mix both: "
                      "run all repetitions in one session, in a new folder",
                      title, part(sessions[0]), part(sessions[i])));
      return;
    }
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
    for (const Surprise& surprise : experiment_.surprises) look_for(surprise);
    compare();
    fit();
    number_ranges();
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
        const std::string end = run.end ? end_text(*run.end, experiment_.time_limit) : "";
        if (into.failure.empty())
          into.failure = fmt::format("{} {} ended with {}", run.run.is_warmup ? "warm-up" : "run",
                                     run.run.name, end);
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

  void look_for(const Surprise& surprise) {
    if (surprise.metric.empty() || !(surprise.below || surprise.above)) return;
    for (const ConfigurationResult& of : result_.configurations) {
      const MetricResult* measured = find_metric(of, surprise.metric, surprise.subject);
      if (measured == nullptr) continue;
      const double median = measured->summary.p50;
      if ((surprise.below && median < *surprise.below) ||
          (surprise.above && median > *surprise.above)) {
        result_.surprises.push_back(
            {&surprise, experiment_.id, of.name, measured_text(median, measured->unit)});
      }
    }
  }

  // Metrics of the first configuration that the others have too, the most interesting first.
  std::vector<const MetricResult*> interesting() const {
    std::vector<const MetricResult*> out;
    if (result_.configurations.empty()) return out;
    for (const MetricResult& metric : result_.configurations.front().metrics) {
      if (interest(metric) >= 0) out.push_back(&metric);
    }
    std::stable_sort(out.begin(), out.end(), [](const MetricResult* a, const MetricResult* b) {
      return interest(*a) < interest(*b);
    });
    return out;
  }

  void compare() {
    if (result_.configurations.size() < 2) return;
    std::map<std::string, size_t> taken;
    for (const MetricResult* first : interesting()) {
      if (!first->subject.empty() && ++taken[first->metric] > kMostCompared) continue;
      for (size_t i = 1; i < result_.configurations.size(); ++i) {
        const ConfigurationResult& other = result_.configurations[i];
        for (const MetricResult& second : other.metrics) {
          if (second.metric != first->metric || second.subject != first->subject) continue;
          result_.comparisons.push_back({0, i, first->metric, first->subject, first->unit,
                                         compare_metrics(*first, second),
                                         is_compared_by_runs(*first, second)});
        }
      }
    }
  }

  const std::string* setting(size_t configuration, const std::string& name) const {
    const Configuration* of = configuration_of(experiment_, configuration);
    if (of == nullptr) return nullptr;
    for (const auto& [key, value] : of->settings) {
      if (key == name) return &value;
    }
    return nullptr;
  }

  // The configurations in which only this setting differs from the first.
  std::vector<size_t> along(const std::string& name) const {
    std::vector<size_t> out;
    const Configuration* base = configuration_of(experiment_, 0);
    for (size_t i = 0; i < experiment_.configurations.size(); ++i) {
      bool others_equal = true;
      for (const auto& [key, value] : experiment_.configurations[i].settings) {
        const std::string* first = setting(0, key);
        others_equal = others_equal && (key == name || (first != nullptr && *first == value));
      }
      others_equal =
          others_equal && experiment_.configurations[i].settings.size() == base->settings.size();
      const std::string* value = setting(i, name);
      if (others_equal && value != nullptr && setting_number(*value)) out.push_back(i);
    }
    return out;
  }

  // The metric where the setting is largest against where it is smallest.
  SampleVerdict compare_ends(const ScalingResult& of, const std::vector<size_t>& members) const {
    const MetricResult *first = nullptr, *last = nullptr;
    double least = INFINITY, most = -INFINITY;
    for (const size_t i : members) {
      const double x = *setting_number(*setting(i, of.setting));
      for (const MetricResult& one : result_.configurations[i].metrics) {
        if (one.metric != of.metric || one.subject != of.subject) continue;
        if (x < least) least = x, first = &one;
        if (x > most) most = x, last = &one;
      }
    }
    return compare_metrics(*first, *last).verdict;
  }

  void fit() {
    if (experiment_.configurations.empty()) return;
    for (const auto& [name, unused] : experiment_.configurations.front().settings) {
      const std::vector<size_t> members = along(name);
      if (members.size() < 4) continue;
      std::map<std::string, size_t> taken;
      for (const MetricResult* metric : interesting()) {
        if (result_.scaling.size() == kMostScaling) return;
        if (!metric->subject.empty() && ++taken[metric->metric] > kMostCompared) continue;
        ScalingResult scaling{name, metric->metric, metric->subject, metric->unit, {}, {}, {}};
        for (const size_t i : members) {
          for (const MetricResult& one : result_.configurations[i].metrics) {
            if (one.metric != metric->metric || one.subject != metric->subject) continue;
            scaling.x.push_back(*setting_number(*setting(i, name)));
            scaling.y.push_back(one.summary.p50);
          }
        }
        const std::optional<Fit> fit = best_fit(scaling.x, scaling.y);
        if (!fit) continue;
        // A law of what may be noise is none.
        const SampleVerdict ends = compare_ends(scaling, members);
        if (ends == SampleVerdict::kNotResolved) continue;
        if (ends == SampleVerdict::kNoDifference && fit->kind != FitKind::kConstant) continue;
        scaling.fit = *fit;
        result_.scaling.push_back(std::move(scaling));
      }
    }
  }

  void number_ranges() {
    for (size_t i = 0; i < result_.configurations.size(); ++i) {
      std::map<std::string, std::map<int64_t, double>> groups;
      for (const MetricResult& metric : result_.configurations[i].metrics) {
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
        result_.numbered.push_back({pattern, i, {medians.begin(), medians.end()}});
      }
    }
  }

  const Experiment& experiment_;
  ExperimentResult result_;
  // Of each configuration: where a metric and its subject are.
  std::map<size_t, std::map<std::pair<std::string, std::string>, size_t>> places_;
};

}  // namespace

std::string_view expected_verdict_name(ExpectedVerdict verdict) {
  switch (verdict) {
    case ExpectedVerdict::kConfirmed:
      return "confirmed";
    case ExpectedVerdict::kWithinNoise:
      return "confirmed within noise";
    case ExpectedVerdict::kSurprise:
      return "surprise";
    case ExpectedVerdict::kFirstMeasurement:
      return "first measurement";
    case ExpectedVerdict::kNotMeasured:
      return "not measured";
  }
  return "";
}

std::string_view criterion_verdict_name(CriterionVerdict verdict) {
  switch (verdict) {
    case CriterionVerdict::kMet:
      return "met";
    case CriterionVerdict::kNotMet:
      return "not met";
    case CriterionVerdict::kNotMeasured:
      return "not measured";
    case CriterionVerdict::kByHand:
      return "for the reader";
  }
  return "";
}

const MetricResult* find_metric(const ConfigurationResult& configuration, const std::string& metric,
                                const std::string& subject) {
  const MetricResult* first = nullptr;
  for (const MetricResult& one : configuration.metrics) {
    if (one.metric != metric) continue;
    if (one.subject == subject) return &one;
    if (first == nullptr) first = &one;
  }
  if (subject.empty()) return first;
  const std::string wanted = lower_text(subject);
  const bool is_pattern = wanted.find_first_of("*?") != std::string::npos;
  for (const MetricResult& one : configuration.metrics) {
    if (one.metric != metric || one.subject.empty()) continue;
    const std::string name = lower_text(one.subject);
    if (is_pattern ? glob_matches(wanted, name) : name.find(wanted) != std::string::npos)
      return &one;
  }
  return nullptr;
}

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
    for (const ExperimentResult& of : results.experiments) {
      if (surprise.metric.empty()) continue;
      for (const ConfigurationResult& configuration : of.configurations) {
        const MetricResult* measured =
            find_metric(configuration, surprise.metric, surprise.subject);
        if (measured == nullptr) continue;
        const double median = measured->summary.p50;
        if ((surprise.below && median < *surprise.below) ||
            (surprise.above && median > *surprise.above)) {
          results.surprises.push_back({&surprise, of.experiment->id, configuration.name,
                                       measured_text(median, measured->unit)});
        }
      }
    }
  }
}

}  // namespace fathom
