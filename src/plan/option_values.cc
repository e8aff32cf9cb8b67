#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "plan/goal_words.h"
#include "plan/program.h"

namespace fathom {
namespace {

constexpr size_t kMostValues = 4;
constexpr size_t kLongestValue = 60;

// Options that say where something is or how much is printed: varying them tells nothing.
constexpr std::array<std::string_view, 65> kNotWorkload = {
    "port",     "host",     "path",      "dir",     "file",       "out",    "output",   "seed",
    "log",      "timeout",  "device",    "url",     "name",       "key",    "model",    "tokenizer",
    "revision", "verbose",  "profile",   "trace",   "json",       "csv",    "markdown", "help",
    "version",  "rounds",   "repeat",    "iters",   "iterations", "warmup", "prompt",   "user",
    "password", "address",  "rank",      "debug",   "test",       "print",  "save",     "load",
    "library",  "arch",     "dataset",   "ipc",     "build",      "pip",    "install",  "nvcc",
    "ninja",    "cubin",    "download",  "skip",    "metrics",    "check",  "config",   "force",
    "dump",     "lineinfo", "workspace", "logging", "level",      "cache",  "lib",      "gb"};

std::string plain_name(const OptionFacts& option) {
  std::string name = option.name;
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  return name;
}

bool is_workload(const OptionFacts& option) {
  const GoalText words = goal_text(plain_name(option));
  return std::ranges::none_of(words.words, [](const GoalWord& word) {
    return std::ranges::find(kNotWorkload, word.text) != kNotWorkload.end();
  });
}

std::string unquoted(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front())
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

// "[128, 256]", "(1, 4)" or "0,1,2" → its elements; none: it is no list of plain values.
std::vector<std::string> elements_of(std::string_view text) {
  const std::string inner = unquoted(text);
  std::string_view rest = inner;
  const bool bracketed = rest.size() > 2 && (rest.front() == '[' || rest.front() == '(');
  if (bracketed) rest = rest.substr(1, rest.size() - 2);
  if (rest.find(',') == std::string_view::npos) return {};
  std::vector<std::string> out;
  double number = 0;
  while (!rest.empty() && out.size() < 64) {
    const size_t comma = std::min(rest.find(','), rest.size());
    std::string_view one = rest.substr(0, comma);
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (!read_number(one, number)) return {};
    out.emplace_back(one);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return out;
}

// At most kMostValues, spread over the list.
std::vector<std::string> spread(const std::vector<std::string>& all) {
  if (all.size() <= kMostValues) return all;
  std::vector<std::string> out;
  for (size_t i = 0; i < kMostValues; ++i)
    out.push_back(all[i * (all.size() - 1) / (kMostValues - 1)]);
  return out;
}

std::vector<std::string> around_number(double value, bool whole) {
  std::vector<std::string> out;
  if (whole) {
    const auto number = static_cast<int64_t>(value);
    const std::array<int64_t, 3> numbers =
        number < 4 ? std::array<int64_t, 3>{number, number * 4, number * 16}
                   : std::array<int64_t, 3>{number / 4, number, number * 4};
    for (const int64_t one : numbers) out.push_back(std::to_string(one));
  } else {
    out = {fmt::format("{}", value / 2), fmt::format("{}", value)};
  }
  return out;
}

bool is_flag(const OptionFacts& option) {
  const std::string value = option.default_value.value_or("");
  return option.type == "bool" || value == "False" || value == "True" || value == "false" ||
         value == "true";
}

Configuration configured(const OptionFacts& option, const std::string& value) {
  const std::string name = plain_name(option);
  Configuration configuration;
  configuration.name = fmt::format("{}={}", name, value);
  configuration.settings = {{name, value}};
  if (option.kind == OptionKind::kEnvironment) {
    configuration.environment = {{option.name, value}};
  } else {
    configuration.arguments = given_as(option, value);
  }
  return configuration;
}

// A switch of the command line is there or not; a variable is 0 or 1.
std::vector<Configuration> flag_values(const OptionFacts& option) {
  if (option.kind == OptionKind::kEnvironment)
    return {configured(option, "0"), configured(option, "1")};
  if (option.joined) return {configured(option, "False"), configured(option, "True")};
  const std::string name = plain_name(option);
  Configuration off{fmt::format("without {}", name), {}, {}, {{name, "0"}}};
  Configuration on{fmt::format("with {}", name), {option.name}, {}, {{name, "1"}}};
  return {off, on};
}

}  // namespace

std::vector<std::string> given_as(const OptionFacts& option, const std::string& value) {
  if (option.joined) return {fmt::format("{}={}", option.name, value)};
  return {option.name, value};
}

std::vector<Configuration> values_of(const OptionFacts& option,
                                     const std::vector<std::string>& wanted) {
  std::vector<Configuration> out;
  const bool settable = option.kind == OptionKind::kEnvironment || option.name.starts_with("-");
  if (!settable || option.name.find('{') != std::string::npos || option.name.size() > kLongestValue)
    return out;
  const std::vector<std::string>* values = &wanted;
  std::vector<std::string> found;
  if (wanted.size() < 2) {
    const std::string value = option.default_value.value_or("");
    double number = 0;
    if (option.choices.size() >= 2) {
      found = option.choices;
      if (found.size() > kMostValues) found.resize(kMostValues);
    } else if (!is_workload(option)) {
      return out;
    } else if (is_flag(option)) {
      return flag_values(option);
    } else if (const auto elements = elements_of(value); elements.size() >= 2) {
      found = spread(elements);
    } else if (read_number(unquoted(value), number) && number > 0 && number < 1e9) {
      found = around_number(number, value.find_first_of(".eE") == std::string::npos);
    }
    values = &found;
  }
  for (const std::string& value : *values) {
    const std::string plain = unquoted(value);
    if (plain.empty() || plain.size() > kLongestValue) continue;
    Configuration one = configured(option, plain);
    if (std::ranges::find(out, one.name, &Configuration::name) == out.end())
      out.push_back(std::move(one));
  }
  if (out.size() < 2) out.clear();
  return out;
}

std::optional<std::string> given_value(const std::vector<std::string>& command,
                                       const OptionFacts& option) {
  for (size_t i = 0; i < command.size(); ++i) {
    const auto is_name = [&](const std::string& name) { return command[i] == name; };
    if (is_name(option.name) || std::ranges::any_of(option.other_names, is_name)) {
      if (i + 1 < command.size() && !command[i + 1].starts_with('-')) return command[i + 1];
      return "";
    }
    if (command[i].starts_with(option.name + "=")) return command[i].substr(option.name.size() + 1);
  }
  return std::nullopt;
}

std::vector<std::string> without_option(const std::vector<std::string>& command,
                                        const OptionFacts& option) {
  std::vector<std::string> out;
  const bool flag = is_flag(option) && option.choices.empty();
  for (size_t i = 0; i < command.size(); ++i) {
    const auto is_name = [&](const std::string& name) { return command[i] == name; };
    if (is_name(option.name) || std::ranges::any_of(option.other_names, is_name)) {
      // A list of values ends at the next option.
      const bool list = elements_of(option.default_value.value_or("")).size() > 1;
      for (bool more = !flag; more && i + 1 < command.size() && !command[i + 1].starts_with('-');
           more = list)
        ++i;
      continue;
    }
    if (command[i].starts_with(option.name + "=")) continue;
    out.push_back(command[i]);
  }
  return out;
}

}  // namespace fathom
