#include <fmt/format.h>

#include <set>

#include "base/closest_names.h"
#include "base/toml_document.h"
#include "plan/ablate/suite.h"
#include "plan/ablate/suite_parts.h"
#include "plan/ablate/suite_variants.h"
#include "platform/platform.h"

namespace fathom::ablate {
namespace {

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
    suite_.build =
        read_command_table(root.table("build"), "[build]", mistakes_, &suite_.build_jobs);
    read_run(root);
    read_check(root.table("check"));
    read_timing(root.table("time"));
    read_counters(root.table("counters"));
    suite_.work = read_work(root.table("work"), mistakes_);
    read_cases(root);
    read_variants(root, mistakes_, suite_);
    read_flags(root, mistakes_, suite_);
    root.finish();
    if (mistakes_.empty()) check_whole();
    if (!mistakes_.empty()) return mistakes_.error();
    return Nothing{};
  }

 private:
  void read_tree(const TomlValue* table) {
    suite_.source = ".";
    if (table == nullptr) return;
    TomlReader tree(*table, "[tree]", mistakes_);
    suite_.source = tree.text("source").value_or(".");
    suite_.most_source_mb = static_cast<uint64_t>(tree.integer("max_mb", 1, 1 << 20).value_or(256));
    tree.finish();
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

  void read_cases(TomlReader& root) {
    std::set<std::string> names;
    for (const TomlValue* table : root.tables("case")) {
      TomlReader reader(*table, "[[case]]", mistakes_);
      Case c;
      c.name = reader.need_text("name");
      c.values = read_values(reader);
      c.work = read_work(reader.table("work"), mistakes_);
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
        mistakes_.add(
            line, fmt::format("{} '{}' is not a variant{}", key, name, did_you_mean(name, names)));
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
      mistakes_.add(1,
                    fmt::format("{} runs are requested, at most {} are allowed", runs, kMostRuns));
  }

  const TomlDocument& document_;
  TomlMistakes mistakes_;
  Suite& suite_;
};

Result<Suite> suite_of(const TomlDocument& document, const std::filesystem::path& file) {
  Suite suite;
  suite.file = file;
  suite.folder = file.has_parent_path() ? file.parent_path() : ".";
  TRY(SuiteReader(document, suite).read());
  return suite;
}

}  // namespace

Result<Suite> parse_suite(std::string_view text, const std::filesystem::path& file) {
  return suite_of(TRY(TomlDocument::parse(text, file.string())), file);
}

Result<Suite> read_suite(const std::filesystem::path& file) {
  return suite_of(TRY(TomlDocument::read(file)), file);
}

}  // namespace fathom::ablate
