#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/closest_names.h"
#include "base/toml_document.h"
#include "measure/hypotheses.h"
#include "plan/ablate/suite.h"
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
    if (c >= '0' && c <= '9')
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

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool is_commit(std::string_view text) {
  constexpr std::string_view kAlso = "._/~^-@{}";
  return !text.empty() && text.size() <= 200 && text[0] != '-' &&
         std::ranges::all_of(text, [&](char c) {
           return is_word(std::string_view(&c, 1)) || (kAlso.find(c) != std::string_view::npos);
         });
}

class SuiteReader {
 public:
  SuiteReader(const TomlDocument& document, Suite& suite)
      : document_(document), mistakes_(document.shown()), suite_(suite) {}

  Status read() {
    TomlReader root(document_.root(), "suite", mistakes_);
    suite_.title = root.need_text("title");
    suite_.objective = root.text("objective").value_or("");
    suite_.platform = root.text("platform").value_or("");
    if (!suite_.platform.empty()) {
      const auto found = Platforms::built_in().find(suite_.platform);
      if (!found.ok()) root.mistake(root.line_of("platform"), found.error().message);
    }
    suite_.baseline = root.text("baseline").value_or("");
    read_tree(root.table("tree"));
    suite_.build = read_step(root.table("build"), "[build]", &suite_.build_jobs);
    read_run(root);
    read_check(root.table("check"));
    read_timing(root.table("time"));
    read_counters(root.table("counters"));
    suite_.work = read_work(root.table("work"));
    read_cases(root);
    read_variants(root);
    read_flags(root);
    root.finish();
    if (mistakes_.empty()) check_whole();
    if (!mistakes_.empty()) return mistakes_.error();
    return Nothing{};
  }

 private:
  // ---- parts of a suite ----

  void read_tree(const TomlValue* table) {
    suite_.source = ".";
    if (table == nullptr) return;
    TomlReader tree(*table, "[tree]", mistakes_);
    suite_.source = tree.text("source").value_or(".");
    suite_.most_source_mb = static_cast<uint64_t>(tree.integer("max_mb", 1, 1 << 20).value_or(256));
    tree.finish();
  }

  // command = ["a", "b"], or with shell = true one text.
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

  CommandLine read_step(const TomlValue* table, const char* name, int64_t* jobs = nullptr) {
    if (table == nullptr) return {};
    TomlReader step(*table, name, mistakes_);
    CommandLine command = read_command(step);
    if (command.empty()) step.mistake(table->line, "command is missing");
    if (jobs != nullptr) *jobs = step.integer("jobs", 1, 64).value_or(1);
    step.finish();
    return command;
  }

  void read_run(TomlReader& root) {
    const TomlValue* table = root.table("run");
    if (table == nullptr) return;
    TomlReader run(*table, "[run]", mistakes_);
    suite_.run = read_command(run);
    suite_.warmup = run.integer("warmup", 0, 100).value_or(1);
    suite_.repetitions = run.integer("repetitions", 1, kMostRepetitions).value_or(10);
    run.finish();
  }

  void read_check(const TomlValue* table) {
    if (table == nullptr) return;
    TomlReader check(*table, "[check]", mistakes_);
    Check& c = suite_.check;
    c.command = read_command(check);
    c.output = check.text("output").value_or("");
    c.reference = check.text("reference").value_or("");
    c.reference_variant = check.text("reference_variant").value_or("");
    c.format = static_cast<OutputFormat>(
        check.word("format", {"text", "float32", "float64", "bytes"}).value_or(0));
    c.absolute = check.number("absolute", 0, 1e300).value_or(0);
    c.relative = check.number("relative", 0, 1e300).value_or(0);
    c.norm = check.number("norm", 0, 1e300);
    if (c.command.empty()) check.mistake(table->line, "command is missing");
    const bool compares = !c.reference.empty() || !c.reference_variant.empty();
    if (!c.reference.empty() && !c.reference_variant.empty())
      check.mistake(table->line, "give reference or reference_variant, not both");
    if (compares && c.output.empty()) c.output = "stdout";
    if (!compares && !c.output.empty())
      check.mistake(check.line_of("output"), "output needs a reference or a reference_variant");
    if (!c.output.empty() && c.output != "stdout" && !stays_below(c.output))
      check.mistake(check.line_of("output"), "output must be \"stdout\" or a path below the tree");
    if (!c.reference.empty() && !stays_below(c.reference))
      check.mistake(check.line_of("reference"), "reference must be a path below the suite");
    check.finish();
  }

