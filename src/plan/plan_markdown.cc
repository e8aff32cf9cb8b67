#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/count_text.h"
#include "base/utf8.h"
#include "plan/plan_metrics.h"
#include "plan/plan_text.h"
#include "report/markdown.h"

namespace fathom {
namespace {

// A number in a unit that people read: seconds as µs or ms, bytes as MB.
struct Scaled {
  double factor = 1;
  std::string unit;
};
Scaled scale_of(double value, const std::string& unit) {
  const double size = std::abs(value);
  if (unit == "s" && size > 0 && size < 1e-3) return {1e6, "µs"};
  if (unit == "s" && size > 0 && size < 1) return {1e3, "ms"};
  if (unit == "B" && size >= 1e9) return {1e-9, "GB"};
  if (unit == "B" && size >= 1e6) return {1e-6, "MB"};
  if (unit == "B" && size >= 1e3) return {1e-3, "kB"};
  return {1, unit == "number" || unit == "status" || unit == "names" ? "" : unit};
}

std::string with_unit(const std::string& number, const std::string& unit) {
  return unit.empty() ? number : number + " " + unit;
}

// A command in a block of its own. It is one line without control characters, and its first
// character is no fence.
std::string command_block(const std::vector<std::string>& words, const Variables& variables,
                          const std::string& folder) {
  std::string line;
  for (const auto& [name, value] : variables) line += name + "=" + shell_line({value}) + " ";
  line += shell_line(words);
  std::string out = "```bash\n";
  if (!folder.empty()) out += "cd " + with_unseen_escaped(shell_line({folder})) + "\n";
  return out + with_unseen_escaped(line) + "\n```\n";
}

class MarkdownPlan {
 public:
  explicit MarkdownPlan(const Plan& plan) : plan_(plan) {}

  std::string write() {
    out_ = fmt::format("# Plan: {}\n\n", md_text(plan_.project));
    goal();
    environment();
    requirements();
    experiments();
    analysis();
    success();
    surprises();
    rest();
    return std::move(out_);
  }

 private:
  void line(const std::string& text) { out_ += text + "\n"; }
  void table_row(const std::string& markdown) { out_ += markdown; }
  void bullets(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) line("- " + md_prose(text));
    line("");
  }

  void goal() {
    const GoalReading& goal = plan_.goal;
    line("## Goal Interpretation\n");
    line("**Original goal**: " + md_prose(goal.original) + "\n");
    if (!plan_.open.empty() && plan_.open[0] == kNothingUnderstood)
      line(std::string("**") + kNothingUnderstood + "**\n");
    std::string asked;
    for (const Question question : goal.asked)
      asked += (asked.empty() ? "" : ", ") + std::string(question_name(question));
    line("**Asked for**: " + asked + "\n");
    line("**Interpreted as**:\n");
    bullets(goal.interpreted);
    line("**Informed by codebase analysis**:\n");
    if (goal.informed_by.empty()) {
      line("- Nothing in the code that the scan has a rule for.\n");
    } else {
      for (const InformedBy& one : goal.informed_by) {
        line(fmt::format("- Key feature: {}{} → tracking {}", md_prose(one.feature),
                         one.where.empty() ? "" : " (" + md_code(one.where) + ")",
                         md_prose(one.metric)));
      }
      line("");
    }
    if (!goal.subjects.empty() || !goal.constraints.empty()) {
      line("| read from the goal | as | where |");
      line("|---|---|---|");
      for (const GoalSubject& one : goal.subjects) {
        table_row(
            md_row({md_prose_cell(one.said),
                    fmt::format("{} {}", subject_kind_name(one.kind),
                                one.kind == SubjectKind::kKernel || one.kind == SubjectKind::kOption
                                    ? md_code_cell(one.title)
                                    : md_prose_cell(one.title)),
                    md_code_cell(one.where)}));
      }
      for (const GoalConstraint& one : goal.constraints) {
        table_row(md_row(
            {md_prose_cell(one.said),
             fmt::format(
                 "limit: {} {}", constraint_kind_name(one.kind),
                 md_prose_cell(one.kind == ConstraintKind::kTime ? one.value + " s" : one.value)),
             ""}));
      }
      line("");
    }
  }

  void rows(const char* title, const std::vector<EnvironmentRow>& list) {
    if (list.empty()) return;
    line(fmt::format("**{}**:\n", title));
    for (const EnvironmentRow& row : list) {
      line(fmt::format("- {}: {}{}", md_prose(row.what), md_prose(row.value),
                       row.source.empty() ? "" : " (" + md_prose(row.source) + ")"));
    }
    line("");
  }
  void environment() {
    line("## Environment\n");
    if (plan_.environment.rows.empty()) line("Unknown.\n");
    for (const EnvironmentRow& row : plan_.environment.rows) {
      line(fmt::format(
          "- {}: {}{}", md_prose(row.what), md_prose(row.value),
          row.source.empty() || row.source == "doctor" ? "" : " (" + md_prose(row.source) + ")"));
    }
    line("");
    rows("Fixed", plan_.environment.fixed);
    rows("Varied", plan_.environment.varied);
  }

