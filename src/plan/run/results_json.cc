#include "base/json_writer.h"
#include "plan/run/results_text.h"

namespace fathom {
namespace {

void put_optional(JsonWriter& json, std::string_view key, const std::optional<double>& value) {
  json.key(key);
  if (value)
    json.value(*value);
  else
    json.null();
}

void put_metric(JsonWriter& json, const MetricResult& one) {
  json.begin_object();
  json.key("metric").value(one.metric);
  json.key("subject").value(one.subject);
  json.key("unit").value(one.unit);
  json.key("runs").value(static_cast<int64_t>(one.run_medians.size()));
  json.key("values").value(static_cast<int64_t>(one.values.size()));
  json.key("median").value(one.summary.p50);
  if (one.interval) {
    json.key("interval").begin_object();
    json.key("low").value(one.interval->low);
    json.key("high").value(one.interval->high);
    json.key("confidence").value(one.interval->confidence);
    json.key("over").value(one.is_over_runs ? "runs" : "values");
    json.end_object();
  }
  if (one.summary.p95) json.key("p95").value(*one.summary.p95);
  if (one.summary.p99) json.key("p99").value(*one.summary.p99);
  json.key("mean").value(one.summary.mean);
  json.key("min").value(one.summary.least);
  json.key("max").value(one.summary.most);
  json.key("outliers").value(static_cast<int64_t>(one.summary.outliers));
  json.key("drifts").value(one.summary.drift.is_significant);
  json.key("histogram").begin_array();
  for (const HistogramBin& bin : histogram(one.values, 10)) {
    json.begin_object();
    json.key("low").value(bin.low);
    json.key("high").value(bin.high);
    json.key("count").value(static_cast<int64_t>(bin.count));
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void put_expected(JsonWriter& json, const ExperimentResult& of, const ExpectedResult& one) {
  json.begin_object();
  json.key("metric").value(one.expected->metric);
  json.key("subject").value(one.measured != nullptr ? one.measured->subject
                                                    : one.expected->subject);
  json.key("configuration").value(of.configurations[one.configuration].name);
  json.key("unit").value(one.measured != nullptr ? one.measured->unit : one.expected->unit);
  put_optional(json, "low", one.expected->low);
  put_optional(json, "high", one.expected->high);
  put_optional(json, "measured",
               one.measured != nullptr ? std::optional(one.measured->summary.p50) : std::nullopt);
  json.key("verdict").value(expected_verdict_name(one.verdict));
  json.key("why").value(one.why);
  json.end_object();
}

void put_criteria(JsonWriter& json, const std::vector<CriterionResult>& criteria) {
  json.key("success").begin_array();
  for (const CriterionResult& one : criteria) {
    json.begin_object();
    json.key("text").value(one.criterion->text);
    json.key("experiment").value(one.experiment);
    json.key("metric").value(one.criterion->metric);
    json.key("verdict").value(criterion_verdict_name(one.verdict));
    json.key("configuration").value(one.configuration);
    json.key("measured").value(one.value);
    json.key("why").value(one.why);
    json.end_object();
  }
  json.end_array();
}

void put_surprises(JsonWriter& json, const std::vector<SurpriseResult>& surprises) {
  json.key("surprises").begin_array();
  for (const SurpriseResult& one : surprises) {
    json.begin_object();
    json.key("text").value(one.surprise->text);
    json.key("look_at").value(one.surprise->look_at);
    json.key("experiment").value(one.experiment);
    json.key("configuration").value(one.configuration);
    json.key("measured").value(one.detail);
    json.end_object();
  }
  json.end_array();
}

void put_scaling(JsonWriter& json, const ScalingResult& one) {
  constexpr std::string_view kNames[] = {"constant", "linear", "power"};
  json.begin_object();
  json.key("setting").value(one.setting);
  json.key("metric").value(one.metric);
  json.key("subject").value(one.subject);
  json.key("model").value(kNames[static_cast<size_t>(one.fit.kind)]);
  json.key("a").value(one.fit.a);
  json.key("b").value(one.fit.b);
  put_optional(json, "b_error", one.fit.b_error);
  json.key("r_squared").value(one.fit.r_squared);
  json.key("points").begin_array();
  for (size_t i = 0; i < one.x.size(); ++i) {
    json.begin_object();
    json.key("x").value(one.x[i]);
    json.key("y").value(one.y[i]);
    json.key("residual").value(one.fit.residuals[i]);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void put_configuration(JsonWriter& json, const ConfigurationResult& in) {
  json.begin_object();
  json.key("name").value(in.name);
  json.key("runs").value(static_cast<int64_t>(in.runs));
  json.key("failures").value(static_cast<int64_t>(in.failures));
  if (!in.not_measured.empty()) json.key("not_measured").value(in.not_measured);
  if (!in.story.empty()) json.key("story").value(in.story);
  json.key("metrics").begin_array();
  for (const MetricResult& one : in.metrics) put_metric(json, one);
  json.end_array();
  json.end_object();
}

void put_experiment(JsonWriter& json, const ExperimentResult& of) {
  json.begin_object();
  json.key("id").value(of.experiment->id);
  json.key("name").value(of.experiment->name);
  json.key("configurations").begin_array();
  for (const ConfigurationResult& in : of.configurations) put_configuration(json, in);
  json.end_array();
  json.key("expected").begin_array();
  for (const ExpectedResult& one : of.expected) put_expected(json, of, one);
  json.end_array();
  put_criteria(json, of.criteria);
  put_surprises(json, of.surprises);
  json.key("comparisons").begin_array();
  for (const ComparisonResult& one : of.comparisons) {
    json.begin_object();
    json.key("metric").value(one.metric);
    json.key("subject").value(one.subject);
    json.key("first").value(of.configurations[one.first].name);
    json.key("second").value(of.configurations[one.second].name);
    json.key("ratio").value(one.comparison.estimate);
    if (one.comparison.interval) {
      json.key("low").value(one.comparison.interval->low);
      json.key("high").value(one.comparison.interval->high);
    }
    json.key("verdict").value(sample_verdict_name(one.comparison.verdict));
    json.key("over").value(one.is_over_runs ? "runs" : "values");
    json.end_object();
  }
  json.end_array();
  json.key("scaling").begin_array();
  for (const ScalingResult& one : of.scaling) put_scaling(json, one);
  json.end_array();
  json.end_object();
}

}  // namespace

std::string results_json(const PlanResults& results) {
  JsonWriter json(true);
  json.begin_object();
  json.key("format").value(int64_t{1});
  json.key("project").value(results.plan->project);
  json.key("goal").value(results.plan->goal.original);
  json.key("replay").value(results.is_replay);
  json.key("complete").value(results.is_complete);
  json.key("machine").begin_object();
  for (const auto& [name, value] : results.machine) json.key(name).value(value);
  json.end_object();
  json.key("experiments").begin_array();
  for (const ExperimentResult& of : results.experiments) put_experiment(json, of);
  json.end_array();
  put_criteria(json, results.criteria);
  put_surprises(json, results.surprises);
  json.key("notes").begin_array();
  for (const std::string& note : results.notes) json.value(note);
  json.end_array();
  json.end_object();
  return json.take() + "\n";
}

}  // namespace fathom
