#include <fmt/format.h>

#include "base/toml_document.h"
#include "plan/plan_file.h"

namespace fathom {
namespace {

constexpr const char* kHeadOfPlan =
    R"(# A plan of measurements, made by `fathom plan`. Edit it, then check it with `fathom plan --check plan.toml` and run it
# with `fathom run plan.toml`. Commands are argument lists; no shell is involved. `record` holds options of `fathom record`.
# An expected observation without low and high is unknown until it is measured.
)";

// Writes one key on a line; what is empty is left out, as its reader takes it.
class TomlLines {
 public:
  explicit TomlLines(std::string& out) : out_(out) {}

  void table(std::string_view name) { out_ += fmt::format("\n[{}]\n", name); }
  void list_table(std::string_view name) { out_ += fmt::format("\n[[{}]]\n", name); }
  void text(std::string_view key, std::string_view value) {
    if (!value.empty()) line(key, toml_quoted(value));
  }
  void texts(std::string_view key, const std::vector<std::string>& values) {
    if (values.empty()) return;
    std::string list = toml_list(values);
    if (values.size() > 1 && list.size() > 100) {  // one on a line, to be edited
      list = "[\n";
      for (const std::string& value : values) list += "  " + toml_quoted(value) + ",\n";
      list += "]";
    }
    line(key, list);
  }
  void number(std::string_view key, const std::optional<double>& value) {
    if (value) line(key, toml_number(*value));
  }
  void integer(std::string_view key, int64_t value) { line(key, std::to_string(value)); }
  void truth(std::string_view key, bool value) { line(key, value ? "true" : "false"); }
  template <typename Pairs>
  void pairs(std::string_view key, const Pairs& values) {
    if (values.empty()) return;
    std::string list;
    for (const auto& [name, value] : values) {
      list +=
          fmt::format("{}{} = {}", list.empty() ? "" : ", ", toml_key(name), toml_quoted(value));
    }
    line(key, "{ " + list + " }");
  }

