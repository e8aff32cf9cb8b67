#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/count_text.h"
#include "base/kernel_name.h"
#include "base/kernel_traits.h"
#include "base/screen_text.h"
#include "base/utf8.h"
#include "plan/plan_metrics.h"
#include "plan/run/results_text.h"
#include "report/markdown.h"
#include "report/trial/sample_text.h"

namespace fathom {
namespace {

constexpr size_t kMostMetricRows = 34;  // of a configuration; tables/metrics.csv has all
constexpr size_t kMostHistograms = 3;   // of an experiment
constexpr size_t kMostPointTables = 4;

std::string metric_title(const std::string& id) {
  const PlanMetric* metric = find_plan_metric(id);
  if (metric != nullptr && !metric->title.empty()) return std::string(metric->title);
  std::string words = id;
  std::ranges::replace(words, '_', ' ');
  return words;
}

// A kernel's name without scopes and parameters, which are the same for most of its like.
std::string shown_subject(const std::string& subject, size_t width) {
  const bool is_cpp = subject.find("::") != std::string::npos || subject.starts_with("void ");
  return cut_to_bytes(is_cpp ? normal_kernel_name(subject).text : subject, width);
}

std::string subject_cell(const std::string& subject) {
  return subject.empty() ? "" : md_code_cell(shown_subject(subject, 80));
}

std::string interval_cell(const MetricResult& metric) {
  if (!metric.interval) return "";
  return fmt::format("{} to {}", measured_text(metric.interval->low, metric.unit),
                     measured_text(metric.interval->high, metric.unit));
}

// Of the run first, then of its parts; of kernels and of anything else with many names a few.
std::vector<const MetricResult*> shown_metrics(const ConfigurationResult& in) {
  constexpr size_t kMostOfOne = 6;
  std::vector<const MetricResult*> rows;
  std::map<std::string_view, size_t> taken;
  for (const bool of_run : {true, false}) {
    for (const MetricResult& one : in.metrics) {
      if (one.subject.empty() != of_run || rows.size() == kMostMetricRows) continue;
      if (one.metric == "kernel_share" || one.metric == "gpu_sensor") continue;
      if (of_run || ++taken[one.metric] <= kMostOfOne) rows.push_back(&one);
    }
  }
  return rows;
}

class ResultsPage {
 public:
  explicit ResultsPage(const PlanResults& results) : results_(results) {}

  std::string write() {
    const Plan& plan = *results_.plan;
    line(fmt::format("# Results: {}", plan.project.empty() ? "plan" : md_text(plan.project)));
    line("");
    if (!plan.goal.original.empty()) line("**Goal**: " + md_prose(plan.goal.original)), line("");
    if (results_.is_replay)
      line("These results were made from a recorded folder; nothing was run."), line("");
    if (!results_.is_complete)
      line("**Not complete**: runs of the plan are missing. `fathom run --resume` continues."),
          line("");
    write_counts();
    write_criteria("## Success criteria", results_.criteria);
    write_surprises("## Surprises of the plan", results_.surprises);
    if (!results_.machine.empty()) {
      line("## Environment");
      line("");
      line("| what | value |");
      line("|---|---|");
      for (const auto& [name, value] : results_.machine)
        line(md_row({md_prose_cell(name), md_prose_cell(value)}));
      line("");
    }
    for (const ExperimentResult& of : results_.experiments) write_experiment(of);
    if (!results_.notes.empty()) {
      line("## Notes");
      line("");
      for (const std::string& note : results_.notes) line("- " + md_prose(note));
      line("");
    }
    line("All numbers: `tables/metrics.csv`, `tables/expected.csv`, `tables/comparisons.csv`,");
    line("`tables/scaling.csv`, `tables/runs.csv`, `results.json`.");
    return std::move(out_);
  }

 private:
  void line(std::string_view text) {
    out_ += text;
    if (text.empty() || text.back() != '\n') out_ += '\n';
  }

