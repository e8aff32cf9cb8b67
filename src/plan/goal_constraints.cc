#include "plan/goal_constraints.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/tsv.h"
#include "platform/platform.h"

extern const std::string_view plan_constraints_tsv;
extern const std::string_view plan_tools_tsv;

namespace fathom {
namespace {

// Seconds of a unit of time; 0: it is none.
double seconds_of_unit(std::string_view unit) {
  for (const std::string_view one : {"s", "sec", "secs", "second", "seconds"}) {
    if (unit == one) return 1;
  }
  for (const std::string_view one : {"m", "min", "mins", "minute", "minutes"}) {
    if (unit == one) return 60;
  }
  for (const std::string_view one : {"h", "hr", "hrs", "hour", "hours"}) {
    if (unit == one) return 3600;
  }
  return 0;
}

// "20m" → 20, "m".
bool split_amount(std::string_view word, double& number, std::string_view& unit) {
  const size_t sign = word.starts_with('-') ? 1 : 0;
  const size_t end = std::min(word.find_first_not_of("0123456789.", sign), word.size());
  unit = word.substr(end);
  return end > sign && read_number(word.substr(0, end), number);
}

// A platform by one to three words from `at` on; how many words it took.
struct FoundPlatform {
  size_t words = 0;
  std::string name;  // empty: several fit
  std::string said;
};
FoundPlatform platform_at(const std::vector<GoalWord>& words, size_t at) {
  for (size_t count = std::min<size_t>(3, words.size() - at); count > 0; --count) {
    std::string name;
    for (size_t i = 0; i < count; ++i) name += (i > 0 ? " " : "") + words[at + i].text;
    // A name of a GPU has letters and digits: "h200", "mi300x"; not "a" or "100".
    const bool has_digit = name.find_first_of("0123456789") != std::string::npos;
    const bool has_letter = name.find_first_of("abcdefghijklmnopqrstuvwxyz") != std::string::npos;
    if (!has_digit || !has_letter || name.size() < 2) continue;
    const Result<const Platform*> found = Platforms::built_in().find(name);
    if (found.ok()) return {count, found.value()->name, name};
    if (count > 1) continue;
    size_t fitting = 0;  // "h100" is the PCIe or the SXM one
    for (const Platform& platform : Platforms::built_in().all())
      fitting += squashed(platform.name).starts_with(squashed(name)) ? 1 : 0;
    if (fitting > 1) return {count, "", name};
  }
  return {};
}

// One pattern of constraints.tsv from `at` on: literal words and {kinds}.
struct Filled {
  size_t words = 0;
  double number = 0;
  double unit_seconds = 0;
  FoundPlatform platform;
  std::string tool;
};
size_t tool_at(const std::vector<GoalWord>& words, size_t at, std::string& tool) {
  size_t longest = 0;
  for (const auto& row : read_tsv(plan_tools_tsv, 3)) {
    for (const std::string_view name : split(row[1], '|')) {
      const size_t taken = GoalPhrase(name).match(words, at);
      if (taken <= longest) continue;
      longest = taken;
      tool = row[0];
    }
  }
  return longest;
}

std::optional<Filled> fill(std::string_view pattern, const std::vector<GoalWord>& words,
                           size_t at) {
  Filled filled;
  size_t i = at;
  std::string_view glued_unit;
  for (const std::string_view part : split(pattern, ' ')) {
    if (part == "{unit}" && !glued_unit.empty()) {
      filled.unit_seconds = seconds_of_unit(glued_unit);
      if (filled.unit_seconds == 0) return std::nullopt;
      glued_unit = {};
      continue;
    }
    if (i >= words.size() || !glued_unit.empty()) return std::nullopt;
    const std::string& word = words[i].text;
    if (part == "{number}") {
      if (!read_number(word, filled.number) &&
          (!split_amount(word, filled.number, glued_unit) || seconds_of_unit(glued_unit) == 0))
        return std::nullopt;
    } else if (part == "{unit}") {
      filled.unit_seconds = seconds_of_unit(word);
      if (filled.unit_seconds == 0) return std::nullopt;
    } else if (part == "{gpu}") {
      filled.platform = platform_at(words, i);
      if (filled.platform.words == 0) return std::nullopt;
      i += filled.platform.words;
      continue;
    } else if (part == "{tool}") {
      const size_t taken = tool_at(words, i, filled.tool);
      if (taken == 0) return std::nullopt;
      i += taken;
      continue;
    } else if (GoalPhrase(part).match(words, i) == 0) {
      return std::nullopt;
    }
    ++i;
  }
  if (!glued_unit.empty()) return std::nullopt;
  filled.words = i - at;
  return filled;
}
void add_constraint(std::string_view kind, const Filled& filled, const std::string& words,
                    ReadGoal& out) {
  auto& list = out.reading.constraints;
  if (kind == "time") {
    const double seconds = filled.number * filled.unit_seconds;
    if (!(seconds > 0 && seconds <= kLongestBudget)) {
      out.impossible.push_back(words);
      return;
    }
    out.seconds = seconds;
    list.push_back({ConstraintKind::kTime, words, fmt::format("{}", *out.seconds)});
  } else if (kind == "accuracy") {
    list.push_back({ConstraintKind::kAccuracy, words, fmt::format("{}", filled.number)});
  } else if (kind == "accuracy exact") {  // source text: a kind of data/plan/constraints.tsv
    list.push_back({ConstraintKind::kAccuracy, words, "0"});
  } else if (kind == "tool") {
    list.push_back({ConstraintKind::kTool, words, filled.tool});
    for (const auto& row : read_tsv(plan_tools_tsv, 3)) {
      if (row[0] != filled.tool) continue;
      for (const std::string_view option : split(row[2], ' ')) out.left_out.emplace_back(option);
    }
  } else if (kind == "gpus" && filled.number >= 1 && filled.number <= 1e6) {
    out.gpus = static_cast<int64_t>(filled.number);
    list.push_back({ConstraintKind::kGpuCount, words, std::to_string(*out.gpus)});
  }
  if (filled.platform.words == 0) return;
  if (filled.platform.name.empty()) {
    out.ambiguous.push_back(filled.platform.said);
  } else {
    out.platform = filled.platform.name;
  }
  if (kind == "hardware")
    list.push_back({ConstraintKind::kHardware, words,
                    filled.platform.name.empty() ? filled.platform.said : filled.platform.name});
}

}  // namespace

void read_constraints(GoalText& text, ReadGoal& out) {
  const auto rows = read_tsv(plan_constraints_tsv, 2);
  for (size_t at = 0; at < text.words.size();) {
    size_t taken = 0;
    for (size_t r = 0; r < rows.size() && taken == 0; ++r) {
      for (const std::string_view pattern : split(rows[r][1], '|')) {
        const std::optional<Filled> filled = fill(pattern, text.words, at);
        if (!filled) continue;
        add_constraint(rows[r][0], *filled, text.said(at, filled->words), out);
        taken = filled->words;
        break;
      }
    }
    if (taken > 0) text.take(at, taken);
    at += std::max<size_t>(taken, 1);
  }
}

std::optional<double> read_duration(std::string_view text) {
  while (text.ends_with(' ')) text.remove_suffix(1);
  while (text.starts_with(' ')) text.remove_prefix(1);
  double number = 0;
  std::string_view unit;
  if (!split_amount(text, number, unit)) return std::nullopt;
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const double seconds = seconds_of_unit(unit);
  if (seconds == 0 || number <= 0 || number * seconds > kLongestBudget) return std::nullopt;
  return number * seconds;
}

}  // namespace fathom
