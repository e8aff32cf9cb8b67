// suite.toml: what is read, what is refused, and which commands it becomes.
#include "plan/ablate/suite.h"

#include <cmath>
#include <string>

#include "checks.h"
#include "plan/ablate/commands.h"
#include "plan/ablate/correctness.h"
#include "plan/ablate/line_diff.h"
#include "test_files.h"

namespace fathom::ablate {
namespace {

constexpr const char* kSmall = R"(
title = "small"
[build]
command = ["cc", "{macros}", "{flags}", "a.c", "-o", "{tree}/a"]
[run]
command = ["./a", "{size}"]
repetitions = 3
[[case]]
name = "large"
values = { size = 10 }
[[variant]]
name = "v0"
[[variant]]
name = "v1"
macros = { FAST = 1, PLAIN = "" }
flags = ["-O3", "-a b"]
environment = { MODE = "x y" }
)";

std::string mistakes_of(const std::string& text) {
  const Result<Suite> suite = parse_suite(text, "s.toml");
  return suite.ok() ? std::string() : suite.error().message;
}

Suite small_suite(const std::string& more = "") {
  Result<Suite> suite = parse_suite(std::string(kSmall) + more, "s.toml");
  EXPECT_TRUE(suite.ok()) << suite.error().message;
  return suite.ok() ? suite.take() : Suite{};
}

TEST(AblateSuite, VariantsBecomeCommands) {
  const Suite suite = small_suite();
  EXPECT_EQ(suite.baseline, "v0");
  EXPECT_EQ(suite.variants[1].parent, "v0");
  const Result<SuitePlan> plan = plan_suite(suite, {"/out/trees", "/suite", ""}, {});
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  ASSERT_EQ(plan.value().builds.size(), 2u);
  EXPECT_EQ(shell_text(plan.value().builds[0].build.words), "cc a.c -o /out/trees/v0/a");
  EXPECT_EQ(shell_text(plan.value().builds[1].build.words),
            "cc -DFAST=1 -DPLAIN -O3 '-a b' a.c -o /out/trees/v1/a");
  EXPECT_EQ(shell_text(plan.value().variants[1].runs[0].words), "./a 10");
  ASSERT_EQ(plan.value().variants[1].runs[0].environment.size(), 1u);
  EXPECT_EQ(plan.value().variants[1].runs[0].environment[0].second, "x y");
}

TEST(AblateSuite, EqualBuildsAreSharedAndKeysDoNotDependOnFolders) {
  const std::string more = "[[variant]]\nname = \"v2\"\nvalues = { size = 20 }\n";
  const Suite suite = small_suite(more);
  const SuitePlan a = plan_suite(suite, {"/a", "/s", ""}, {}).take();
  const SuitePlan b = plan_suite(suite, {"/other/place", "/t", ""}, {}).take();
  EXPECT_EQ(a.variants[2].build, a.variants[0].build);
  EXPECT_EQ(a.variants[2].build_key, a.variants[0].build_key);
  EXPECT_NE(a.variants[2].run_keys[0], a.variants[0].run_keys[0]);
  EXPECT_EQ(a.variants[1].build_key, b.variants[1].build_key);
  EXPECT_EQ(a.variants[1].run_keys, b.variants[1].run_keys);
  // A patch of another content is another build, though its name is the same.
  const SuitePlan c = plan_suite(suite, {"/a", "/s", ""}, {1, 2, 3}).take();
  EXPECT_NE(c.variants[2].build, c.variants[0].build);
}

TEST(AblateSuite, AnUnknownPlaceholderIsRefusedAndOtherBracesStay) {
  Suite suite = small_suite();
  suite.run.words = {"./a", "{siez}"};
  const Result<SuitePlan> plan = plan_suite(suite, {"/a", "/s", ""}, {});
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().message.find("did you mean 'size'"), std::string::npos)
      << plan.error().message;
  suite.run.words = {"./a", "{\"size\": {}}", "${x", "$(rm -rf /)"};
  const Result<SuitePlan> kept = plan_suite(suite, {"/a", "/s", ""}, {});
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_EQ(kept.value().variants[0].runs[0].words[1], "{\"size\": {}}");
  EXPECT_EQ(kept.value().variants[0].runs[0].words[3], "$(rm -rf /)");
  EXPECT_EQ(shell_text({"a'b\n", "$(x)", ""}), "'a'\\''b\n' '$(x)' ''");
}