  void read_timing(const TomlValue* table) {
    if (table == nullptr) return;
    TomlReader time(*table, "[time]", mistakes_);
    Timing& t = suite_.timing;
    t.pattern = time.text("pattern").value_or("");
    t.pattern_line = time.line_of("pattern");
    constexpr double kUnits[] = {1, 1e-3, 1e-6, 1e-9};
    t.unit = kUnits[time.word("unit", {"s", "ms", "us", "ns"}).value_or(2)];
    t.disagreement = time.number("disagreement", 0, 1000).value_or(5);
    const std::string second = time.text("second").value_or("none");
    t.second_line = time.line_of("second");
    if (second == "capture") {
      t.second = SecondTimer::kCapture;
    } else if (second == "wall") {
      t.second = SecondTimer::kWall;
      if (t.pattern.empty())
        time.mistake(t.second_line, "the first timer is the wall time already; name another");
    } else if (second.find('{') != std::string::npos) {
      t.second = SecondTimer::kPrinted;
      t.second_pattern = second;
    } else if (second != "none") {
      time.mistake(t.second_line,
                   "second must be \"capture\", \"wall\", \"none\" or a pattern such as "
                   "\"host_us = {float}\"");
    }
    time.finish();
  }

  void read_counters(const TomlValue* table) {
    if (table == nullptr) return;
    TomlReader counters(*table, "[counters]", mistakes_);
    Counters& c = suite_.counters;
    c.wanted = true;
    c.set = counters.text("set").value_or("full");
    c.set_line = counters.line_of("set");
    c.replay = counters.truth("replay").value_or(true);
    c.kernel = counters.text("kernel").value_or("");
    c.command = read_command(counters);
    counters.finish();
  }

