#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/closest_names.h"
#include "base/screen_text.h"
#include "base/toml_document.h"
#include "plan/plan_file.h"
#include "plan/plan_metrics.h"
#include "plan/program.h"
#include "platform/platform.h"

namespace fs = std::filesystem;

namespace fathom {
namespace {

constexpr double kLargest = 1e300;
constexpr double kShortestBudget = 0.001;  // s

template <typename Name>
std::vector<std::string> words_of(Name name, int count) {
  std::vector<std::string> words;
  for (int i = 0; i < count; ++i) words.emplace_back(name(i));
  return words;
}
std::vector<std::string> question_words() {
  return words_of([](int i) { return question_name(static_cast<Question>(i)); }, 6);
}
std::vector<std::string> subject_words() {
  return words_of([](int i) { return subject_kind_name(static_cast<SubjectKind>(i)); }, 8);
}
std::vector<std::string> constraint_words() {
  return words_of([](int i) { return constraint_kind_name(static_cast<ConstraintKind>(i)); }, 5);
}
std::vector<std::string> level_words() {
  return words_of([](int i) { return level_name(static_cast<Level>(i)); }, 3);
}
std::vector<std::string> experiment_words() {
  return words_of([](int i) { return experiment_kind_name(static_cast<ExperimentKind>(i)); }, 8);
}
std::vector<std::string> criterion_words() {
  return words_of([](int i) { return criterion_kind_name(static_cast<CriterionKind>(i)); }, 6);
}

bool is_variable_name(std::string_view name) {
  return !name.empty() && name.find('=') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

class PlanReader {
 public:
  PlanReader(const TomlDocument& document, RecordValueCheck* check)
      : document_(document), check_(check), mistakes_(document.shown()) {}

  PlanCheck read() {
    TomlReader top(document_.root(), "plan", mistakes_);
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
    plan_.budget = top.number("budget", kShortestBudget, kLargest);
    plan_.analysis = top.texts("analysis").value_or(std::vector<std::string>{});
    plan_.left_out = top.texts("left_out").value_or(std::vector<std::string>{});
    plan_.open = top.texts("open").value_or(std::vector<std::string>{});
    if (const TomlValue* goal = top.table("goal")) read_goal(*goal);
    if (const TomlValue* environment = top.table("environment")) read_environment(*environment);
    read_experiments(top);
    for (const TomlValue* one : top.tables("requirement")) read_requirement(*one);
    for (const TomlValue* one : top.tables("success"))
      plan_.success.push_back(criterion(*one, "success"));
    for (const TomlValue* one : top.tables("surprise"))
      plan_.surprises.push_back(surprise(*one, "surprise"));
    top.finish();
    check_references();
    return {std::move(plan_), mistakes_.texts()};
  }

 private:
  void read_goal(const TomlValue& table) {
    TomlReader in(table, "goal", mistakes_);
    GoalReading& goal = plan_.goal;
    goal.original = in.text("text").value_or("");
    const std::vector<std::string> known = question_words();
    for (const std::string& name : in.texts("asked").value_or(std::vector<std::string>{})) {
      const auto found = std::ranges::find(known, name);
      if (found == known.end()) {
        in.mistake(in.line_of("asked"),
                   fmt::format("'{}' is no kind of question{}", name, did_you_mean(name, known)));
      } else {
        goal.asked.push_back(static_cast<Question>(found - known.begin()));
      }
    }
    goal.interpreted = in.texts("interpreted").value_or(std::vector<std::string>{});
    goal.unread = in.texts("unread").value_or(std::vector<std::string>{});
    for (const TomlValue* one : in.tables("subject")) {
      TomlReader row(*one, "goal.subject", mistakes_);
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
      TomlReader row(*one, "goal.constraint", mistakes_);
      GoalConstraint constraint;
      constraint.kind =
          static_cast<ConstraintKind>(row.word("kind", constraint_words()).value_or(0));
      constraint.said = row.text("said").value_or("");
      constraint.value = row.text("value").value_or("");
      row.finish();
      goal.constraints.push_back(std::move(constraint));
    }
    for (const TomlValue* one : in.tables("informed_by")) {
      TomlReader row(*one, "goal.informed_by", mistakes_);
      goal.informed_by.push_back({row.need_text("feature"), row.text("metric").value_or(""),
                                  row.text("where").value_or("")});
      row.finish();
    }
    in.finish();
  }

  std::vector<EnvironmentRow> environment_rows(TomlReader& in, std::string_view key) {
    std::vector<EnvironmentRow> rows;
    for (const TomlValue* one : in.tables(key)) {
      TomlReader row(*one, fmt::format("environment.{}", key), mistakes_);
      rows.push_back(
          {row.need_text("what"), row.text("value").value_or(""), row.text("source").value_or("")});
      row.finish();
    }
    return rows;
  }

  void read_environment(const TomlValue& table) {
    TomlReader in(table, "environment", mistakes_);
    plan_.environment.platform = in.text("platform").value_or("");
    plan_.environment.rows = environment_rows(in, "row");
    plan_.environment.fixed = environment_rows(in, "fixed");
    plan_.environment.varied = environment_rows(in, "varied");
    in.finish();
  }

  void read_requirement(const TomlValue& table) {
    TomlReader in(table, "requirement", mistakes_);
    Requirement requirement;
    requirement.level = static_cast<Level>(in.word("level", level_words()).value_or(0));
    requirement.metric = metric_id(in, true);
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
      references_.push_back({in.line_of("experiments"), id, "requirement"});
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

  // A metric that nobody can measure is most often misspelt.
  std::string metric_id(TomlReader& in, bool needed) {
    const std::string id = needed ? in.need_text("metric") : in.text("metric").value_or("");
    if (id.empty() || find_plan_metric(id) != nullptr) return id;
    std::vector<std::string> names;
    for (const PlanMetric& metric : plan_metrics()) names.emplace_back(metric.id);
    in.mistake(in.line_of("metric"),
               fmt::format("'{}' is no metric that a plan knows{}", id, did_you_mean(id, names)));
    return id;
  }

  Criterion criterion(const TomlValue& table, const std::string& what) {
    TomlReader in(table, what, mistakes_);
    Criterion criterion;
    criterion.kind = static_cast<CriterionKind>(in.word("kind", criterion_words()).value_or(0));
    criterion.text = in.text("text").value_or("");
    criterion.experiment = in.text("experiment").value_or("");
    if (!criterion.experiment.empty())
      references_.push_back({in.line_of("experiment"), criterion.experiment, what});
    criterion.metric = metric_id(in, criterion.kind != CriterionKind::kByHand);
    criterion.subject = in.text("subject").value_or("");
    criterion.value = in.number("value", -kLargest, kLargest);
    criterion.unit = in.text("unit").value_or("");
    const bool needs_value = criterion.kind == CriterionKind::kAtMost ||
                             criterion.kind == CriterionKind::kAtLeast ||
                             criterion.kind == CriterionKind::kSpread;
    if (needs_value && table.find("value") == nullptr) {
      in.mistake(table.line,
                 fmt::format("kind \"{}\" needs a value", criterion_kind_name(criterion.kind)));
    }
    in.finish();
    return criterion;
  }

  Surprise surprise(const TomlValue& table, const std::string& what) {
    TomlReader in(table, what, mistakes_);
    Surprise surprise;
    surprise.text = in.need_text("text");
    surprise.look_at = in.text("look_at").value_or("");
    surprise.metric = metric_id(in, false);
    surprise.subject = in.text("subject").value_or("");
    surprise.below = in.number("below", -kLargest, kLargest);
    surprise.above = in.number("above", -kLargest, kLargest);
    surprise.unit = in.text("unit").value_or("");
    in.finish();
    return surprise;
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
      plan_.experiments.push_back(experiment(*table));
      runs += runs_of(plan_.experiments.back());
      if (runs > kMaxRuns) {
        top.mistake(table->line, fmt::format("over {} runs up to here: configurations times "
                                             "repetitions and warm-up",
                                             kMaxRuns));
        break;
      }
    }
  }

  Experiment experiment(const TomlValue& table) {
    const TomlValue* id = table.find("id");
    std::string what = "experiment";
    if (id != nullptr && id->kind == TomlValue::Kind::kText) what += " " + id->text.substr(0, 40);
    TomlReader in(table, what, mistakes_);
    Experiment experiment;
    experiment.id = in.need_text("id");
    check_id(in, experiment.id);
    experiment.name = in.text("name").value_or("");
    experiment.kind = static_cast<ExperimentKind>(in.word("kind", experiment_words()).value_or(1));
    experiment.purpose = in.text("purpose").value_or("");
    experiment.hypothesis = in.text("hypothesis").value_or("");
    experiment.prepare = in.text("prepare").value_or("");
    read_command(table, in, experiment);
    experiment.environment = variables(in, "environment");
    experiment.recorded = in.truth("recorded").value_or(true);
    experiment.record = in.texts("record").value_or(std::vector<std::string>{});
    check_record(in, experiment);
    experiment.repetitions = in.integer("repetitions", 1, kMaxRepetitions).value_or(1);
    experiment.warmup = in.integer("warmup", 0, kMaxRepetitions).value_or(0);
    experiment.time_limit = in.number("time_limit", 0.001, kMaxTimeLimit).value_or(600);
    experiment.ends_by_limit = in.truth("ends_by_limit").value_or(false);
    experiment.needs_gpu = in.truth("needs_gpu").value_or(true);
    experiment.budget = in.number("budget", kShortestBudget, kLargest);
    read_configurations(in, experiment);
    for (const TomlValue* one : in.tables("expected"))
      experiment.expected.push_back(expected(*one, what, experiment));
    for (const TomlValue* one : in.tables("success"))
      experiment.success.push_back(criterion(*one, what + ": success"));
    for (const TomlValue* one : in.tables("surprise"))
      experiment.surprises.push_back(surprise(*one, what + ": surprise"));
    in.finish();
    return experiment;
  }

  // Ids name files and are given to --only.
  void check_id(TomlReader& in, const std::string& id) {
    if (id.empty()) return;
    const auto allowed = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '-';
    };
    if (id.size() > 40 || !std::ranges::all_of(id, allowed) || id[0] == '-') {
      in.mistake(in.line_of("id"),
                 "id is wanted as letters, digits, - and _, at most 40, such as E1");
    }
    if (!ids_.insert(id).second)
      in.mistake(in.line_of("id"), fmt::format("there is another experiment {}", id));
  }

  void read_command(const TomlValue& table, TomlReader& in, Experiment& experiment) {
    const bool is_there = table.find("command") != nullptr;
    const auto command = in.texts("command");
    experiment.shell = in.truth("shell").value_or(false);
    experiment.folder = in.text("folder").value_or("");
    if (!is_there) in.mistake(table.line, "command is missing: a list of texts is wanted");
    if (!command) return;
    experiment.command = *command;
    if (command->empty() || (*command)[0].empty())
      in.mistake(in.line_of("command"), "command is empty: a program and its arguments are wanted");
    for (const std::string& word : *command) {
      if (is_placeholder(word))
        in.mistake(in.line_of("command"), fmt::format("{} is to be filled in", word));
    }
    if (experiment.shell && command->size() > 1)
      in.mistake(in.line_of("command"), "with shell = true, command is a list of one text");
  }

  Variables variables(TomlReader& in, std::string_view key) {
    Variables variables;
    const TomlValue* table = in.table(key);
    if (table == nullptr) return variables;
    for (const TomlEntry& entry : table->entries) {
      if (entry.value.kind != TomlValue::Kind::kText ||
          entry.value.text.find('\0') != std::string::npos) {
        in.mistake(entry.line, fmt::format("{}: {} is wanted as a text in quotes", key, entry.key));
      } else if (!is_variable_name(entry.key)) {
        in.mistake(entry.line, fmt::format("{}: '{}' is no name of a variable", key, entry.key));
      } else {
        variables.emplace_back(entry.key, entry.value.text);
      }
    }
    return variables;
  }

  void check_record(TomlReader& in, const Experiment& experiment) {
    const int line = in.line_of("record");
    for (size_t i = 0; i < experiment.record.size(); ++i) {
      const std::string& word = experiment.record[i];
      const size_t equals = std::min(word.find('='), word.size());
      const std::string name = word.substr(0, equals);
      const RecordOption option = record_option(name);
      if (option == RecordOption::kNone) {
        in.mistake(line,
                   fmt::format("record: '{}' is no option of fathom record that a plan may use{}",
                               name, did_you_mean(name, record_option_names())));
        return;
      }
      std::string value = equals < word.size() ? word.substr(equals + 1) : "";
      if (option == RecordOption::kFlag && equals < word.size()) {
        in.mistake(line, fmt::format("record: {} has no value", name));
      } else if (option == RecordOption::kValue && equals == word.size()) {
        if (i + 1 == experiment.record.size()) {
          in.mistake(line, fmt::format("record: {} needs a value", name));
          return;
        }
        value = experiment.record[++i];
      }
      if (check_ == nullptr || value.empty()) continue;
      if (const std::optional<std::string> mistake = check_(name, value))
        in.mistake(line, fmt::format("record: {} {}: {}", name, value, *mistake));
    }
    if (!experiment.recorded && !experiment.record.empty())
      in.mistake(line, "record has options, and recorded is false");
  }

  void read_configurations(TomlReader& in, Experiment& experiment) {
    std::set<std::string> names;
    for (const TomlValue* one : in.tables("configuration")) {
      if (experiment.configurations.size() == kMaxConfigurations) {
        in.mistake(one->line, fmt::format("over {} configurations", kMaxConfigurations));
        return;
      }
      TomlReader row(*one, "configuration of " + experiment.id, mistakes_);
      Configuration configuration;
      configuration.name = row.need_text("name");
      if (!names.insert(configuration.name).second)
        row.mistake(row.line_of("name"), fmt::format("there is another '{}'", configuration.name));
      configuration.arguments = row.texts("arguments").value_or(std::vector<std::string>{});
      configuration.environment = variables(row, "environment");
      configuration.settings = variables(row, "settings");
      row.finish();
      experiment.configurations.push_back(std::move(configuration));
    }
  }

  ExpectedObservation expected(const TomlValue& table, const std::string& what,
                               const Experiment& experiment) {
    TomlReader in(table, what + ": expected", mistakes_);
    ExpectedObservation expected;
    expected.metric = metric_id(in, true);
    expected.subject = in.text("subject").value_or("");
    expected.configuration = in.text("configuration").value_or("");
    expected.unit = in.text("unit").value_or("");
    expected.low = in.number("low", -kLargest, kLargest);
    expected.high = in.number("high", -kLargest, kLargest);
    expected.source = in.text("source").value_or("");
    if (expected.low && expected.high && *expected.low > *expected.high)
      in.mistake(in.line_of("low"), "low is above high");
    const PlanMetric* metric = find_plan_metric(expected.metric);
    if (metric != nullptr && !expected.unit.empty() && expected.unit != metric->unit) {
      in.mistake(in.line_of("unit"), fmt::format("unit is '{}'; {} is measured in {}",
                                                 expected.unit, metric->id, metric->unit));
    }
    const auto& known = experiment.configurations;
    if (!expected.configuration.empty() &&
        std::ranges::find(known, expected.configuration, &Configuration::name) == known.end()) {
      in.mistake(in.line_of("configuration"), fmt::format("{} has no configuration '{}'",
                                                          experiment.id, expected.configuration));
    }
    in.finish();
    return expected;
  }

  void check_references() {
    std::vector<std::string> ids(ids_.begin(), ids_.end());
    for (const Reference& reference : references_) {
      if (ids_.contains(reference.id)) continue;
      mistakes_.add(reference.line, fmt::format("{}: there is no experiment '{}'{}", reference.what,
                                                reference.id, did_you_mean(reference.id, ids)));
    }
  }

  struct Reference {
    int line;
    std::string id, what;
  };

  const TomlDocument& document_;
  RecordValueCheck* check_;
  TomlMistakes mistakes_;
  Plan plan_;
  std::set<std::string> ids_;
  std::vector<Reference> references_;
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
