#include <algorithm>

#include "base/glob.h"
#include "base/tsv.h"
#include "checks.h"
#include "doctor/environment.h"
#include "doctor/examine.h"
#include "doctor/fake_machine.h"
#include "plan/plan_file.h"
#include "plan/plan_metrics.h"
#include "plan/plan_text.h"
#include "plan/program.h"
#include "session/code/plan.h"
#include "test_files.h"

namespace fathom {
namespace {

// "--command 'a b' --param x=1" as a request says it.
void put_options(const std::string& text, PlanRequest& request) {
  const Result<SplitCommand> words = split_command(text.empty() ? "x" : text);
  ASSERT_TRUE(words.ok()) << text;
  for (size_t i = 0; i + 1 < words.value().words.size(); ++i) {
    const std::string &name = words.value().words[i], &value = words.value().words[i + 1];
    if (name == "--command") request.command = value;
    if (name == "--param") request.parameters.push_back(value);
  }
}

// "serving", a folder of this project, or "serving+with_client": one with the files of another put
// over it, in `made`.
std::string repository_at(const std::string& name, const std::filesystem::path& made) {
  const std::filesystem::path root = test::source_dir(), own = root / "tests/plan/repositories";
  const size_t plus = name.find('+');
  if (plus == std::string::npos)
    return (std::filesystem::exists(own / name) ? own / name : root / name).string();
  constexpr auto kOver =
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing;
  std::filesystem::copy(own / name.substr(0, plus), made, kOver);
  std::filesystem::copy(own / name.substr(plus + 1), made, kOver);
  return made.string();
}

Result<Plan> planned(const std::string& goal, const std::string& repository,
                     const std::string& platform = "", const std::string& options = "") {
  const test::TemporaryDirectory made;
  PlanRequest request;
  request.goal = goal;
  request.repository = repository_at(repository, made.path());
  request.named = repository;
  request.platform = platform;
  put_options(options, request);
  return plan_experiments(request);
}

// With ~ for any text of a line.
bool holds(const std::string& text, const std::string& part) {
  if (part.find('~') == std::string::npos) return text.find(part) != std::string::npos;
  std::string pattern = "*" + part + "*";
  std::ranges::replace(pattern, '~', '*');
  for (const std::string_view line : split(text, '\n')) {
    if (glob_matches(pattern, line)) return true;
  }
  return false;
}

std::vector<std::string> parts_of(const std::string& cell) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin < cell.size();) {
    const size_t end = std::min(cell.find(" & ", begin), cell.size());
    out.push_back(cell.substr(begin, end - begin));
    begin = end + 3;
  }
  return out;
}

// Every row of a plan has a reason and says how it is got; every experiment can be run.
void expect_sound(const Plan& plan, const std::string& goal) {
  for (const Requirement& row : plan.requirements) {
    EXPECT_FALSE(row.why.empty() || row.how.empty()) << goal << ": " << row.title;
    EXPECT_NE(find_plan_metric(row.metric), nullptr) << goal << ": " << row.metric;
  }
  ASSERT_FALSE(plan.experiments.empty()) << goal;
  EXPECT_EQ(plan.experiments[0].kind, ExperimentKind::kSmoke) << goal;
  for (const Experiment& one : plan.experiments) {
    EXPECT_FALSE(one.purpose.empty() || one.hypothesis.empty() || one.command.empty()) << goal;
    EXPECT_FALSE(one.expected.empty()) << goal << ": " << one.id;
    // An interval of the median needs six runs.
    for (const Criterion& criterion : one.success)
      EXPECT_TRUE(criterion.kind != CriterionKind::kSpread || one.repetitions >= 6) << goal;
    for (const ExpectedObservation& expected : one.expected)
      EXPECT_FALSE(expected.source.empty()) << goal << ": " << expected.metric;
  }
  double planned_seconds = 0;
  for (const Experiment& one : plan.experiments) planned_seconds += seconds_of(one);
  EXPECT_TRUE(!plan.budget || planned_seconds <= *plan.budget) << goal << ": " << planned_seconds;
  // Rows of a table follow each other, and no code has spaces at its end.
  const std::string page = plan_markdown(plan);
  EXPECT_EQ(page.find(" |\n\n| "), std::string::npos) << goal;
  EXPECT_EQ(page.find("  `"), std::string::npos) << goal;
  EXPECT_FALSE(plan.goal.interpreted.empty()) << goal;
  EXPECT_FALSE(plan.analysis.empty() || plan.success.empty()) << goal;
}

// What is written is read back as the same plan; only what a person has to fill in is a mistake.
void expect_round_trip(const Plan& plan, const std::string& goal) {
  const std::string text = plan_toml(plan);
  const PlanCheck read = read_plan(text, "plan.toml", record_value_mistake);
  const bool to_fill_in = text.find("\"<") != std::string::npos;
  for (const std::string& mistake : read.mistakes)
    EXPECT_TRUE(to_fill_in && mistake.find("filled in") != std::string::npos)
        << goal << ": " << mistake;
  EXPECT_TRUE(read.plan == plan) << goal << "\n" << text;
  EXPECT_EQ(plan_toml(read.plan), text) << goal;
}

