#include "plan/ablate/suite_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/ascii.h"
#include "base/closest_names.h"
#include "platform/platform.h"

namespace fathom::ablate {
namespace {

constexpr int64_t kDefaultTimeoutMs = 600'000, kMostTimeoutMs = 24 * 3'600'000;

// "90s", "1.5 m", "500ms"; a number alone is seconds.
std::optional<int64_t> milliseconds_of(const TomlValue& value) {
  if (value.kind == TomlValue::Kind::kInteger || value.kind == TomlValue::Kind::kNumber) {
    const double ms = value.number * 1e3;
    return ms >= 1 && ms <= double{kMostTimeoutMs} ? std::optional(static_cast<int64_t>(ms))
                                                   : std::nullopt;
  }
  if (value.kind != TomlValue::Kind::kText) return std::nullopt;
  double number = 0;
  size_t at = 0;
  const size_t point = value.text.find('.');
  for (; at < value.text.size() && at < 12; ++at) {
    const char c = value.text[at];
    if (is_digit(c))
      number = number * 10 + (c - '0');
    else if (at != point || at == 0)
      break;
  }
  if (at == 0) return std::nullopt;
  if (point < at) number /= std::pow(10, static_cast<double>(at - point - 1));
  while (at < value.text.size() && value.text[at] == ' ') ++at;
  const std::string_view unit = std::string_view(value.text).substr(at);
  const double ms = number * (unit == "ms"  ? 1.0
                              : unit == "s" ? 1e3
                              : unit == "m" ? 60e3
                              : unit == "h" ? 3600e3
                                            : 0.0);
  return ms >= 1 && ms <= double{kMostTimeoutMs} ? std::optional(static_cast<int64_t>(ms))
                                                 : std::nullopt;
}

}  // namespace

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_word_character);
}

CommandLine read_command(TomlReader& table) {
  CommandLine command;
  command.shell = table.truth("shell").value_or(false);
  if (const TomlValue* value = table.any("command")) {
    if (value->kind == TomlValue::Kind::kText) {
      command.words = {value->text};
      if (!command.shell)
        table.mistake(value->line,
                      "command is a text; write a list of arguments, [\"make\", \"-j\"], or add "
                      "shell = true");
    } else if (auto words = table.texts("command")) {
      command.words = std::move(*words);
      if (command.shell)
        table.mistake(value->line, "shell = true runs one text, but command is a list");
    }
    if (command.words.empty() || command.words[0].empty())
      table.mistake(value->line, "command names no program");
  }
  for (const std::string& word : command.words) {
    if (word.find('\0') != std::string::npos)
      table.mistake(table.line_of("command"), "a word has a NUL byte");
  }
  command.folder = table.text("folder").value_or("");
  if (!command.folder.empty() && !stays_below(command.folder))
    table.mistake(table.line_of("folder"), "folder must be a path below the tree, without '..'");
  command.timeout_ms = kDefaultTimeoutMs;
  if (const TomlValue* value = table.any("timeout")) {
    const auto ms = milliseconds_of(*value);
    if (!ms)
      table.mistake(value->line, "timeout must be a time such as \"90s\", \"5m\", up to 24h");
    command.timeout_ms = ms.value_or(kDefaultTimeoutMs);
  }
  return command;
}

CommandLine read_command_table(const TomlValue* table, const char* name, TomlMistakes& mistakes,
                               int64_t* jobs) {
  if (table == nullptr) return {};
  TomlReader step(*table, name, mistakes);
  CommandLine command = read_command(step);
  if (command.empty()) step.mistake(table->line, "command is missing");
  if (jobs != nullptr) *jobs = step.integer("jobs", 1, 64).value_or(1);
  step.finish();
  return command;
}

Work read_work(const TomlValue* table, TomlMistakes& mistakes) {
  Work work;
  if (table == nullptr) return work;
  TomlReader reader(*table, "work", mistakes);
  work.bytes = reader.number("bytes", 1, 1e18);
  work.flop = reader.number("flop", 1, 1e24);
  work.spec = reader.text("spec").value_or("");
  const auto names = compute_spec_names();
  if (!work.spec.empty() && std::ranges::find(names, work.spec) == names.end()) {
    const std::vector<std::string> known(names.begin(), names.end());
    reader.mistake(reader.line_of("spec"), fmt::format("spec '{}' is not a platform rate{}",
                                                       work.spec, did_you_mean(work.spec, known)));
  }
  reader.finish();
  return work;
}

Pairs read_pairs(TomlReader& reader, std::string_view key) {
  Pairs pairs;
  const TomlValue* table = reader.table(key);
  if (table == nullptr) return pairs;
  for (const TomlEntry& entry : table->entries) {
    const TomlValue& v = entry.value;
    using Kind = TomlValue::Kind;
    if (v.kind != Kind::kText && v.kind != Kind::kInteger && v.kind != Kind::kNumber &&
        v.kind != Kind::kTruth) {
      reader.mistake(entry.line, fmt::format("{}.{} must be a text or a number", key, entry.key));
      continue;
    }
    std::string text = v.kind == Kind::kText      ? v.text
                       : v.kind == Kind::kInteger ? std::to_string(v.integer)
                       : v.kind == Kind::kTruth   ? (v.truth ? "1" : "0")
                                                  : fmt::format("{}", v.number);
    if ((text.find('\0') != std::string::npos) || (entry.key.find('\0') != std::string::npos) ||
        entry.key.empty())
      reader.mistake(entry.line, fmt::format("{} has an empty name or a NUL byte", key));
    pairs.emplace_back(entry.key, std::move(text));
  }
  return pairs;
}

Pairs read_values(TomlReader& reader) {
  Pairs values = read_pairs(reader, "values");
  for (const auto& [name, value] : values) {
    if (!is_word(name) || name == "tree" || name == "suite" || name == "macros" || name == "flags")
      reader.mistake(reader.line_of("values"),
                     fmt::format("'{}' cannot be the name of a value", name));
  }
  return values;
}

std::vector<std::string> texts_or_text(TomlReader& reader, std::string_view key) {
  const TomlValue* value = reader.any(key);
  if (value == nullptr) return {};
  if (value->kind == TomlValue::Kind::kText) return {value->text};
  return reader.texts(key).value_or(std::vector<std::string>{});
}

}  // namespace fathom::ablate