  static std::string experiment_list(const Requirement& row) {
    std::string out;
    for (const std::string& id : row.experiments) out += (out.empty() ? "" : ", ") + id;
    return out.empty() ? "none" : out;
  }
  // A log pattern holds a number's place; anything else is a function to probe.
  static std::string watch_option(const std::string& name) {
    const bool pattern = name.find('{') != std::string::npos;
    return fmt::format("{} {}", pattern ? "--log-pattern" : "--probe", shell_line({name}));
  }
  void requirements() {
    line("## Tracking Requirements\n");
    table(Level::kHardware, "Hardware-Level Tracking",
          "None: the goal and the features that it names need no hardware counter.");
    table(Level::kProcess, "Process-Level Tracking", "None.");
    table(Level::kApplication, "Application-Level Tracking",
          "None: the goal needs no number of the program itself.");
  }
  void table(Level level, const char* title, const char* none) {
    line(fmt::format("### {}\n", title));
    const auto is_level = [&](const Requirement& row) { return row.level == level; };
    if (std::ranges::none_of(plan_.requirements, is_level)) {
      line(std::string(none) + "\n");
      return;
    }
    if (level == Level::kHardware) {
      line("| metric | counters | set, passes alone | why | how to measure | in |");
      line("|---|---|---|---|---|---|");
    } else if (level == Level::kProcess) {
      line("| event | why | how to capture | in |");
      line("|---|---|---|---|");
    } else {
      line("| metric | why | how to measure | where | in |");
      line("|---|---|---|---|---|");
    }
    for (const Requirement& row : plan_.requirements) {
      if (row.level != level) continue;
      const std::string title_cell = md_prose_cell(row.title), why = md_prose_cell(row.why),
                        how = md_prose_cell(row.how), in = experiment_list(row);
      if (level == Level::kHardware) {
        std::string names;
        for (const std::string& name : row.names)
          names += (names.empty() ? "" : " ") + md_code_cell(name);
        table_row(
            md_row({title_cell, names.empty() ? "none" : names,
                    row.set.empty() && !row.passes
                        ? ""
                        : fmt::format("{}{}", row.set.empty() ? "no set" : row.set,
                                      row.passes ? fmt::format(", {}", *row.passes) : ", unknown"),
                    why, how, in}));
      } else if (level == Level::kProcess) {
        table_row(md_row({title_cell, why, how, in}));
      } else {
        std::string watched;
        for (const std::string& name : row.names) watched += md_code_cell(watch_option(name)) + " ";
        table_row(md_row({title_cell, why, watched + how,
                          row.where.empty() ? "" : md_code_cell(row.where), in}));
      }
    }
    line("");
  }

  void experiments() {
    line("## Experiments\n");
    if (plan_.experiments.empty())
      line("None: no command is known. See the open questions below.\n");
    for (const Experiment& one : plan_.experiments) experiment(one);
  }
  void experiment(const Experiment& one) {
    line(fmt::format("### Experiment {}: {}\n", one.id, md_prose(one.name)));
    line("**Purpose**: " + md_prose(one.purpose) + "\n");
    line("**Hypothesis**: " + md_prose(one.hypothesis) + "\n");
    if (!one.prepare.empty()) line("**First**: " + md_prose(one.prepare) + "\n");
    line("**Configuration**:\n");
    const Configuration* first = one.configurations.empty() ? nullptr : &one.configurations[0];
    Variables variables = one.environment;
    if (first != nullptr)
      variables.insert(variables.end(), first->environment.begin(), first->environment.end());
    out_ += command_block(command_of(one, first), variables, one.folder);
    line("");
    if (!one.configurations.empty()) {
      line("| configuration | arguments | variables |");
      line("|---|---|---|");
      for (const Configuration& configuration : one.configurations) {
        std::string set;
        for (const auto& [name, value] : configuration.environment)
          set += (set.empty() ? "" : " ") + name + "=" + shell_line({value});
        table_row(md_row({md_prose_cell(configuration.name),
                          md_code_cell(shell_line(configuration.arguments)), md_code_cell(set)}));
      }
      line("");
    }
    if (one.recorded) {
      line("**Profiling**:\n");
      out_ += command_block(profiling_command(one, first, capture_name(one, first)), variables,
                            one.folder);
      line("");
    } else {
      line(
          "**Profiling**: none by fathom record; `fathom run` measures wall time, CPU time and "
          "memory.\n");
    }
    line(fmt::format("**Runs**: {}{}, at most {} each{}{}.\n",
                     counted(static_cast<uint64_t>(one.repetitions), "repetition"),
                     one.warmup > 0 ? fmt::format(" after {} of warm-up", one.warmup) : "",
                     duration_text(one.time_limit),
                     one.ends_by_limit ? ", after which the server is ended" : "",
                     one.budget ? fmt::format("; budget {}", duration_text(*one.budget)) : ""));
    line("**Expected observations**:\n");
    if (one.expected.empty()) line("- None.");
    for (const ExpectedObservation& expected : one.expected) observation(expected);
    line("");
    line("**Actual observations**: not run.\n");
    if (!one.success.empty()) {
      line("**Success**:\n");
      for (const Criterion& criterion : one.success) line("- [ ] " + md_prose(criterion.text));
      line("");
    }
    if (!one.surprises.empty()) {
      line("**A surprise would be**:\n");
      for (const Surprise& surprise : one.surprises) line("- " + surprise_text(surprise));
      line("");
    }
  }
  void observation(const ExpectedObservation& one) {
    const PlanMetric* metric = find_plan_metric(one.metric);
    std::string text = "- " + (metric != nullptr ? md_prose(metric->title) : md_code(one.metric));
    if (!one.subject.empty()) text += " of " + md_code(one.subject);
    if (!one.configuration.empty()) text += " with " + md_prose(one.configuration);
    text += ": " + md_prose(range_text(one));
    if (one.known() && !one.source.empty()) text += " (" + md_prose(one.source) + ")";
    line(text);
  }
  static std::string surprise_text(const Surprise& surprise) {
    std::string text = md_prose(surprise.text);
    const PlanMetric* metric = find_plan_metric(surprise.metric);
    if (metric != nullptr && (surprise.below || surprise.above)) {
      const std::string& unit = surprise.unit;
      text += fmt::format(
          " ({}{}{})", md_prose(metric->title),
          surprise.below ? " below " + with_unit(fmt::format("{:g}", *surprise.below), unit) : "",
          surprise.above ? " above " + with_unit(fmt::format("{:g}", *surprise.above), unit) : "");
    } else if (metric != nullptr) {
      text += fmt::format(" Shown by: {}.", md_prose(metric->title));
    }
    if (!surprise.look_at.empty()) text += " Look at: " + md_prose(surprise.look_at) + ".";
    return text;
  }

