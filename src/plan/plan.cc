#include "plan/plan.h"

#include <fmt/format.h>

#include <array>

#include "base/ascii.h"

namespace fathom {

namespace {

constexpr std::array<std::string_view, 6> kQuestionNames = {
    "characteristics", "comparison", "bottleneck", "implementation", "opportunity", "regression"};
constexpr std::array<std::string_view, 8> kSubjectNames = {
    "feature", "kernel", "component", "option", "entry point", "phase", "metric", "project"};
constexpr std::array<std::string_view, 5> kConstraintNames = {"time", "hardware", "gpus",
                                                              "accuracy", "tool"};
constexpr std::array<std::string_view, 3> kLevelNames = {"hardware", "process", "application"};
constexpr std::array<std::string_view, 8> kExperimentNames = {
    "smoke", "baseline", "counters", "stalls", "sweep", "first call", "compare", "host"};
constexpr std::array<std::string_view, 6> kCriterionNames = {"measured", "expected", "at most",
                                                             "at least", "spread",   "by hand"};

bool is_plain(char c) {
  return is_word_character(c) || std::string_view("-./:=,+@%^").find(c) != std::string_view::npos;
}

// $'…' where a line break or a control character would break the line.
std::string quoted_word(std::string_view word) {
  bool plain = !word.empty(), control = false;
  for (const char c : word) {
    plain = plain && is_plain(c);
    control = control || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  }
  if (plain) return std::string(word);
  std::string out = control ? "$'" : "'";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'') {
      out += control ? "\\'" : "'\\''";
    } else if (control && c == '\\') {
      out += "\\\\";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace

std::string_view question_name(Question question) {
  return kQuestionNames[static_cast<size_t>(question)];
}
std::string_view subject_kind_name(SubjectKind kind) {
  return kSubjectNames[static_cast<size_t>(kind)];
}
std::string_view constraint_kind_name(ConstraintKind kind) {
  return kConstraintNames[static_cast<size_t>(kind)];
}
std::string_view level_name(Level level) { return kLevelNames[static_cast<size_t>(level)]; }
std::string_view experiment_kind_name(ExperimentKind kind) {
  return kExperimentNames[static_cast<size_t>(kind)];
}
std::string_view criterion_kind_name(CriterionKind kind) {
  return kCriterionNames[static_cast<size_t>(kind)];
}

std::vector<std::string> command_of(const Experiment& experiment,
                                    const Configuration* configuration) {
  std::vector<std::string> words = experiment.command;
  if (configuration != nullptr) {
    words.insert(words.end(), configuration->arguments.begin(), configuration->arguments.end());
  }
  return words;
}

std::vector<std::string> profiling_command(const Experiment& experiment,
                                           const Configuration* configuration,
                                           const std::string& capture) {
  std::vector<std::string> command = command_of(experiment, configuration);
  if (!experiment.recorded) return command;
  std::vector<std::string> words = {"fathom", "record", "--out", capture};
  words.insert(words.end(), experiment.record.begin(), experiment.record.end());
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

std::string capture_name(const Experiment& experiment, const Configuration* configuration) {
  std::string name = experiment.id;
  if (configuration != nullptr) name += "-" + configuration->name;
  if (name.size() > 80) name.resize(80);
  for (char& c : name) {
    if (!is_word_character(c) && c != '-' && c != '.') c = '_';
  }
  if (name.empty() || name[0] == '.' || name[0] == '-') name.insert(0, "run");
  return name + ".capture";
}

int64_t runs_of(const Experiment& experiment) {
  const auto ways = static_cast<int64_t>(std::max<size_t>(experiment.configurations.size(), 1));
  return ways * (experiment.repetitions + experiment.warmup);
}

double seconds_of(const Experiment& experiment) {
  if (experiment.budget) return *experiment.budget;
  return static_cast<double>(runs_of(experiment)) * experiment.time_limit;
}

std::string shell_line(const std::vector<std::string>& arguments) {
  std::string line;
  for (const std::string& word : arguments) {
    if (!line.empty()) line += ' ';
    line += quoted_word(word);
  }
  return line;
}

}  // namespace fathom