  void write_counts() {
    size_t counts[5] = {};
    for (const ExperimentResult& of : results_.experiments) {
      for (const ExpectedResult& one : of.expected) ++counts[static_cast<size_t>(one.verdict)];
    }
    line("| confirmed | within noise | surprise | first measurement | not measured |");
    line("|---:|---:|---:|---:|---:|");
    line(fmt::format("| {} | {} | {} | {} | {} |", counts[0], counts[1], counts[2], counts[3],
                     counts[4]));
    line("");
  }

  void write_criteria(std::string_view title, const std::vector<CriterionResult>& criteria) {
    if (criteria.empty()) return;
    line(title);
    line("");
    for (const CriterionResult& one : criteria) {
      std::string text = one.criterion->text;
      if (text.empty())
        text = fmt::format("{} {}", metric_title(one.criterion->metric),
                           criterion_kind_name(one.criterion->kind));
      std::string detail = one.value;  // made of numbers and our own words
      if (!one.why.empty()) detail = md_prose(one.why);
      if (!one.configuration.empty()) detail = md_text(one.configuration) + ": " + detail;
      line(fmt::format("- [{}] {}: **{}**{}", one.verdict == CriterionVerdict::kMet ? "x" : " ",
                       md_prose(text), criterion_verdict_name(one.verdict),
                       detail.empty() ? "" : " (" + detail + ")"));
    }
    line("");
  }

  void write_surprises(std::string_view title, const std::vector<SurpriseResult>& surprises) {
    if (surprises.empty()) return;
    line(title);
    line("");
    for (const SurpriseResult& one : surprises) {
      line(fmt::format("- {} ({}, {}: {})", md_prose(one.surprise->text), md_text(one.experiment),
                       md_prose(one.configuration), one.detail));
      if (!one.surprise->look_at.empty()) line("  Look at: " + md_prose(one.surprise->look_at));
    }
    line("");
  }

  void write_experiment(const ExperimentResult& of) {
    const Experiment& experiment = *of.experiment;
    line(fmt::format("## {}: {}", md_text(experiment.id), md_prose(experiment.name)));
    line("");
    if (!experiment.purpose.empty()) line("**Purpose**: " + md_prose(experiment.purpose)), line("");
    if (!experiment.hypothesis.empty())
      line("**Hypothesis**: " + md_prose(experiment.hypothesis)), line("");
    write_runs(of);
    if (!experiment_drawing(of).empty())
      line(fmt::format("![Expected and measured of {}](pictures/{}.svg)\n", md_text(experiment.id),
                       experiment.id));
    write_expected(of);
    write_criteria("### Criteria", of.criteria);
    write_surprises("### Surprises", of.surprises);
    write_comparisons(of);
    write_distributions(of);
    write_scaling(of);
    write_first_calls(of);
    write_numbered(of);
    write_stories(of);
  }

  void write_runs(const ExperimentResult& of) {
    line("| configuration | command | runs | failed |");
    line("|---|---|---:|---:|");
    for (size_t i = 0; i < of.configurations.size(); ++i) {
      const ConfigurationResult& in = of.configurations[i];
      const std::string command =
          screen_safe(shell_line(command_of(*of.experiment, configuration_of(*of.experiment, i))));
      line(md_row({md_prose_cell(in.name), md_code_cell(cut_to_bytes(command, 200)),
                   std::to_string(in.runs), std::to_string(in.failures)}));
    }
    line("");
    for (const ConfigurationResult& in : of.configurations) {
      if (!in.not_measured.empty())
        line(fmt::format("- {}: not measured: {}", md_prose(in.name), md_prose(in.not_measured)));
      else if (!in.failure.empty())
        line(fmt::format("- {}: {}", md_prose(in.name), md_prose(in.failure)));
      for (const std::string& note : in.notes)
        line(fmt::format("- {}: {}", md_prose(in.name), md_prose(note)));
    }
    line("");
  }

