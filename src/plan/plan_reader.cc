#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/closest_names.h"
#include "base/screen_text.h"
#include "base/toml_document.h"
#include "plan/experiment_reader.h"
#include "plan/plan_file.h"
#include "plan/plan_metrics.h"
#include "platform/platform.h"

namespace fs = std::filesystem;

namespace fathom {
namespace {

std::vector<std::string> question_words() {
  return kind_words([](int i) { return question_name(static_cast<Question>(i)); }, 6);
}
std::vector<std::string> subject_words() {
  return kind_words([](int i) { return subject_kind_name(static_cast<SubjectKind>(i)); }, 8);
}
std::vector<std::string> constraint_words() {
  return kind_words([](int i) { return constraint_kind_name(static_cast<ConstraintKind>(i)); }, 5);
}
std::vector<std::string> level_words() {
  return kind_words([](int i) { return level_name(static_cast<Level>(i)); }, 3);
}

class PlanReader {
 public:
  PlanReader(const TomlDocument& document, RecordValueCheck* check)
      : document_(document), check_(check), notes_{TomlMistakes(document.shown()), {}, {}} {}

  PlanCheck read() {
    TomlReader top(document_.root(), "plan", notes_.mistakes);
    const bool has_format = document_.root().find("format") != nullptr;
    const std::optional<int64_t> format = top.integer("format", 1, INT64_MAX);
    if (!has_format) top.mistake(1, "format is missing; format = 1 is wanted");
    if (format && *format > kPlanFormat) {
      top.mistake(top.line_of("format"),
                  fmt::format("format {} is newer than this program, which reads {}", *format,
                              kPlanFormat));
    }
    plan_.project = top.text("project").value_or("");
    plan_.repository = top.text("repository").value_or("");
    plan_.budget = top.number("budget", kShortestBudget, kLargestBudget);
    plan_.analysis = top.texts("analysis").value_or(std::vector<std::string>{});
    plan_.left_out = top.texts("left_out").value_or(std::vector<std::string>{});
    plan_.open = top.texts("open").value_or(std::vector<std::string>{});
    if (const TomlValue* goal = top.table("goal")) read_goal(*goal);
    if (const TomlValue* environment = top.table("environment")) read_environment(*environment);
    read_experiments(top);
    for (const TomlValue* one : top.tables("requirement")) read_requirement(*one);
    for (const TomlValue* one : top.tables("success"))
      plan_.success.push_back(read_criterion(*one, "success", notes_));
    for (const TomlValue* one : top.tables("surprise"))
      plan_.surprises.push_back(read_surprise(*one, "surprise", notes_));
    top.finish();
    check_references();
    return {std::move(plan_), notes_.mistakes.texts()};
  }

 private:
  void read_goal(const TomlValue& table) {
    TomlReader in(table, "goal", notes_.mistakes);
    GoalReading& goal = plan_.goal;
    goal.original = in.text("text").value_or("");
    const std::vector<std::string> known = question_words();
    for (const std::string& name : in.texts("asked").value_or(std::vector<std::string>{})) {
      const auto found = std::ranges::find(known, name);
      if (found == known.end()) {
        in.mistake(in.line_of("asked"), fmt::format("'{}' is not a kind of question{}", name,
                                                    did_you_mean(name, known)));
      } else {
        goal.asked.push_back(static_cast<Question>(found - known.begin()));
      }
    }
    goal.interpreted = in.texts("interpreted").value_or(std::vector<std::string>{});
    goal.unread = in.texts("unread").value_or(std::vector<std::string>{});
    for (const TomlValue* one : in.tables("subject")) {
      TomlReader row(*one, "goal.subject", notes_.mistakes);
      GoalSubject subject;
      subject.kind = static_cast<SubjectKind>(row.word("kind", subject_words()).value_or(0));
      subject.id = row.need_text("id");
      subject.title = row.text("title").value_or("");
      subject.said = row.text("said").value_or("");
      subject.where = row.text("where").value_or("");
      row.finish();
      goal.subjects.push_back(std::move(subject));
    }
    for (const TomlValue* one : in.tables("constraint")) {
      TomlReader row(*one, "goal.constraint", notes_.mistakes);
      GoalConstraint constraint;
      constraint.kind =
          static_cast<ConstraintKind>(row.word("kind", constraint_words()).value_or(0));
      constraint.said = row.text("said").value_or("");
      constraint.value = row.text("value").value_or("");
      row.finish();
      goal.constraints.push_back(std::move(constraint));
    }
    for (const TomlValue* one : in.tables("informed_by")) {
      TomlReader row(*one, "goal.informed_by", notes_.mistakes);
      goal.informed_by.push_back({row.need_text("feature"), row.text("metric").value_or(""),
                                  row.text("where").value_or("")});
      row.finish();
    }
    in.finish();
  }

  std::vector<EnvironmentRow> environment_rows(TomlReader& in, std::string_view key) {
    std::vector<EnvironmentRow> rows;
    for (const TomlValue* one : in.tables(key)) {
      TomlReader row(*one, fmt::format("environment.{}", key), notes_.mistakes);
      rows.push_back(
          {row.need_text("what"), row.text("value").value_or(""), row.text("source").value_or("")});
      row.finish();
    }
    return rows;
  }

