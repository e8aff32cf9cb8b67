#include "plan/experiment_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/closest_names.h"
#include "plan/plan_metrics.h"
#include "plan/program.h"

namespace fathom {
namespace {

constexpr double kLargest = 1e300;

std::vector<std::string> experiment_words() {
  return kind_words([](int i) { return experiment_kind_name(static_cast<ExperimentKind>(i)); }, 8);
}
std::vector<std::string> criterion_words() {
  return kind_words([](int i) { return criterion_kind_name(static_cast<CriterionKind>(i)); }, 6);
}

bool is_variable_name(std::string_view name) {
  return !name.empty() && name.find('=') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

class ExperimentReader {
 public:
  ExperimentReader(RecordValueCheck* check, PlanNotes& notes) : check_(check), notes_(notes) {}

  Experiment read(const TomlValue& table) {
    const TomlValue* id = table.find("id");
    std::string what = "experiment";
    if (id != nullptr && id->kind == TomlValue::Kind::kText) what += " " + id->text.substr(0, 40);
    TomlReader in(table, what, notes_.mistakes);
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
    experiment.budget = in.number("budget", kShortestBudget, kLargestBudget);
    read_configurations(in, experiment);
    for (const TomlValue* one : in.tables("expected"))
      experiment.expected.push_back(expected(*one, what, experiment));
    for (const TomlValue* one : in.tables("success"))
      experiment.success.push_back(read_criterion(*one, what + ": success", notes_));
    for (const TomlValue* one : in.tables("surprise"))
      experiment.surprises.push_back(read_surprise(*one, what + ": surprise", notes_));
    in.finish();
    return experiment;
  }

 private:
  // Ids name files and are given to --only.
  void check_id(TomlReader& in, const std::string& id) {
    if (id.empty()) return;
    const auto allowed = [](char c) { return is_word_character(c) || c == '-'; };
    if (id.size() > 40 || !std::ranges::all_of(id, allowed) || id[0] == '-') {
      in.mistake(in.line_of("id"),
                 "id is wanted as letters, digits, - and _, at most 40, such as E1");
    }
    if (!notes_.ids.insert(id).second)
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
        in.mistake(entry.line, fmt::format("{}: '{}' is not a variable name", key, entry.key));
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
                   fmt::format("record: '{}' is not a fathom record option that a plan may use{}",
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
      TomlReader row(*one, "configuration of " + experiment.id, notes_.mistakes);
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
    TomlReader in(table, what + ": expected", notes_.mistakes);
    ExpectedObservation expected;
    expected.metric = read_metric_id(in, true);
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

  RecordValueCheck* check_;
  PlanNotes& notes_;
};

}  // namespace

Experiment read_experiment(const TomlValue& table, RecordValueCheck* check, PlanNotes& notes) {
  return ExperimentReader(check, notes).read(table);
}

std::string read_metric_id(TomlReader& in, bool needed) {
  const std::string id = needed ? in.need_text("metric") : in.text("metric").value_or("");
  if (id.empty() || find_plan_metric(id) != nullptr) return id;
  std::vector<std::string> names;
  for (const PlanMetric& metric : plan_metrics()) names.emplace_back(metric.id);
  in.mistake(in.line_of("metric"),
             fmt::format("'{}' is not a known metric{}", id, did_you_mean(id, names)));
  return id;
}

Criterion read_criterion(const TomlValue& table, const std::string& what, PlanNotes& notes) {
  TomlReader in(table, what, notes.mistakes);
  Criterion criterion;
  criterion.kind = static_cast<CriterionKind>(in.word("kind", criterion_words()).value_or(0));
  criterion.text = in.text("text").value_or("");
  criterion.experiment = in.text("experiment").value_or("");
  if (!criterion.experiment.empty())
    notes.references.push_back({in.line_of("experiment"), criterion.experiment, what});
  criterion.metric = read_metric_id(in, criterion.kind != CriterionKind::kByHand);
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

Surprise read_surprise(const TomlValue& table, const std::string& what, PlanNotes& notes) {
  TomlReader in(table, what, notes.mistakes);
  Surprise surprise;
  surprise.text = in.need_text("text");
  surprise.look_at = in.text("look_at").value_or("");
  surprise.metric = read_metric_id(in, false);
  surprise.subject = in.text("subject").value_or("");
  surprise.below = in.number("below", -kLargest, kLargest);
  surprise.above = in.number("above", -kLargest, kLargest);
  surprise.unit = in.text("unit").value_or("");
  in.finish();
  return surprise;
}

}  // namespace fathom
