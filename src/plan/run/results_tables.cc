#include <cmath>

#include "base/table.h"
#include "plan/run/results_text.h"
#include "report/csv.h"

namespace fathom {
namespace {

std::string metrics_table(const PlanResults& results) {
  Table table("metrics");
  Column &experiment = table.text_column("experiment"),
         &configuration = table.text_column("configuration"), &metric = table.text_column("metric"),
         &subject = table.text_column("subject"), &unit = table.text_column("unit"),
         &runs = table.count_column("runs"), &values = table.count_column("values"),
         &median = table.real_column("median"), &low = table.real_column("median low 95 %"),
         &high = table.real_column("median high 95 %"), &over = table.text_column("interval over"),
         &p95 = table.real_column("p95"), &p99 = table.real_column("p99"),
         &mean = table.real_column("mean"), &least = table.real_column("min"),
         &most = table.real_column("max"), &outliers = table.count_column("outliers"),
         &drift = table.real_column("drift");
  for (const ExperimentResult& of : results.experiments) {
    for (const ConfigurationResult& in : of.configurations) {
      for (const MetricResult& one : in.metrics) {
        experiment.add(of.experiment->id);
        configuration.add(in.name);
        metric.add(one.metric);
        subject.add(one.subject);
        unit.add(one.unit);
        runs.add(static_cast<int64_t>(one.run_medians.size()));
        values.add(static_cast<int64_t>(one.values.size()));
        median.add(one.summary.p50);
        if (one.interval) {
          low.add(one.interval->low);
          high.add(one.interval->high);
          over.add(one.is_over_runs ? "runs" : "values");
        } else {
          low.add_unknown();
          high.add_unknown();
          over.add_unknown();
        }
        p95.add(one.summary.p95);
        p99.add(one.summary.p99);
        mean.add(one.summary.mean);
        least.add(one.summary.least);
        most.add(one.summary.most);
        outliers.add(static_cast<int64_t>(one.summary.outliers));
        if (one.summary.drift.is_significant)
          drift.add(one.summary.drift.change);
        else
          drift.add_unknown();
      }
    }
  }
  return to_csv(table);
}

std::string expected_table(const PlanResults& results) {
  Table table("expected");
  Column &experiment = table.text_column("experiment"),
         &configuration = table.text_column("configuration"), &metric = table.text_column("metric"),
         &subject = table.text_column("subject"), &unit = table.text_column("unit"),
         &low = table.real_column("expected low"), &high = table.real_column("expected high"),
         &source = table.text_column("expected from"), &median = table.real_column("median"),
         &least = table.real_column("median low 95 %"),
         &most = table.real_column("median high 95 %"), &verdict = table.text_column("verdict"),
         &why = table.text_column("why");
  for (const ExperimentResult& of : results.experiments) {
    for (const ExpectedResult& one : of.expected) {
      experiment.add(of.experiment->id);
      configuration.add(of.configurations[one.configuration].name);
      metric.add(one.expected->metric);
      subject.add(one.measured != nullptr ? one.measured->subject : one.expected->subject);
      unit.add(one.measured != nullptr ? one.measured->unit : one.expected->unit);
      low.add(one.expected->low);
      high.add(one.expected->high);
      source.add(one.expected->source);
      std::optional<double> value, from, to;
      if (one.measured != nullptr) {
        value = one.measured->summary.p50;
        if (one.measured->interval) {
          from = one.measured->interval->low;
          to = one.measured->interval->high;
        }
      }
      median.add(value);
      least.add(from);
      most.add(to);
      verdict.add(expected_verdict_name(one.verdict));
      why.add(one.why);
    }
  }
  return to_csv(table);
}

std::string comparisons_table(const PlanResults& results) {
  Table table("comparisons");
  Column &experiment = table.text_column("experiment"), &metric = table.text_column("metric"),
         &subject = table.text_column("subject"), &first = table.text_column("configuration"),
         &second = table.text_column("against it"), &ratio = table.real_column("ratio"),
         &low = table.real_column("ratio low 95 %"), &high = table.real_column("ratio high 95 %"),
         &verdict = table.text_column("verdict"), &over = table.text_column("interval over");
  for (const ExperimentResult& of : results.experiments) {
    for (const ComparisonResult& one : of.comparisons) {
      experiment.add(of.experiment->id);
      metric.add(one.metric);
      subject.add(one.subject);
      first.add(of.configurations[one.first].name);
      second.add(of.configurations[one.second].name);
      const bool is_ratio = one.comparison.is_ratio;
      std::optional<double> value, from, to;
      if (is_ratio) value = one.comparison.estimate;
      if (is_ratio && one.comparison.interval) {
        from = one.comparison.interval->low;
        to = one.comparison.interval->high;
      }
      ratio.add(value);
      low.add(from);
      high.add(to);
      verdict.add(sample_verdict_name(one.comparison.verdict));
      over.add(one.is_over_runs ? "runs" : "values");
    }
  }
  return to_csv(table);
}

std::string scaling_table(const PlanResults& results) {
  Table table("scaling");
  Column &experiment = table.text_column("experiment"), &setting = table.text_column("setting"),
         &metric = table.text_column("metric"), &subject = table.text_column("subject"),
         &unit = table.text_column("unit"), &model = table.text_column("model"),
         &a = table.real_column("a"), &b = table.real_column("b"),
         &error = table.real_column("standard error of b"), &r = table.real_column("R²"),
         &x = table.real_column("x"), &y = table.real_column("median"),
         &fitted = table.real_column("fitted"), &residual = table.real_column("residual");
  constexpr std::string_view kModels[] = {"y = a", "y = a + b x", "y = a x^b"};
  for (const ExperimentResult& of : results.experiments) {
    for (const ScalingResult& one : of.scaling) {
      for (size_t i = 0; i < one.x.size(); ++i) {
        experiment.add(of.experiment->id);
        setting.add(one.setting);
        metric.add(one.metric);
        subject.add(one.subject);
        unit.add(one.unit);
        model.add(kModels[static_cast<size_t>(one.fit.kind)]);
        a.add(one.fit.a);
        b.add(one.fit.b);
        error.add(one.fit.b_error);
        r.add(one.fit.r_squared);
        x.add(one.x[i]);
        y.add(one.y[i]);
        fitted.add(one.fit.at(one.x[i]));
        residual.add(one.fit.residuals[i]);
      }
    }
  }
  return to_csv(table);
}

std::string runs_table(const PlanResults& results) {
  Table table("runs");
  Column &experiment = table.text_column("experiment"),
         &configuration = table.text_column("configuration"), &name = table.text_column("run"),
         &end = table.text_column("end"), &wall = table.real_column("wall (s)"),
         &user = table.real_column("user (s)"), &system = table.real_column("system (s)"),
         &memory = table.count_column("peak memory (B)"), &log = table.count_column("log (B)");
  const auto seconds = [](int64_t ns) { return static_cast<double>(ns) / 1e9; };
  for (const ExperimentResult& of : results.experiments) {
    for (const RunOutcome& run : of.runs) {
      experiment.add(of.experiment->id);
      configuration.add(configuration_name(*of.experiment, run.run.configuration));
      name.add(run.run.name);
      if (run.end && run.not_run.empty()) {
        end.add(run_end_text(*of.experiment, run.run, *run.end));
        wall.add(seconds(run.end->wall_ns));
        user.add(seconds(run.end->user_ns));
        system.add(seconds(run.end->system_ns));
        memory.add(run.end->max_rss_bytes);
        log.add(static_cast<int64_t>(run.end->log_bytes));
      } else {
        end.add(run.not_run.empty() ? "recorded earlier" : "not run: " + run.not_run);
        for (Column* column : {&wall, &user, &system, &memory, &log}) column->add_unknown();
      }
    }
  }
  return to_csv(table);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> results_tables(const PlanResults& results) {
  return {{"metrics.csv", metrics_table(results)},
          {"expected.csv", expected_table(results)},
          {"comparisons.csv", comparisons_table(results)},
          {"scaling.csv", scaling_table(results)},
          {"runs.csv", runs_table(results)}};
}

}  // namespace fathom