TEST(AblateSuite, MistakesHaveLinesAndReasons) {
  const struct {
    const char *text, *wanted;
  } cases[] = {
      {"title = 3\n", "s.toml:1"},
      {"title = \"x\"\nrunn = 1\n", "run"},
      {"title = \"x\"\n", "no [[variant]]"},
      {"title = \"x\"\n[run]\ncommand = \"a b\"\n[[variant]]\nname = \"v\"\n", "shell = true"},
      {"title = \"x\"\n[run]\ncommand = [\"a\"]\n[[variant]]\nname = \"../v\"\n", "s.toml:5"},
      {"title = \"x\"\n[run]\ncommand = [\"a\"]\n[[variant]]\nname = \"v\"\npatch = \"../p\"\n",
       "below the suite"},
      {"title = \"x\"\n[run]\ncommand = [\"a\"]\n[[variant]]\nname = \"v\"\nfiles = { \"/etc/x\" = "
       "\"a\" }\n",
       "without '..'"},
      {"title = \"x\"\n[run]\ncommand = [\"a\"]\n[[variant]]\nname = \"v\"\ncommit = "
       "\"--upload-pack=x\"\n",
       "not a commit name"},
      {"title = \"x\"\n[run]\ncommand = [\"a\"]\nfolder = \"../..\"\n[[variant]]\nname = \"v\"\n",
       "below the tree"},
      {"title = \"x\"\n[run]\ncommand = [\"a\"]\nrepetitions = 1000000\n[[variant]]\nname = "
       "\"v\"\n",
       "repetitions"},
      {"title = \"x\"\n[run]\ncommand = [\"a\"]\ntimeout = \"1 year\"\n[[variant]]\nname = \"v\"\n",
       "timeout"},
      {"title = \"x\"\n[run]\ncommand = [\"a\"]\n[[variant]]\nname = \"v\"\n[[variant]]\nname = "
       "\"v\"\n",
       "second variant"},
      {"title = \"x\"\n[run]\ncommand = [\"a\"]\n[[variant]]\nname = \"v\"\nparent = \"w\"\n"
       "[[variant]]\nname = \"w\"\nparent = \"x\"\n",
       "is not a variant"},
      {"title = \"x\"\n[run]\ncommand = [\"a\"]\n[[variant]]\nname = \"v\"\nexpects = { "
       "bank_conflict "
       "= \"down\" }\n",
       "not a kernel value"},
      {"title = \"x\"\nplatform = \"h2000x\"\n[run]\ncommand = [\"a\"]\n[[variant]]\nname = "
       "\"v\"\n",
       "s.toml:2"},
  };
  for (const auto& one : cases)
    EXPECT_NE(mistakes_of(one.text).find(one.wanted), std::string::npos)
        << one.text << "\n→ " << mistakes_of(one.text);
  EXPECT_EQ(mistakes_of(kSmall), "");
}

TEST(AblateSuite, EnormousSuitesAreRefused) {
  std::string many = "title = \"x\"\n[run]\ncommand = [\"a\"]\nrepetitions = 1000\n";
  for (int i = 0; i < 150; ++i) many += "[[variant]]\nname = \"v" + std::to_string(i) + "\"\n";
  EXPECT_NE(mistakes_of(many).find("runs are requested"), std::string::npos) << mistakes_of(many);
  for (int i = 150; i < 300; ++i) many += "[[variant]]\nname = \"v" + std::to_string(i) + "\"\n";
  EXPECT_NE(mistakes_of(many).find("over 200 variants"), std::string::npos);
}

TEST(AblateSuite, FlagsBecomeCombinations) {
  const std::string text = R"(
title = "flags"
max_pairs = 2
[run]
command = ["./a", "{flags}"]
[[flag]]
name = "a"
flags = "-a"
[[flag]]
name = "b"
flags = "-b"
[[flag]]
name = "c"
flags = "-c"
)";
  const Result<Suite> suite = parse_suite(text, "f.toml");
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  std::string names;
  size_t pairs = 0;
  for (const Variant& variant : suite.value().variants) {
    names += variant.name + " ";
    pairs += variant.only_if_pairs_matter ? 1 : 0;
  }
  // Of three flags, all but one is a pair already.
  EXPECT_EQ(names, "none a b c all all-but-a all-but-b all-but-c ");
  EXPECT_EQ(pairs, 0u);
  const SuitePlan plan = plan_suite(suite.value(), {"/t", "/s", ""}, {}).take();
  EXPECT_EQ(shell_text(plan.variants[4].runs[0].words), "./a -a -b -c");
  const std::string four = text + "[[flag]]\nname = \"d\"\nflags = \"-d\"\n";
  const Result<Suite> larger = parse_suite(four, "f.toml");
  ASSERT_TRUE(larger.ok());
  EXPECT_EQ(larger.value().variants.size(), 1u + 4 + 1 + 4 + 6);
  EXPECT_TRUE(larger.value().variants.back().only_if_pairs_matter);
}