  void analysis() {
    line("## Analysis Plan\n");
    size_t number = 0;
    for (const std::string& step : plan_.analysis)
      line(fmt::format("{}. {}", ++number, md_prose(step)));
    line("");
  }
  void success() {
    line("## Success Criteria\n");
    if (plan_.success.empty()) line("- [ ] Unknown: no experiment answers the goal yet.");
    for (const Criterion& one : plan_.success) {
      const PlanMetric* metric = find_plan_metric(one.metric);
      line(fmt::format(
          "- [ ] {}{}{}", md_prose(one.text),
          metric == nullptr ? "" : fmt::format(" (by {}", md_prose(metric->title)),
          metric == nullptr ? "" : (one.experiment.empty() ? ")" : " in " + one.experiment + ")")));
    }
    line("");
  }
  void surprises() {
    line("## What Would Surprise Us\n");
    if (plan_.surprises.empty())
      line("- No expectation is firm enough before the first measurement.");
    for (const Surprise& one : plan_.surprises) line("- " + surprise_text(one));
    line("");
  }
  void rest() {
    if (!plan_.left_out.empty() || plan_.budget) {
      line("## Budget\n");
      double total = 0;
      for (const Experiment& one : plan_.experiments) total += seconds_of(one);
      line(fmt::format(
          "{} planned at an assumed time per run{}. The smoke experiment measures the real time.\n",
          duration_text(total),
          plan_.budget ? fmt::format(", of a budget of {}", duration_text(*plan_.budget)) : ""));
      if (!plan_.left_out.empty()) {
        line("Left out:\n");
        bullets(plan_.left_out);
      }
    }
    if (plan_.open.empty()) return;
    line("## Open Questions\n");
    bullets(plan_.open);
    while (out_.ends_with("\n\n")) out_.pop_back();
  }

  const Plan& plan_;
  std::string out_;
};

}  // namespace

std::string duration_text(double seconds) {
  if (seconds < 120) return fmt::format("{:g} s", std::round(seconds * 1000) / 1000);
  const auto whole = static_cast<int64_t>(std::min(seconds, 1e12));
  if (whole < 7200 && whole % 60 != 0) return fmt::format("{} min {} s", whole / 60, whole % 60);
  if (whole < 7200) return fmt::format("{} min", whole / 60);
  const int64_t minutes = whole % 3600 / 60;
  return minutes == 0 ? fmt::format("{} h", whole / 3600)
                      : fmt::format("{} h {} min", whole / 3600, minutes);
}

std::string range_text(const ExpectedObservation& expected) {
  if (!expected.known()) return "unknown, first measurement";
  const double main = expected.high.value_or(expected.low.value_or(0));
  const Scaled scaled = scale_of(main, expected.unit);
  const auto number = [&](double value) { return fmt::format("{:.4g}", value * scaled.factor); };
  if (main == 1 && expected.unit.ends_with('s') && expected.unit != "s")
    return fmt::format("{}1", !expected.high ? "at least " : (!expected.low ? "at most " : ""));
  if (!expected.high) return "at least " + with_unit(number(*expected.low), scaled.unit);
  if (!expected.low) return "at most " + with_unit(number(*expected.high), scaled.unit);
  if (*expected.low == *expected.high) return with_unit(number(*expected.low), scaled.unit);
  return with_unit(number(*expected.low) + " to " + number(*expected.high), scaled.unit);
}

std::string plan_markdown(const Plan& plan) { return MarkdownPlan(plan).write(); }

}  // namespace fathom