TEST(PlanGoals, PlansHaveWhatTheGoalNeedsAndNotMore) {
  size_t goals = 0;
  for (const test::DataRow& row :
       test::read_data_rows(test::source_dir() / "tests/plan/goals.tsv")) {
    if (row.cells[0] == "goal") continue;
    const auto cell = [&](size_t i) { return i < row.cells.size() ? row.cells[i] : std::string(); };
    const Result<Plan> plan = planned(cell(0), cell(1), cell(2), cell(3));
    ASSERT_TRUE(plan.ok()) << cell(0) << ": " << plan.error().message;
    const std::string text = plan_markdown(plan.value()) + plan_toml(plan.value());
    for (const std::string& part : parts_of(cell(4)))
      EXPECT_TRUE(holds(text, part))
          << "line " << row.line << ", " << cell(0) << ": no '" << part << "'";
    for (const std::string& part : parts_of(cell(5)))
      EXPECT_FALSE(holds(text, part))
          << "line " << row.line << ", " << cell(0) << ": has '" << part << "'";
    expect_sound(plan.value(), cell(0));
    expect_round_trip(plan.value(), cell(0));
    ++goals;
  }
  EXPECT_GE(goals, 25u);
}

TEST(PlanGoals, TheSameInputGivesTheSamePlan) {
  const Result<Plan> first = planned("Understand the performance", "serving", "h200");
  const Result<Plan> second = planned("Understand the performance", "serving", "h200");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_TRUE(first.value() == second.value());
}

// What the doctor tells of a GPU takes several lines, of which only the first has a label.
TEST(PlanGoals, APlanMadeBesideAGpuCanBeRun) {
  test::FakeMachine fake;
  PlanRequest request;
  request.goal = "Understand the performance";
  request.repository = (test::source_dir() / "tests/plan/repositories/serving").string();
  request.machine = examine(fake.with_h200().set("CUDA_VISIBLE_DEVICES", "0,1").machine());
  const Result<Plan> plan = plan_experiments(request);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan.value().environment.platform, "H200");
  bool has_clock = false;
  for (const EnvironmentRow& row : plan.value().environment.rows) {
    EXPECT_FALSE(row.what.empty()) << row.value;
    has_clock |= row.what == "GPU 0" && row.value.find("clock") != std::string::npos;
  }
  EXPECT_TRUE(has_clock);
  expect_round_trip(plan.value(), request.goal);
}

TEST(PlanGoals, ABudgetKeepsTheMostValuableExperiments) {
  const std::filesystem::path root = test::source_dir() / "tests/plan/repositories/serving";
  PlanRequest request;
  request.goal = "Understand the performance";
  request.repository = root.string();
  request.platform = "h200";
  const Result<Plan> all = plan_experiments(request);
  request.budget = 200;
  const Result<Plan> some = plan_experiments(request);
  ASSERT_TRUE(all.ok() && some.ok());
  EXPECT_LT(some.value().experiments.size(), all.value().experiments.size());
  EXPECT_FALSE(some.value().left_out.empty());
  EXPECT_EQ(some.value().experiments[0].kind, ExperimentKind::kSmoke);
  EXPECT_EQ(some.value().experiments[1].kind, ExperimentKind::kBaseline);
}

TEST(PlanGoals, NoBudgetIsExceeded) {
  PlanRequest request;
  request.goal = "Understand the performance";
  request.repository = (test::source_dir() / "tests/plan/repositories/serving").string();
  request.platform = "h200";
  for (const double budget : {1.0, 9.0, 30.0, 61.0, 120.0, 333.0, 600.0, 2000.0, 1e5}) {
    request.budget = budget;
    const Result<Plan> plan = plan_experiments(request);
    ASSERT_TRUE(plan.ok());
    expect_sound(plan.value(), std::to_string(budget));
  }
}

// Whether a text stands outside of code spans, which are inert.
bool is_active(const std::string& markdown, std::string_view text) {
  for (size_t at = 0; (at = markdown.find(text, at)) != std::string::npos; ++at) {
    const size_t line = markdown.rfind('\n', at);
    if (text[0] == '\n' || markdown.substr(line + 1, at - line - 1).find('`') == std::string::npos)
      return true;
  }
  return false;
}