TEST(AblateSuite, ShippedSuitesAreRight) {
  for (const char* file : {"kernels/flash_attention/suite.toml", "kernels/rows/suite.toml",
                           "examples/ablate-cpu/suite.toml", "examples/ablate-cpu/flags.toml"}) {
    const Result<Suite> suite = read_suite(test::source_dir() / file);
    ASSERT_TRUE(suite.ok()) << suite.error().message;
    const Result<SuitePlan> plan = plan_suite(suite.value(), {"/t", "/s", ""}, {});
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    // The files that diffs are made of are there.
    for (const Variant& variant : suite.value().variants) {
      for (const std::string& source : variant.sources)
        EXPECT_TRUE(std::filesystem::exists(suite.value().folder / suite.value().source / source))
            << source;
    }
  }
}

TEST(AblateCorrectness, NumbersAreWordsOfTheirOwn) {
  using Numbers = std::vector<double>;
  EXPECT_EQ(numbers_in("x = 3, y=-2.5e3 v3 3x (4) [5,6]\n7"), (Numbers{3, -2500, 4, 5, 6, 7}));
  EXPECT_EQ(numbers_in("+1 1e999"), (Numbers{1, HUGE_VAL}));
  EXPECT_TRUE(numbers_in("").empty());
  EXPECT_TRUE(std::isnan(numbers_in("nan").at(0)));
}

TEST(AblateCorrectness, TolerancesAndWhatIsNoNumber) {
  Check check;
  check.relative = 1e-3;
  EXPECT_TRUE(compare_output("1000.5 2", "1000 2", check).right);
  EXPECT_FALSE(compare_output("1002 2", "1000 2", check).right);
  EXPECT_FALSE(compare_output("nan 2", "1000 2", check).right);
  EXPECT_TRUE(compare_output("nan 2", "nan 2", check).right);
  EXPECT_FALSE(compare_output("inf 2", "1 2", check).right);
  EXPECT_FALSE(compare_output("1", "inf", check).right);
  EXPECT_FALSE(compare_output("1", "1 2", check).right) << "a value is missing";
  EXPECT_FALSE(compare_output("", "", check).right) << "nothing proves nothing";
  check.norm = 1e-2;
  EXPECT_TRUE(compare_output("100 0.5", "100 0", check).right);
  EXPECT_FALSE(compare_output("100 5", "100 0", check).right);
  EXPECT_FALSE(compare_output("100 nan", "100 0", check).right);
  check.norm.reset();
  check.format = OutputFormat::kBytes;
  EXPECT_TRUE(compare_output("ab", "ab", check).right);
  EXPECT_FALSE(compare_output("abc", "ab", check).right);
  check.format = OutputFormat::kFloat32;
  EXPECT_FALSE(compare_output("abc", "abcd", check).right);
}

TEST(AblateDiff, ShowsChangedLinesWithContextAndBounds) {
  EXPECT_EQ(line_diff("a\nb\n", "a\nb\n", 10), "");
  EXPECT_EQ(line_diff("a\nb\nc\n", "a\nx\nc\n", 10), " a\n-b\n+x\n c\n");
  const std::string diff =
      line_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\n6\n7\n8\nx\n", 10);
  EXPECT_EQ(diff, " 6\n 7\n 8\n-9\n+x\n");
  EXPECT_EQ(line_diff("", "a\nb\nc\n", 2), "+a\n+b\n… 1 more line\n");
  // Nothing in common, and much of it: linear.
  std::string a, b;
  for (int i = 0; i < 20000; ++i)
    a += "a" + std::to_string(i) + "\n", b += "b" + std::to_string(i) + "\n";
  EXPECT_LT(line_diff(a, b, 50).size(), 2000u);
}

}  // namespace
}  // namespace fathom::ablate