 private:
  void line(std::string_view key, const std::string& value) {
    out_ += fmt::format("{} = {}\n", key, value);
  }
  std::string& out_;
};

void put_goal(const GoalReading& goal, TomlLines& lines) {
  lines.table("goal");
  lines.text("text", goal.original);
  std::vector<std::string> asked;
  for (const Question question : goal.asked) asked.emplace_back(question_name(question));
  lines.texts("asked", asked);
  lines.texts("interpreted", goal.interpreted);
  lines.texts("unread", goal.unread);
  for (const GoalSubject& subject : goal.subjects) {
    lines.list_table("goal.subject");
    lines.text("kind", subject_kind_name(subject.kind));
    lines.text("id", subject.id);
    lines.text("title", subject.title);
    lines.text("said", subject.said);
    lines.text("where", subject.where);
  }
  for (const GoalConstraint& constraint : goal.constraints) {
    lines.list_table("goal.constraint");
    lines.text("kind", constraint_kind_name(constraint.kind));
    lines.text("said", constraint.said);
    lines.text("value", constraint.value);
  }
  for (const InformedBy& informed : goal.informed_by) {
    lines.list_table("goal.informed_by");
    lines.text("feature", informed.feature);
    lines.text("metric", informed.metric);
    lines.text("where", informed.where);
  }
}

void put_rows(std::string_view name, const std::vector<EnvironmentRow>& rows, TomlLines& lines) {
  for (const EnvironmentRow& row : rows) {
    lines.list_table(name);
    lines.text("what", row.what);
    lines.text("value", row.value);
    lines.text("source", row.source);
  }
}

void put_requirement(const Requirement& requirement, TomlLines& lines) {
  lines.list_table("requirement");
  lines.text("level", level_name(requirement.level));
  lines.text("metric", requirement.metric);
  lines.text("title", requirement.title);
  lines.texts("names", requirement.names);
  lines.text("set", requirement.set);
  if (requirement.passes) lines.integer("passes", *requirement.passes);
  lines.text("why", requirement.why);
  lines.text("how", requirement.how);
  lines.text("where", requirement.where);
  lines.texts("experiments", requirement.experiments);
}

void put_criterion(std::string_view name, const Criterion& criterion, TomlLines& lines) {
  lines.list_table(name);
  lines.text("kind", criterion_kind_name(criterion.kind));
  lines.text("text", criterion.text);
  lines.text("experiment", criterion.experiment);
  lines.text("metric", criterion.metric);
  lines.text("subject", criterion.subject);
  lines.number("value", criterion.value);
  lines.text("unit", criterion.unit);
}

void put_surprise(std::string_view name, const Surprise& surprise, TomlLines& lines) {
  lines.list_table(name);
  lines.text("text", surprise.text);
  lines.text("look_at", surprise.look_at);
  lines.text("metric", surprise.metric);
  lines.text("subject", surprise.subject);
  lines.number("below", surprise.below);
  lines.number("above", surprise.above);
  lines.text("unit", surprise.unit);
}

void put_configuration(const Configuration& configuration, TomlLines& lines) {
  lines.list_table("experiment.configuration");
  lines.text("name", configuration.name);
  lines.texts("arguments", configuration.arguments);
  lines.pairs("environment", configuration.environment);
  lines.pairs("settings", configuration.settings);
}

void put_expected(const ExpectedObservation& expected, TomlLines& lines) {
  lines.list_table("experiment.expected");
  lines.text("metric", expected.metric);
  lines.text("subject", expected.subject);
  lines.text("configuration", expected.configuration);
  lines.text("unit", expected.unit);
  lines.number("low", expected.low);
  lines.number("high", expected.high);
  lines.text("source", expected.source);
}

void put_experiment(const Experiment& experiment, TomlLines& lines) {
  lines.list_table("experiment");
  lines.text("id", experiment.id);
  lines.text("name", experiment.name);
  lines.text("kind", experiment_kind_name(experiment.kind));
  lines.text("purpose", experiment.purpose);
  lines.text("hypothesis", experiment.hypothesis);
  lines.text("prepare", experiment.prepare);
  lines.texts("command", experiment.command);
  if (experiment.shell) lines.truth("shell", true);
  lines.text("folder", experiment.folder);
  lines.pairs("environment", experiment.environment);
  lines.truth("recorded", experiment.recorded);
  lines.texts("record", experiment.record);
  lines.integer("repetitions", experiment.repetitions);
  lines.integer("warmup", experiment.warmup);
  lines.number("time_limit", experiment.time_limit);
  if (experiment.ends_by_limit) lines.truth("ends_by_limit", true);
  lines.truth("needs_gpu", experiment.needs_gpu);
  lines.number("budget", experiment.budget);
  for (const Configuration& one : experiment.configurations) put_configuration(one, lines);
  for (const ExpectedObservation& one : experiment.expected) put_expected(one, lines);
  for (const Criterion& one : experiment.success) put_criterion("experiment.success", one, lines);
  for (const Surprise& one : experiment.surprises) put_surprise("experiment.surprise", one, lines);
}

}  // namespace

std::string plan_toml(const Plan& plan) {
  std::string out = kHeadOfPlan;
  TomlLines lines(out);
  lines.integer("format", kPlanFormat);
  lines.text("project", plan.project);
  lines.text("repository", plan.repository);
  lines.number("budget", plan.budget);
  lines.texts("analysis", plan.analysis);
  lines.texts("left_out", plan.left_out);
  lines.texts("open", plan.open);
  put_goal(plan.goal, lines);
  lines.table("environment");
  lines.text("platform", plan.environment.platform);
  put_rows("environment.row", plan.environment.rows, lines);
  put_rows("environment.fixed", plan.environment.fixed, lines);
  put_rows("environment.varied", plan.environment.varied, lines);
  for (const Experiment& experiment : plan.experiments) put_experiment(experiment, lines);
  for (const Requirement& requirement : plan.requirements) put_requirement(requirement, lines);
  for (const Criterion& one : plan.success) put_criterion("success", one, lines);
  for (const Surprise& one : plan.surprises) put_surprise("surprise", one, lines);
  return out;
}

}  // namespace fathom