  void write_expected(const ExperimentResult& of) {
    if (of.expected.empty()) return;
    line("### Expected and actual observations");
    line("");
    line(
        "| observation | of | configuration | expected | actual: median | 95 % interval | verdict "
        "|");
    line("|---|---|---|---|---:|---:|---|");
    for (const ExpectedResult& one : of.expected) {
      const bool is_there = one.measured != nullptr;
      const std::string& unit = is_there ? one.measured->unit : one.expected->unit;
      line(md_row({md_prose_cell(metric_title(one.expected->metric)),
                   subject_cell(is_there ? one.measured->subject : one.expected->subject),
                   md_prose_cell(of.configurations[one.configuration].name),
                   expected_range_text(*one.expected, unit),
                   is_there ? measured_text(one.measured->summary.p50, unit) : "",
                   is_there ? interval_cell(*one.measured) : "",
                   std::string(expected_verdict_name(one.verdict))}));
    }
    line("");
    for (const ExpectedResult& one : of.expected) {
      if (one.why.empty()) continue;
      const char* word =
          one.verdict == ExpectedVerdict::kSurprise ? "nearest explanation" : "not measured";
      line(fmt::format("- {} ({}), {}: {}", md_prose(metric_title(one.expected->metric)),
                       md_prose(of.configurations[one.configuration].name), word,
                       md_prose(one.why)));
    }
    line("");
  }

  void write_comparisons(const ExperimentResult& of) {
    if (of.comparisons.empty()) return;
    line("### Comparison of configurations");
    line("");
    line(fmt::format("Against `{}`. Ratio of medians by Hodges and Lehmann, 95 % interval.",
                     screen_safe(of.configurations.front().name)));
    line("");
    line("| metric | of | configuration | median | ratio | 95 % interval | verdict |");
    line("|---|---|---|---:|---:|---:|---|");
    for (const ComparisonResult& one : of.comparisons) {
      const MetricResult* second =
          find_metric(of.configurations[one.second], one.metric, one.subject);
      const SampleComparison& c = one.comparison;
      line(md_row({md_prose_cell(metric_title(one.metric)), subject_cell(one.subject),
                   md_prose_cell(of.configurations[one.second].name),
                   second != nullptr ? measured_text(second->summary.p50, one.unit) : "",
                   c.is_ratio ? fmt::format("{:.3f}", c.estimate) : "",
                   c.is_ratio && c.interval
                       ? fmt::format("{:.3f} to {:.3f}", c.interval->low, c.interval->high)
                       : "",
                   std::string(sample_verdict_name(c.verdict)) +
                       (one.is_over_runs || c.verdict == SampleVerdict::kTooFew ||
                                c.verdict == SampleVerdict::kNotResolved
                            ? ""
                            : " within these runs")}));
    }
    line("");
  }

  void write_distributions(const ExperimentResult& of) {
    if (std::ranges::all_of(of.configurations,
                            [](const ConfigurationResult& in) { return in.metrics.empty(); }))
      return;
    line("### Distributions");
    line("");
    line("| configuration | metric | of | values | p50 | 95 % interval | p95 | p99 | min | max |");
    line("|---|---|---|---:|---:|---:|---:|---:|---:|---:|");
    std::string left_out;
    for (const ConfigurationResult& in : of.configurations) {
      const std::vector<const MetricResult*> rows = shown_metrics(in);
      for (const MetricResult* one : rows) {
        const SampleSummary& s = one->summary;
        line(md_row({md_prose_cell(in.name), md_prose_cell(metric_title(one->metric)),
                     subject_cell(one->subject), number_text(s.count),
                     measured_text(s.p50, one->unit), interval_cell(*one),
                     s.p95 ? measured_text(*s.p95, one->unit) : "",
                     s.p99 ? measured_text(*s.p99, one->unit) : "",
                     measured_text(s.least, one->unit), measured_text(s.most, one->unit)}));
      }
      if (rows.size() < in.metrics.size())
        left_out += fmt::format("- {}: {} more in `tables/metrics.csv`\n", md_prose(in.name),
                                in.metrics.size() - rows.size());
    }
    line("");
    if (!left_out.empty()) line(left_out), line("");
    write_warnings(of);
    write_histograms(of);
  }

