#include "plan/plan_file.h"

#include "checks.h"
#include "session/code/plan.h"

namespace fathom {
namespace {

constexpr const char* kGoodPlan = R"(format = 1
project = "x"

[[experiment]]
id = "E1"
kind = "smoke"
command = ["python", "a.py"]
record = ["--torch", "--probe", "a.b:C.d", "--counters=memory"]
repetitions = 3

[[experiment.configuration]]
name = "n=1"
arguments = ["--n", "1"]
settings = { n = "1" }

[[experiment.expected]]
metric = "wall_time"
configuration = "n=1"
unit = "s"
low = 1
high = 2.5
)";

std::vector<std::string> mistakes_of(const std::string& text) {
  return read_plan(text, "plan.toml", record_value_mistake).mistakes;
}

std::string edited(const std::string& from, const std::string& to) {
  std::string text = kGoodPlan;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(PlanFile, AGoodPlanHasNoMistakes) {
  const PlanCheck read = read_plan(kGoodPlan, "plan.toml", record_value_mistake);
  EXPECT_TRUE(read.mistakes.empty()) << read.mistakes[0];
  ASSERT_EQ(read.plan.experiments.size(), 1u);
  const Experiment& one = read.plan.experiments[0];
  EXPECT_EQ(runs_of(one), 3);
  EXPECT_EQ(shell_line(profiling_command(one, &one.configurations[0], "E1.capture")),
            "fathom record --out E1.capture --torch --probe a.b:C.d --counters=memory -- python "
            "a.py --n 1");
}

TEST(PlanFile, MistakesHaveTheirLineAndAReason) {
  const struct {
    std::string from, to, mistake;
  } cases[] = {
      {"kind = \"smoke\"", "kind = \"smok\"", "plan.toml:6: experiment E1: kind is 'smok'"},
      {"repetitions = 3", "repetition = 3",
       "plan.toml:9: experiment E1: there is no key 'repetition' here; did you mean "
       "'repetitions'?"},
      {"repetitions = 3", "repetitions = 0",
       "plan.toml:9: experiment E1: repetitions is 0; 1 to 10000 is allowed"},
      {"repetitions = 3", "repetitions = \"3\"",
       "plan.toml:9: experiment E1: repetitions is a text"},
      {"\"--torch\"", "\"--torhc\"",
       "plan.toml:8: experiment E1: record: '--torhc' is not a fathom record option"},
      {"\"a.b:C.d\"", "\"a.b\"",
       "plan.toml:8: experiment E1: record: --probe a.b: expected MODULE:FUNCTION"},
      {"memory", "memroy",
       "plan.toml:8: experiment E1: record: --counters memroy: is not a counter set"},
      {", \"--counters=memory\"", ", \"--probe\"",
       "plan.toml:8: experiment E1: record: --probe needs a value"},
      {"[\"python\", \"a.py\"]", "[]", "plan.toml:7: experiment E1: command is empty"},
      {"[\"python\", \"a.py\"]", "\"python a.py\"",
       "plan.toml:7: experiment E1: command is a text; a list of texts is wanted"},
      {"\"a.py\"", "\"<MODEL>\"", "plan.toml:7: experiment E1: <MODEL> is to be filled in"},
      {"low = 1", "low = 3", "low is above high"},
      {"unit = \"s\"", "unit = \"ms\"", "wall_time is measured in s"},
      {"\"wall_time\"", "\"wal_time\"",
       "plan.toml:17: experiment E1: expected: 'wal_time' is not a known metric; did you "
       "mean 'wall_time'?"},
      {"configuration = \"n=1\"", "configuration = \"n=2\"", "E1 has no configuration 'n=2'"},
      {"id = \"E1\"", "id = \"../E1\"", "plan.toml:5: "},
      {"format = 1", "format = 2", "plan.toml:1: plan: format 2 is newer"},
      {"format = 1\n", "", "format is missing"},
      {"low = 1", "low = ", "plan.toml:20: "},
  };
  for (const auto& one : cases) {
    const std::vector<std::string> found = mistakes_of(edited(one.from, one.to));
    ASSERT_FALSE(found.empty()) << one.to;
    EXPECT_NE(found[0].find(one.mistake), std::string::npos) << one.to << ": " << found[0];
  }
}

TEST(PlanFile, SweepsAreBounded) {
  std::string many = "format = 1\n";
  for (int i = 0; i < 101; ++i)
    many += "[[experiment]]\nid = \"E" + std::to_string(i) + "\"\ncommand = [\"x\"]\n";
  EXPECT_NE(mistakes_of(many).back().find("over 100 experiments"), std::string::npos);
  std::string runs =
      "format = 1\n[[experiment]]\nid = \"E1\"\ncommand = [\"x\"]\nrepetitions = 10000\n";
  for (int i = 0; i < 201; ++i)
    runs += "[[experiment.configuration]]\nname = \"" + std::to_string(i) + "\"\n";
  bool configurations = false, total = false;
  for (const std::string& mistake : mistakes_of(runs)) {
    configurations = configurations || mistake.find("over 200 configurations") != std::string::npos;
    total = total || mistake.find("over 20000 runs") != std::string::npos;
  }
  EXPECT_TRUE(configurations && total);
}

TEST(PlanFile, CaptureNamesAreFileNames) {
  Experiment one;
  one.id = "E1";
  Configuration configuration{"../../etc/passwd \n$(x)", {}, {}, {}};
  EXPECT_EQ(capture_name(one, &configuration), "E1-.._.._etc_passwd____x_.capture");
}

TEST(PlanFile, ShellLinesQuoteWhatAShellWouldRead) {
  EXPECT_EQ(shell_line({"a b", "", "it's", "$x", "p=1", "a\nb"}),
            "'a b' '' 'it'\\''s' '$x' p=1 $'a\\x0ab'");
}

}  // namespace
}  // namespace fathom