TEST(PlanGoals, HostileGoalsBecomeText) {
  std::string long_goal;
  while (long_goal.size() < 1u << 20) long_goal += "attention --page-size \"x\" $(rm -rf /) ";
  const std::string goals[] = {
      "```\n# Heading\n[[experiment]]\nid = \"E9\"\ncommand = [\"sh\"]\n```",
      "\"\"\" ''' \\ \x1b[31m \x01 \xff\xfe <script>alert(1)</script> | a | b |",
      "a ![x](http://x.y/z) [link](javascript:x) @someone #1 <!-- -->",
      std::string("zero \0 byte", 11),
      "…\xe2\x80\xae reversed",
      long_goal};
  for (const std::string& goal : goals) {
    const Result<Plan> plan = planned(goal, "serving", "h200");
    ASSERT_TRUE(plan.ok());
    expect_round_trip(plan.value(), goal.substr(0, 40));
    const std::string markdown = plan_markdown(plan.value());
    for (const char* active :
         {"<script", "\n# Heading", "\x1b", "](http", "](javascript", "\x01", "<!--"})
      EXPECT_FALSE(is_active(markdown, active)) << active;
    for (const Experiment& one : plan.value().experiments) EXPECT_NE(one.id, "E9");
    EXPECT_LT(markdown.size(), 200'000u);
  }
}

TEST(PlanGoals, AHostileRepositoryBecomesText) {
  test::TemporaryDirectory folder;
  const std::filesystem::path root = folder.path() / "evil";
  test::write_file(
      root / "train.py",
      "import argparse\nimport torch\nparser = argparse.ArgumentParser()\n"
      "parser.add_argument('--batch-size', type=int, default=8, help='`x`\\n## H\\n<b>|')\n"
      "parser.add_argument('--$(touch x)', choices=['$(a)', '`b`'])\n"
      "print(f'throughput: {1.5:.2f}\\n\"; rm -rf /')\n"
      "if __name__ == '__main__':\n    pass\n");
  test::write_file(root / "README.md", "```\npython train.py --batch-size 8 ; rm -rf /\n```\n");
  PlanRequest request;
  request.goal = "compare $(a) and `b` with batch-size";
  request.repository = root.string();
  const Result<Plan> plan = plan_experiments(request);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  expect_round_trip(plan.value(), "hostile repository");
  for (const Experiment& one : plan.value().experiments) {
    EXPECT_FALSE(one.shell);
    EXPECT_EQ(std::ranges::find(one.command, "rm"), one.command.end());
  }
  const std::string markdown = plan_markdown(plan.value());
  EXPECT_EQ(markdown.find("\n## H"), std::string::npos);
  EXPECT_FALSE(is_active(markdown, "<b>"));
}

TEST(PlanCommands, AreSplitAsAShellWould) {
  const Result<SplitCommand> split =
      split_command("A=1 python 'serve x.py' --name \"a \\\"b\\\"\" c\\ d --k=v");
  ASSERT_TRUE(split.ok());
  EXPECT_EQ(split.value().words, (std::vector<std::string>{"python", "serve x.py", "--name",
                                                           "a \"b\"", "c d", "--k=v"}));
  EXPECT_EQ(split.value().variables, (Variables{{"A", "1"}}));
  for (const char* shell :
       {"a | b", "a && b", "a > f", "a $(b)", "a `b`", "a; b", "\"$x\"", "a 'b", "", "A=1"})
    EXPECT_FALSE(split_command(shell).ok()) << shell;
}

TEST(PlanCommands, RecordHasTheOptionsThatPlansUse) {
  const test::CommandResult help =
      test::run_command("'" + test::fathom_binary() + "' record --help", "/tmp");
  for (const std::string& option : record_option_names())
    EXPECT_NE(help.output.find("  " + option + " "), std::string::npos) << option;
}

TEST(PlanLogs, NumbersThatAreNamedBecomePatterns) {
  const auto python = python_log_lines(
      "logger.info(f'#running-req: {n:d}, cache hit rate: {rate:.2f}')\n"
      "print('throughput: %.1f tok/s' % x)\n"
      "print(f'{x:.1f} tokens/s')\n"
      "logger.error(f'cache hit rate: {rate:.2f}')\n"
      "print(f'loading {name}')\n");
  std::vector<std::string> patterns;
  for (const LogLine& line : python) patterns.push_back(line.pattern);
  EXPECT_EQ(patterns, (std::vector<std::string>{"#running-req: {int}", "cache hit rate: {float}",
                                                "throughput: {float}", "{float} tokens/s"}));
  const auto cpp =
      cpp_log_lines("int x;\nprintf(\"step time: %6.2f ms\\n\", t);\nf(\"step time: %f\");\n");
  ASSERT_EQ(cpp.size(), 1u);
  EXPECT_EQ(cpp[0].pattern, "step time: {float}");
  EXPECT_EQ(cpp[0].at.line, 2u);
}

TEST(PlanMetrics, EveryMetricOfAFeatureHasAUnitAndAChipItsCounters) {
  for (const PlanMetric& metric : plan_metrics()) {
    EXPECT_FALSE(metric.title.empty() || metric.unit.empty() ||
                 (metric.how.empty() && metric.amd_how.empty()))
        << metric.id;
  }
  const PlanMetric* gmma = find_plan_metric("stall_gmma");
  ASSERT_NE(gmma, nullptr);
  EXPECT_TRUE(counters_on(*gmma, "GH100").exists());
  EXPECT_FALSE(counters_on(*gmma, "GB100").exists());
  EXPECT_EQ(counters_on(*find_plan_metric("dram_bytes"), "GB202").names[0],
            "dram__bytes_op_read.sum");
  EXPECT_EQ(counters_on(*find_plan_metric("sm_throughput"), "GH100").passes, 8);
  EXPECT_EQ(counters_on(*find_plan_metric("bank_conflicts"), "GH100").set, "memory");
  EXPECT_EQ(set_passes("GH100", "full")->replay, 23);
}

}  // namespace
}  // namespace fathom