  void write_warnings(const ExperimentResult& of) {
    for (const ConfigurationResult& in : of.configurations) {
      for (const MetricResult& one : in.metrics) {
        if (one.metric != "wall_time") continue;
        for (const std::string& warning : sample_warnings(one.summary, one.unit))
          line(fmt::format("- wall time of {}: {}", md_prose(in.name), warning));
      }
    }
    line("");
  }

  void write_histograms(const ExperimentResult& of) {
    size_t shown = 0;
    for (const ConfigurationResult& in : of.configurations) {
      const MetricResult* widest = nullptr;
      // Of what has most values: calls, lines, iterations, kernels; else of the runs.
      for (const MetricResult& one : in.metrics) {
        if (one.unit != "s" && one.metric != "log_value") continue;
        if (one.values.size() < 5 || one.metric == "launch_gap") continue;
        if (widest == nullptr || one.values.size() > widest->values.size()) widest = &one;
      }
      if (widest == nullptr || shown++ == kMostHistograms) continue;
      if (shown > kMostHistograms) return;
      line(fmt::format("{}{} of {}:", md_prose(metric_title(widest->metric)),
                       widest->subject.empty() ? "" : " (" + md_code(widest->subject) + ")",
                       md_prose(in.name)));
      line("");
      line("```text");
      // As many bars as so few values can fill.
      const size_t bins = widest->values.size() < 12 ? 5 : 10;
      for (const std::string& row : histogram_lines(widest->values, widest->unit, bins)) line(row);
      line("```");
      line("");
    }
  }

  void write_scaling(const ExperimentResult& of) {
    if (of.scaling.empty()) return;
    line("### Scaling");
    line("");
    line("| against | metric | of | fit |");
    line("|---|---|---|---|");
    for (const ScalingResult& one : of.scaling)
      line(md_row({md_code_cell(one.setting), md_prose_cell(metric_title(one.metric)),
                   subject_cell(one.subject), fit_text(one.fit, one.unit, "x")}));
    line("");
    for (size_t i = 0; i < of.scaling.size() && i < kMostPointTables; ++i) {
      const ScalingResult& one = of.scaling[i];
      line(fmt::format("Residuals of {}{}:", md_prose(metric_title(one.metric)),
                       one.subject.empty() ? "" : " (" + md_code(one.subject) + ")"));
      line("");
      line(md_row({md_code_cell(one.setting), "median", "fit", "residual"}));
      line("|---:|---:|---:|---:|");
      for (size_t k = 0; k < one.x.size(); ++k) {
        const double share = one.y[k] != 0 ? 100 * one.fit.residuals[k] / one.y[k] : 0;
        line(md_row({measured_text(one.x[k], ""), measured_text(one.y[k], one.unit),
                     measured_text(one.fit.at(one.x[k]), one.unit),
                     fmt::format("{:+.1f} %", share)}));
      }
      line("");
    }
  }

  void write_first_calls(const ExperimentResult& of) {
    std::string rows;
    for (const ConfigurationResult& in : of.configurations) {
      size_t shown = 0;
      for (const MetricResult& first : in.metrics) {
        if (first.metric != "first_call_time" || shown == 10) continue;
        const MetricResult* cached = nullptr;
        for (const MetricResult& one : in.metrics) {
          if (one.metric == "cached_call_time" && one.subject == first.subject) cached = &one;
        }
        if (cached == nullptr || cached->summary.p50 <= 0) continue;
        ++shown;
        rows +=
            md_row({md_prose_cell(in.name), subject_cell(first.subject),
                    measured_text(first.summary.p50, "s"), measured_text(cached->summary.p50, "s"),
                    fmt::format("{:.1f} ×", first.summary.p50 / cached->summary.p50)});
        if (rows.back() != '\n') rows += '\n';
      }
    }
    if (rows.empty()) return;
    line("### First call against later calls");
    line("");
    line("| configuration | range or function | first call | later calls: median | ratio |");
    line("|---|---|---:|---:|---:|");
    line(rows);
    line("");
  }