  void read_environment(const TomlValue& table) {
    TomlReader in(table, "environment", notes_.mistakes);
    plan_.environment.platform = in.text("platform").value_or("");
    plan_.environment.rows = environment_rows(in, "row");
    plan_.environment.fixed = environment_rows(in, "fixed");
    plan_.environment.varied = environment_rows(in, "varied");
    in.finish();
  }

  void read_requirement(const TomlValue& table) {
    TomlReader in(table, "requirement", notes_.mistakes);
    Requirement requirement;
    requirement.level = static_cast<Level>(in.word("level", level_words()).value_or(0));
    requirement.metric = read_metric_id(in, true);
    requirement.title = in.text("title").value_or("");
    requirement.names = in.texts("names").value_or(std::vector<std::string>{});
    if (requirement.level == Level::kHardware) check_counters(in, requirement.names);
    requirement.set = in.text("set").value_or("");
    requirement.passes = in.integer("passes", 1, 10'000);
    requirement.why = in.text("why").value_or("");
    requirement.how = in.text("how").value_or("");
    requirement.where = in.text("where").value_or("");
    requirement.experiments = in.texts("experiments").value_or(std::vector<std::string>{});
    for (const std::string& id : requirement.experiments)
      notes_.references.push_back({in.line_of("experiments"), id, "requirement"});
    in.finish();
    plan_.requirements.push_back(std::move(requirement));
  }

  // Counters that the plan's chip does not have, and names that none has.
  void check_counters(TomlReader& in, const std::vector<std::string>& names) {
    std::string_view chip;
    const auto platform = Platforms::built_in().find(plan_.environment.platform);
    if (platform.ok() && platform.value()->vendor == "AMD") return;
    if (platform.ok()) chip = chip_of(platform.value()->architecture);
    for (const std::string& name : names) {
      if (const std::string why = counter_mistake(name, chip); !why.empty())
        in.mistake(in.line_of("names"), why);
    }
  }

  void read_experiments(TomlReader& top) {
    const std::vector<const TomlValue*> tables = top.tables("experiment");
    if (tables.empty()) top.mistake(1, "there is no [[experiment]]");
    int64_t runs = 0;
    for (const TomlValue* table : tables) {
      if (plan_.experiments.size() == kMaxExperiments) {
        top.mistake(table->line, fmt::format("over {} experiments", kMaxExperiments));
        break;
      }
      plan_.experiments.push_back(read_experiment(*table, check_, notes_));
      runs += runs_of(plan_.experiments.back());
      if (runs > kMaxRuns) {
        top.mistake(table->line, fmt::format("over {} runs up to here: configurations times "
                                             "repetitions and warm-up",
                                             kMaxRuns));
        break;
      }
    }
  }

  void check_references() {
    std::vector<std::string> ids(notes_.ids.begin(), notes_.ids.end());
    for (const PlanNotes::Reference& reference : notes_.references) {
      if (notes_.ids.contains(reference.id)) continue;
      notes_.mistakes.add(reference.line,
                          fmt::format("{}: there is no experiment '{}'{}", reference.what,
                                      reference.id, did_you_mean(reference.id, ids)));
    }
  }

  const TomlDocument& document_;
  RecordValueCheck* check_;
  PlanNotes notes_;
  Plan plan_;
};

PlanCheck checked(const Result<TomlDocument>& document, RecordValueCheck* check) {
  if (!document.ok()) return {{}, {document.error().message}};
  return PlanReader(document.value(), check).read();
}

}  // namespace

PlanCheck read_plan(std::string_view text, const std::string& shown, RecordValueCheck* check) {
  return checked(TomlDocument::parse(text, shown), check);
}

Result<PlanCheck> check_plan_file(const std::string& path, RecordValueCheck* check) {
  const Result<TomlDocument> document = TomlDocument::read(path);
  if (!document.ok() && !document.error().message.starts_with(path + ":")) return document.error();
  PlanCheck read = checked(document, check);
  if (!document.ok() || read.plan.repository.empty()) return read;
  const Result<fs::path> repository = repository_of(read.plan, path);
  if (repository.ok()) return read;
  const TomlValue* named = document.value().root().find("repository");
  read.mistakes.insert(read.mistakes.begin(),
                       fmt::format("{}:{}: {}", document.value().shown(),
                                   named == nullptr ? 1 : named->line, repository.error().message));
  return read;
}

Result<fs::path> repository_of(const Plan& plan, const fs::path& plan_file) {
  std::error_code error;
  const fs::path base = fs::absolute(plan_file, error).parent_path();
  const fs::path named = (base / plan.repository).lexically_normal();
  const fs::path folder = fs::weakly_canonical(base / plan.repository, error);
  if (error || !fs::is_directory(folder, error))
    return Error{fmt::format("the repository {} is no folder: {} seen from the folder of the plan",
                             screen_safe(named.string()), screen_safe(plan.repository))};
  return folder;
}

Result<Plan> load_plan(const std::string& path, RecordValueCheck* check) {
  PlanCheck read = TRY(check_plan_file(path, check));
  if (read.mistakes.empty()) return std::move(read.plan);
  std::string all;
  for (const std::string& mistake : read.mistakes) all += (all.empty() ? "" : "\n") + mistake;
  return Error{all};
}

}  // namespace fathom