  Work read_work(const TomlValue* table) {
    Work work;
    if (table == nullptr) return work;
    TomlReader reader(*table, "work", mistakes_);
    work.bytes = reader.number("bytes", 1, 1e18);
    work.flop = reader.number("flop", 1, 1e24);
    work.spec = reader.text("spec").value_or("");
    const auto names = compute_spec_names();
    if (!work.spec.empty() && std::ranges::find(names, work.spec) == names.end()) {
      const std::vector<std::string> known(names.begin(), names.end());
      reader.mistake(reader.line_of("spec"),
                     fmt::format("spec '{}' is no rate of a platform{}", work.spec,
                                 did_you_mean(work.spec, known)));
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

  void read_cases(TomlReader& root) {
    std::set<std::string> names;
    for (const TomlValue* table : root.tables("case")) {
      TomlReader reader(*table, "[[case]]", mistakes_);
      Case c;
      c.name = reader.need_text("name");
      c.values = read_values(reader);
      c.work = read_work(reader.table("work"));
      if (!names.insert(c.name).second)
        reader.mistake(table->line, fmt::format("a second case is named '{}'", c.name));
      reader.finish();
      suite_.cases.push_back(std::move(c));
      if (suite_.cases.size() > kMostCases) {
        reader.mistake(table->line, fmt::format("over {} cases", kMostCases));
        break;
      }
    }
    if (suite_.cases.empty()) suite_.cases.emplace_back();
  }

  Pairs read_values(TomlReader& reader) {
    Pairs values = read_pairs(reader, "values");
    for (const auto& [name, value] : values) {
      if (!is_word(name) || name == "tree" || name == "suite" || name == "macros" ||
          name == "flags")
        reader.mistake(reader.line_of("values"),
                       fmt::format("'{}' cannot be the name of a value", name));
    }
    return values;
  }

  void read_changes(TomlReader& reader, Changes& changes) {
    changes.commit = reader.text("commit").value_or("");
    if (!changes.commit.empty() && !is_commit(changes.commit))
      reader.mistake(reader.line_of("commit"), "commit is no name of a commit");
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
        reader.mistake(reader.line_of("macros"), fmt::format("'{}' is no name of a macro", name));
    }
    changes.flags = texts_or_text(reader, "flags");
    changes.environment = read_pairs(reader, "environment");
    for (const auto& [name, value] : changes.environment) {
      if (!is_word(name))
        reader.mistake(reader.line_of("environment"),
                       fmt::format("'{}' is no name of an environment variable", name));
    }
    changes.values = read_values(reader);
    if (const TomlValue* table = reader.table("build"))
      changes.build = read_step(table, "variant.build");
    if (const TomlValue* table = reader.table("run")) changes.run = read_step(table, "variant.run");
  }

  std::vector<std::string> texts_or_text(TomlReader& reader, std::string_view key) {
    const TomlValue* value = reader.any(key);
    if (value == nullptr) return {};
    if (value->kind == TomlValue::Kind::kText) return {value->text};
    return reader.texts(key).value_or(std::vector<std::string>{});
  }

  // What variants and flags share: what is changed, why, and what is expected of it.
  void read_reasons(TomlReader& reader, Variant& variant) {
    variant.change = reader.text("change").value_or("");
    variant.hypothesis = reader.text("hypothesis").value_or("");
    if (const TomlValue* table = reader.table("identified")) {
      TomlReader identified(*table, "identified", mistakes_);
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
    variant.work = read_work(reader.table("work"));
  }

  void check_value(TomlReader& reader, std::string_view key, const std::string& name) {
    if (is_known_value(name)) return;
    reader.mistake(reader.line_of(key),
                   fmt::format("'{}' is no value of a kernel (data/hypotheses/about.md)", name));
  }

  void read_variants(TomlReader& root) {
    std::set<std::string> names;
    std::string previous;
    for (const TomlValue* table : root.tables("variant")) {
      if (suite_.variants.size() == kMostVariants) {
        root.mistake(table->line, fmt::format("over {} variants", kMostVariants));
        return;
      }
      Variant variant;
      variant.line = table->line;
      TomlReader reader(*table, "[[variant]]", mistakes_);
      variant.name = reader.need_text("name");
      if (!variant.name.empty() && !is_plain_name(variant.name))
        reader.mistake(reader.line_of("name"),
                       "name must have letters, digits, '.', '_', '+', '-' only, up to 60");
      if (!names.insert(variant.name).second)
        reader.mistake(table->line, fmt::format("a second variant is named '{}'", variant.name));
      const std::optional<std::string> parent = reader.text("parent");
      variant.parent_is_default = !parent;
      variant.parent = parent.value_or(previous);
      read_reasons(reader, variant);
      read_changes(reader, variant.changes);
      reader.finish();
      previous = variant.name;
      suite_.variants.push_back(std::move(variant));
    }
  }

  void read_flags(TomlReader& root) {
    suite_.most_pairs = root.integer("max_pairs", 0, 66).value_or(6);
    const std::vector<const TomlValue*> tables = root.tables("flag");
    if (tables.empty()) return;
    suite_.has_flags = true;
    if (!suite_.variants.empty())
      root.mistake(tables[0]->line, "a suite has [[variant]]s or [[flag]]s, not both");
    if (tables.size() > kMostFlags) {
      root.mistake(tables[0]->line, fmt::format("over {} flags", kMostFlags));
      return;
    }
    std::vector<Variant> flags;
    for (const TomlValue* table : tables) {
      Variant flag;
      flag.line = table->line;
      TomlReader reader(*table, "[[flag]]", mistakes_);
      flag.name = reader.need_text("name");
      if (!flag.name.empty() &&
          (!is_plain_name(flag.name) || flag.name.find('+') != std::string::npos))
        reader.mistake(reader.line_of("name"),
                       "name must have letters, digits, '.', '_', '-' only, up to 60");
      if (flag.name == "none" || flag.name == "all")
        reader.mistake(reader.line_of("name"), "'none' and 'all' are names of combinations");
      if (std::ranges::find(suite_.flags, flag.name) != suite_.flags.end())
        reader.mistake(table->line, fmt::format("a second flag is named '{}'", flag.name));
      read_reasons(reader, flag);
      read_changes(reader, flag.changes);
      if (!flag.changes.commit.empty() || !flag.changes.run.empty() || !flag.changes.build.empty())
        reader.mistake(table->line, "a flag cannot be a commit or a command: those do not combine");
      reader.finish();
      suite_.flags.push_back(flag.name);
      flags.push_back(std::move(flag));
    }
    if (mistakes_.empty()) add_combinations(flags);
  }

  // none, each alone, all, all but one, and the pairs, which are run where they matter.
  void add_combinations(const std::vector<Variant>& flags) {
    suite_.baseline = "none";
    const size_t count = flags.size();
    std::set<std::vector<size_t>> made;
    const auto add = [&](const std::vector<size_t>& which, std::string name, std::string parent,
                         bool is_pair) {
      if (!made.insert(which).second) return;
      Variant variant;
      variant.name = std::move(name);
      variant.parent = std::move(parent);
      variant.only_if_pairs_matter = is_pair;
      for (const size_t i : which) put_flag(flags[i], variant);
      if (which.size() == 1) {
        variant.identified = flags[which[0]].identified;
        variant.hypothesis = flags[which[0]].hypothesis;
        variant.expects = flags[which[0]].expects;
      }
      suite_.variants.push_back(std::move(variant));
    };
    add({}, "none", "", false);
    std::vector<size_t> all;
    for (size_t i = 0; i < count; ++i) {
      add({i}, flags[i].name, "none", false);
      all.push_back(i);
    }
    add(all, "all", "none", false);
    for (size_t i = 0; i < count; ++i) {
      std::vector<size_t> others = all;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      add(others, "all-but-" + flags[i].name, "all", false);
    }
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = i + 1; j < count; ++j)
        add({i, j}, flags[i].name + "+" + flags[j].name, flags[i].name, suite_.most_pairs > 0);
    }
    if (suite_.most_pairs == 0)
      std::erase_if(suite_.variants, [](const Variant& v) { return v.only_if_pairs_matter; });
  }