  void write_numbered(const ExperimentResult& of) {
    if (of.numbered.empty()) return;
    line("### Ranges by number");
    line("");
    line("| configuration | ranges | count | median | slowest | at |");
    line("|---|---|---:|---:|---:|---:|");
    for (const NumberedRanges& one : of.numbered) {
      std::vector<double> times;
      for (const auto& [number, seconds] : one.medians) times.push_back(seconds);
      const auto slowest =
          std::ranges::max_element(one.medians, {}, &std::pair<int64_t, double>::second);
      line(md_row({md_prose_cell(of.configurations[one.configuration].name),
                   md_code_cell(one.pattern), std::to_string(times.size()),
                   measured_text(summarize_sample(times).p50, "s"),
                   measured_text(slowest->second, "s"), std::to_string(slowest->first)}));
    }
    line("");
  }

  void write_stories(const ExperimentResult& of) {
    bool any = false;
    for (const ConfigurationResult& in : of.configurations) {
      if (in.story.empty()) continue;
      if (!any) line("### Execution stories"), line("");
      any = true;
      line(fmt::format("- {}: [{}]({})", md_prose(in.name), in.story, in.story));
    }
    if (any) line("");
  }

  const PlanResults& results_;
  std::string out_;
};

}  // namespace

std::string expected_range_text(const ExpectedObservation& expected, std::string_view unit) {
  if (expected.low && expected.high)
    return fmt::format("{} to {}", measured_text(*expected.low, unit),
                       measured_text(*expected.high, unit));
  if (expected.low) return "at least " + measured_text(*expected.low, unit);
  if (expected.high) return "at most " + measured_text(*expected.high, unit);
  return "unknown";
}

std::string results_markdown(const PlanResults& results) { return ResultsPage(results).write(); }

std::string results_summary(const PlanResults& results) {
  std::string out;
  for (const ExperimentResult& of : results.experiments) {
    size_t runs = 0, failures = 0, counts[5] = {};
    for (const ConfigurationResult& in : of.configurations)
      runs += in.runs, failures += in.failures;
    for (const ExpectedResult& one : of.expected) ++counts[static_cast<size_t>(one.verdict)];
    out += fmt::format("{}  {}: {}", of.experiment->id, screen_safe(of.experiment->name),
                       counted(runs, "run"));
    if (failures > 0) out += fmt::format(", {} failed", failures);
    for (const ConfigurationResult& in : of.configurations) {
      if (in.not_measured.empty() || runs > 0) continue;
      out += ", not measured: " + screen_safe(in.not_measured);
      break;
    }
    out += '\n';
    for (const ConfigurationResult& in : of.configurations) {
      if (!in.failure.empty())
        out += fmt::format("    {}  {}: {}\n", fit_left("failed", 22), screen_safe(in.name),
                           screen_safe(in.failure));
    }
    for (const ExpectedResult& one : of.expected) {
      const bool is_there = one.measured != nullptr;
      const std::string& unit = is_there ? one.measured->unit : one.expected->unit;
      out += fmt::format("    {}  {}{} ({}): expected {}, {}\n",
                         fit_left(expected_verdict_name(one.verdict), 22),
                         metric_title(one.expected->metric),
                         is_there && !one.measured->subject.empty()
                             ? " of " + screen_safe(shown_subject(one.measured->subject, 40))
                             : "",
                         screen_safe(of.configurations[one.configuration].name),
                         expected_range_text(*one.expected, unit),
                         is_there ? "measured " + measured_text(one.measured->summary.p50, unit)
                                  : screen_safe(one.why));
    }
  }
  for (const CriterionResult& one : results.criteria) {
    out += fmt::format("{}  {}\n", fit_left(criterion_verdict_name(one.verdict), 14),
                       screen_safe(one.criterion->text));
  }
  return out;
}

}  // namespace fathom
