#include "base/json_writer.h"
#include "plan/plan_file.h"
#include "plan/plan_text.h"

namespace fathom {
namespace {

class JsonPlan {
 public:
  std::string write(const Plan& plan) {
    json_.begin_object();
    json_.key("schema").value("fathom.plan/1");
    text("project", plan.project);
    text("repository", plan.repository);
    number("budget_s", plan.budget);
    goal(plan.goal);
    json_.key("environment").begin_object();
    text("platform", plan.environment.platform);
    rows("rows", plan.environment.rows);
    rows("fixed", plan.environment.fixed);
    rows("varied", plan.environment.varied);
    json_.end_object();
    json_.key("requirements").begin_array();
    for (const Requirement& one : plan.requirements) requirement(one);
    json_.end_array();
    json_.key("experiments").begin_array();
    for (const Experiment& one : plan.experiments) experiment(one);
    json_.end_array();
    texts("analysis", plan.analysis);
    criteria("success", plan.success);
    surprises("surprises", plan.surprises);
    texts("left_out", plan.left_out);
    texts("open", plan.open);
    json_.end_object();
    return json_.take() + "\n";
  }

 private:
  void text(const char* key, std::string_view value) { json_.key(key).value(value); }
  void number(const char* key, const std::optional<double>& value) {
    json_.key(key);
    if (value)
      json_.value(*value);
    else
      json_.null();
  }
  void texts(const char* key, const std::vector<std::string>& values) {
    json_.key(key).begin_array();
    for (const std::string& value : values) json_.value(value);
    json_.end_array();
  }
  void variables(const char* key, const Variables& values) {
    json_.key(key).begin_object();
    for (const auto& [name, value] : values) json_.key(name).value(value);
    json_.end_object();
  }
  void rows(const char* key, const std::vector<EnvironmentRow>& values) {
    json_.key(key).begin_array();
    for (const EnvironmentRow& row : values) {
      json_.begin_object();
      text("what", row.what);
      text("value", row.value);
      text("source", row.source);
      json_.end_object();
    }
    json_.end_array();
  }

  void goal(const GoalReading& goal) {
    json_.key("goal").begin_object();
    text("text", goal.original);
    json_.key("asked").begin_array();
    for (const Question question : goal.asked) json_.value(question_name(question));
    json_.end_array();
    json_.key("subjects").begin_array();
    for (const GoalSubject& one : goal.subjects) {
      json_.begin_object();
      text("kind", subject_kind_name(one.kind));
      text("id", one.id);
      text("title", one.title);
      text("said", one.said);
      text("where", one.where);
      json_.end_object();
    }
    json_.end_array();
    json_.key("constraints").begin_array();
    for (const GoalConstraint& one : goal.constraints) {
      json_.begin_object();
      text("kind", constraint_kind_name(one.kind));
      text("said", one.said);
      text("value", one.value);
      json_.end_object();
    }
    json_.end_array();
    texts("interpreted", goal.interpreted);
    json_.key("informed_by").begin_array();
    for (const InformedBy& one : goal.informed_by) {
      json_.begin_object();
      text("feature", one.feature);
      text("metric", one.metric);
      text("where", one.where);
      json_.end_object();
    }
    json_.end_array();
    texts("unread", goal.unread);
    json_.end_object();
  }

  void requirement(const Requirement& one) {
    json_.begin_object();
    text("level", level_name(one.level));
    text("metric", one.metric);
    text("title", one.title);
    texts("names", one.names);
    text("set", one.set);
    json_.key("passes");
    if (one.passes)
      json_.value(*one.passes);
    else
      json_.null();
    text("why", one.why);
    text("how", one.how);
    text("where", one.where);
    texts("experiments", one.experiments);
    json_.end_object();
  }

  void criteria(const char* key, const std::vector<Criterion>& values) {
    json_.key(key).begin_array();
    for (const Criterion& one : values) {
      json_.begin_object();
      text("kind", criterion_kind_name(one.kind));
      text("text", one.text);
      text("experiment", one.experiment);
      text("metric", one.metric);
      text("subject", one.subject);
      number("value", one.value);
      text("unit", one.unit);
      json_.end_object();
    }
    json_.end_array();
  }
  void surprises(const char* key, const std::vector<Surprise>& values) {
    json_.key(key).begin_array();
    for (const Surprise& one : values) {
      json_.begin_object();
      text("text", one.text);
      text("look_at", one.look_at);
      text("metric", one.metric);
      text("subject", one.subject);
      number("below", one.below);
      number("above", one.above);
      text("unit", one.unit);
      json_.end_object();
    }
    json_.end_array();
  }

  void experiment(const Experiment& one) {
    json_.begin_object();
    text("id", one.id);
    text("name", one.name);
    text("kind", experiment_kind_name(one.kind));
    text("purpose", one.purpose);
    text("hypothesis", one.hypothesis);
    text("prepare", one.prepare);
    texts("command", one.command);
    text("folder", one.folder);
    variables("environment", one.environment);
    json_.key("recorded").value(one.recorded);
    texts("record", one.record);
    json_.key("repetitions").value(one.repetitions);
    json_.key("warmup").value(one.warmup);
    json_.key("time_limit_s").value(one.time_limit);
    json_.key("ends_by_limit").value(one.ends_by_limit);
    json_.key("needs_gpu").value(one.needs_gpu);
    number("budget_s", one.budget);
    json_.key("configurations").begin_array();
    for (const Configuration& configuration : one.configurations) {
      json_.begin_object();
      text("name", configuration.name);
      texts("arguments", configuration.arguments);
      variables("environment", configuration.environment);
      variables("settings", configuration.settings);
      json_.end_object();
    }
    json_.end_array();
    const Configuration* first = one.configurations.empty() ? nullptr : &one.configurations[0];
    texts("profiling", profiling_command(one, first, capture_name(one, first)));
    json_.key("expected").begin_array();
    for (const ExpectedObservation& expected : one.expected) {
      json_.begin_object();
      text("metric", expected.metric);
      text("subject", expected.subject);
      text("configuration", expected.configuration);
      text("unit", expected.unit);
      number("low", expected.low);
      number("high", expected.high);
      text("source", expected.source);
      json_.end_object();
    }
    json_.end_array();
    criteria("success", one.success);
    surprises("surprises", one.surprises);
    json_.end_object();
  }

  JsonWriter json_{true};
};

}  // namespace

std::string plan_json(const Plan& plan) { return JsonPlan().write(plan); }

}  // namespace fathom
