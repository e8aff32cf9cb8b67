#include "plan/ablate/suite_variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/ascii.h"
#include "measure/hypotheses.h"
#include "plan/ablate/flag_combinations.h"
#include "plan/ablate/suite_parts.h"

namespace fathom::ablate {
namespace {

bool is_commit(std::string_view text) {
  constexpr std::string_view kAlso = "._/~^-@{}";
  return !text.empty() && text.size() <= 200 && text[0] != '-' &&
         std::ranges::all_of(text, [&](char c) {
           return is_word_character(c) || kAlso.find(c) != std::string_view::npos;
         });
}

void read_changes(TomlReader& reader, TomlMistakes& mistakes, Changes& changes) {
  changes.commit = reader.text("commit").value_or("");
  if (!changes.commit.empty() && !is_commit(changes.commit))
    reader.mistake(reader.line_of("commit"), "commit is not a commit name");
  changes.patches = texts_or_text(reader, "patch");
  for (const std::string& patch : changes.patches) {
    if (!stays_below(patch))
      reader.mistake(reader.line_of("patch"), "patch must be a path below the suite");
  }
  changes.files = read_pairs(reader, "files");
  for (const auto& [to, from] : changes.files) {
    if (!stays_below(to) || !stays_below(from))
      reader.mistake(reader.line_of("files"),
                     fmt::format("files: '{}' = '{}' must be paths below the tree and the suite, "
                                 "without '..'",
                                 to, from));
  }
  changes.macros = read_pairs(reader, "macros");
  for (const auto& [name, value] : changes.macros) {
    if (!is_word(name))
      reader.mistake(reader.line_of("macros"), fmt::format("'{}' is not a macro name", name));
  }
  changes.flags = texts_or_text(reader, "flags");
  changes.environment = read_pairs(reader, "environment");
  for (const auto& [name, value] : changes.environment) {
    if (!is_word(name))
      reader.mistake(reader.line_of("environment"),
                     fmt::format("'{}' is not the name of an environment variable", name));
  }
  changes.values = read_values(reader);
  if (const TomlValue* table = reader.table("build"))
    changes.build = read_command_table(table, "variant.build", mistakes);
  if (const TomlValue* table = reader.table("run"))
    changes.run = read_command_table(table, "variant.run", mistakes);
}

void check_value(TomlReader& reader, std::string_view key, const std::string& name) {
  if (is_known_value(name)) return;
  reader.mistake(reader.line_of(key),
                 fmt::format("'{}' is not a kernel value (data/hypotheses/about.md)", name));
}

// What variants and flags share: what is changed, why, and what is expected of it.
void read_reasons(TomlReader& reader, TomlMistakes& mistakes, Variant& variant) {
  variant.change = reader.text("change").value_or("");
  variant.hypothesis = reader.text("hypothesis").value_or("");
  if (const TomlValue* table = reader.table("identified")) {
    TomlReader identified(*table, "identified", mistakes);
    variant.identified.metric = identified.text("metric").value_or("");
    if (!variant.identified.metric.empty())
      check_value(identified, "metric", variant.identified.metric);
    variant.identified.target = identified.number("target", -1e300, 1e300);
    variant.identified.evidence = identified.text("evidence").value_or("");
    identified.finish();
  }
  for (const auto& [name, word] : read_pairs(reader, "expects")) {
    ExpectedMove move{name, Direction::kDown};
    check_value(reader, "expects", name);
    if (word == "up") {
      move.direction = Direction::kUp;
    } else if (word == "same") {
      move.direction = Direction::kSame;
    } else if (word != "down") {
      reader.mistake(reader.line_of("expects"),
                     fmt::format("expects.{} must be \"up\", \"down\" or \"same\"", name));
    }
    variant.expects.push_back(std::move(move));
  }
  variant.sources = texts_or_text(reader, "source");
  for (const std::string& source : variant.sources) {
    if (!stays_below(source))
      reader.mistake(reader.line_of("source"), "source must be a path below the tree");
  }
  variant.work = read_work(reader.table("work"), mistakes);
}

}  // namespace

void read_variants(TomlReader& root, TomlMistakes& mistakes, Suite& suite) {
  std::set<std::string> names;
  std::string previous;
  for (const TomlValue* table : root.tables("variant")) {
    if (suite.variants.size() == kMostVariants) {
      root.mistake(table->line, fmt::format("over {} variants", kMostVariants));
      return;
    }
    Variant variant;
    variant.line = table->line;
    TomlReader reader(*table, "[[variant]]", mistakes);
    variant.name = reader.need_text("name");
    if (!variant.name.empty() && !is_plain_name(variant.name))
      reader.mistake(reader.line_of("name"),
                     "name must have letters, digits, '.', '_', '+', '-' only, up to 60");
    if (!names.insert(variant.name).second)
      reader.mistake(table->line, fmt::format("a second variant is named '{}'", variant.name));
    const std::optional<std::string> parent = reader.text("parent");
    variant.parent_is_default = !parent;
    variant.parent = parent.value_or(previous);
    read_reasons(reader, mistakes, variant);
    read_changes(reader, mistakes, variant.changes);
    reader.finish();
    previous = variant.name;
    suite.variants.push_back(std::move(variant));
  }
}

void read_flags(TomlReader& root, TomlMistakes& mistakes, Suite& suite) {
  suite.most_pairs = root.integer("max_pairs", 0, 66).value_or(6);
  const std::vector<const TomlValue*> tables = root.tables("flag");
  if (tables.empty()) return;
  suite.has_flags = true;
  if (!suite.variants.empty())
    root.mistake(tables[0]->line, "a suite has [[variant]]s or [[flag]]s, not both");
  if (tables.size() > kMostFlags) {
    root.mistake(tables[0]->line, fmt::format("over {} flags", kMostFlags));
    return;
  }
  std::vector<Variant> flags;
  for (const TomlValue* table : tables) {
    Variant flag;
    flag.line = table->line;
    TomlReader reader(*table, "[[flag]]", mistakes);
    flag.name = reader.need_text("name");
    if (!flag.name.empty() &&
        (!is_plain_name(flag.name) || flag.name.find('+') != std::string::npos))
      reader.mistake(reader.line_of("name"),
                     "name must have letters, digits, '.', '_', '-' only, up to 60");
    if (flag.name == "none" || flag.name == "all")
      reader.mistake(reader.line_of("name"), "'none' and 'all' are names of combinations");
    if (std::ranges::find(suite.flags, flag.name) != suite.flags.end())
      reader.mistake(table->line, fmt::format("a second flag is named '{}'", flag.name));
    read_reasons(reader, mistakes, flag);
    read_changes(reader, mistakes, flag.changes);
    if (!flag.changes.commit.empty() || !flag.changes.run.empty() || !flag.changes.build.empty())
      reader.mistake(table->line, "a flag cannot be a commit or a command: those do not combine");
    reader.finish();
    suite.flags.push_back(flag.name);
    flags.push_back(std::move(flag));
  }
  if (mistakes.empty()) add_combinations(flags, suite);
}

}  // namespace fathom::ablate