  static void put_flag(const Variant& flag, Variant& variant) {
    const auto append = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    variant.flag_names.push_back(flag.name);
    variant.change +=
        (variant.change.empty() ? "" : "; ") + (flag.change.empty() ? flag.name : flag.change);
    append(variant.changes.patches, flag.changes.patches);
    append(variant.changes.files, flag.changes.files);
    append(variant.changes.macros, flag.changes.macros);
    append(variant.changes.flags, flag.changes.flags);
    append(variant.changes.environment, flag.changes.environment);
    append(variant.changes.values, flag.changes.values);
  }

  // What single tables do not show.
  void check_whole() {
    if (suite_.variants.empty()) {
      mistakes_.add(1, "the suite has no [[variant]] and no [[flag]]");
      return;
    }
    if (suite_.baseline.empty()) suite_.baseline = suite_.variants[0].name;
    std::vector<std::string> names;
    for (const Variant& variant : suite_.variants) names.push_back(variant.name);
    const auto check_name = [&](int line, const char* key, const std::string& name) {
      if (suite_.find(name) == nullptr)
        mistakes_.add(line,
                      fmt::format("{} '{}' is no variant{}", key, name, did_you_mean(name, names)));
    };
    check_name(1, "baseline", suite_.baseline);
    if (!suite_.check.reference_variant.empty())
      check_name(1, "reference_variant", suite_.check.reference_variant);
    std::set<std::string> before;
    for (Variant& variant : suite_.variants) {
      if (variant.name == suite_.baseline) variant.parent.clear();
      if (!variant.parent.empty()) {
        check_name(variant.line, "parent", variant.parent);
        if (suite_.find(variant.parent) != nullptr && !before.contains(variant.parent))
          mistakes_.add(variant.line, fmt::format("parent '{}' must come before '{}'",
                                                  variant.parent, variant.name));
      }
      before.insert(variant.name);
      if (suite_.run.empty() && variant.changes.run.empty())
        mistakes_.add(variant.line,
                      fmt::format("variant '{}' has no command to run: add [run]", variant.name));
    }
    const auto runs = static_cast<int64_t>(suite_.variants.size() * suite_.cases.size()) *
                      (suite_.repetitions + suite_.warmup);
    if (runs > kMostRuns)
      mistakes_.add(1, fmt::format("{} runs are asked for, at most {} are made", runs, kMostRuns));
  }

  const TomlDocument& document_;
  TomlMistakes mistakes_;
  Suite& suite_;
};

}  // namespace

const Variant* Suite::find(std::string_view name) const {
  const auto at = std::ranges::find(variants, name, &Variant::name);
  return at == variants.end() ? nullptr : &*at;
}

bool is_plain_name(std::string_view name) {
  constexpr std::string_view kAlso = ".+-";
  return !name.empty() && name.size() <= 60 && name[0] != '.' && name[0] != '-' &&
         std::ranges::all_of(name, [&](char c) {
           return is_word(std::string_view(&c, 1)) || (kAlso.find(c) != std::string_view::npos);
         });
}

bool stays_below(std::string_view path) {
  if (path.empty() || path[0] == '/' || path.find('\0') != std::string::npos) return false;
  while (!path.empty()) {
    const size_t end = path.find('/');
    if (path.substr(0, end) == "..") return false;
    path = end == std::string_view::npos ? std::string_view() : path.substr(end + 1);
  }
  return true;
}

Result<Suite> parse_suite(std::string_view text, const std::filesystem::path& file) {
  const TomlDocument document = TRY(TomlDocument::parse(text, file.string()));
  Suite suite;
  suite.file = file;
  suite.folder = file.has_parent_path() ? file.parent_path() : ".";
  TRY(SuiteReader(document, suite).read());
  return suite;
}

Result<Suite> read_suite(const std::filesystem::path& file) {
  const TomlDocument document = TRY(TomlDocument::read(file));
  Suite suite;
  suite.file = file;
  suite.folder = file.has_parent_path() ? file.parent_path() : ".";
  TRY(SuiteReader(document, suite).read());
  return suite;
}

}  // namespace fathom::ablate
