#include "scan/files/ignore_rules.h"

#include <random>

#include "checks.h"

namespace fathom {
namespace {

bool ignores(std::string_view rules, std::string_view path, bool is_folder = false) {
  return IgnoreRules(rules).ignores(path, is_folder).value_or(false);
}

TEST(IgnoreRules, NamesMatchAtAnyDepth) {
  EXPECT_TRUE(ignores("*.o\n", "a.o"));
  EXPECT_TRUE(ignores("*.o\n", "deep/in/a.o"));
  EXPECT_TRUE(ignores("build", "src/build", true));
  EXPECT_FALSE(ignores("build", "src/builder"));
}

TEST(IgnoreRules, ASlashAnchors) {
  EXPECT_TRUE(ignores("/top.txt", "top.txt"));
  EXPECT_FALSE(ignores("/top.txt", "in/top.txt"));
  EXPECT_TRUE(ignores("doc/*.txt", "doc/a.txt"));
  EXPECT_FALSE(ignores("doc/*.txt", "doc/in/a.txt"));
  EXPECT_FALSE(ignores("doc/*.txt", "x/doc/a.txt"));
}

TEST(IgnoreRules, ASlashAtTheEndMeansFolders) {
  EXPECT_TRUE(ignores("logs/", "logs", true));
  EXPECT_TRUE(ignores("logs/", "in/logs", true));
  EXPECT_FALSE(ignores("logs/", "logs", false));
}

TEST(IgnoreRules, TheLastPatternDecides) {
  EXPECT_FALSE(ignores("*.cu\n!keep.cu\n", "keep.cu"));
  EXPECT_TRUE(ignores("!keep.cu\n*.cu\n", "keep.cu"));
  EXPECT_FALSE(IgnoreRules("*.cu").ignores("a.py", false).has_value());
  EXPECT_EQ(IgnoreRules("!a").ignores("a", false), std::optional(false));
}

TEST(IgnoreRules, DoubleStars) {
  EXPECT_TRUE(ignores("**/gen", "gen"));
  EXPECT_TRUE(ignores("**/gen", "a/b/gen"));
  EXPECT_TRUE(ignores("gen/**", "gen/a/b"));
  EXPECT_FALSE(ignores("gen/**", "gen", true));
  EXPECT_TRUE(ignores("a/**/b", "a/b"));
  EXPECT_TRUE(ignores("a/**/b", "a/x/y/b"));
  EXPECT_FALSE(ignores("a/**/b", "a/xb"));
  EXPECT_FALSE(ignores("?**/b", "a/x/b"));  // no folder of its own: one *
  EXPECT_TRUE(ignores("a**/b", "a/x/b"));   // but the first wildcard is matched alone, as git does
  EXPECT_TRUE(ignores("benchmarks/**/*.json", "benchmarks/a.json"));
  EXPECT_TRUE(ignores("benchmarks/**/*.json", "benchmarks/x/y/a.json"));
}

TEST(IgnoreRules, SetsAndEscapes) {
  EXPECT_TRUE(ignores("*.py[cod]", "a.pyc"));
  EXPECT_FALSE(ignores("*.py[cod]", "a.pyx"));
  EXPECT_TRUE(ignores("v[0-9][!a-c]", "v1d"));
  EXPECT_FALSE(ignores("v[0-9][!a-c]", "v1b"));
  EXPECT_TRUE(ignores("[]x]", "]"));
  EXPECT_TRUE(ignores("[[:digit:]_]", "7"));
  EXPECT_FALSE(ignores("a[/]b", "a/b"));
  EXPECT_FALSE(ignores("[open", "[open"));  // never closed: fits nothing
  EXPECT_TRUE(ignores("\\#not-a-comment", "#not-a-comment"));
  EXPECT_TRUE(ignores("\\!important", "!important"));
  EXPECT_TRUE(ignores("\\*", "*"));
  EXPECT_FALSE(ignores("\\*", "a"));
  EXPECT_FALSE(ignores("a\\", "a\\"));
}

TEST(IgnoreRules, BlanksCommentsAndLineEnds) {
  EXPECT_FALSE(ignores("# a.o\n", "# a.o"));
  EXPECT_TRUE(ignores("a.o   \n", "a.o"));
  EXPECT_TRUE(ignores("a\\ \n", "a "));
  EXPECT_TRUE(ignores("a.o\r\nb.o\r\n", "a.o"));
  EXPECT_TRUE(
      ignores("\xef\xbb\xbf"
              "a.o\n",
              "a.o"));
  EXPECT_FALSE(ignores("\n   \n/\n!\n", "a"));
}

// A backtracking matcher would not come to an end.
TEST(IgnoreRules, NoPatternExplodes) {
  std::string stars, folders;
  for (int i = 0; i < 60; ++i) stars += "a*";
  for (int i = 0; i < 60; ++i) folders += "**/a*/";
  const std::string name(2000, 'a');
  std::string path;
  for (int i = 0; i < 500; ++i) path += "aa/";
  EXPECT_FALSE(ignores(stars + "b", name));
  EXPECT_FALSE(ignores(folders + "b", path + "c"));
}

// Patterns without wildcards are looked up, the others tried: the last one that fits decides among
// both.
TEST(IgnoreRules, LookedUpAndTriedPatternsAgree) {
  std::mt19937 random(3);
  const auto any_of = [&random](const std::vector<std::string>& words) {
    return words[random() % words.size()];
  };
  const std::vector<std::string> patterns = {
      "a",  "b", "/a",  "a/b", "*",     "a*",  "**/b", "a/**", "a/",  "b/",  "a/b/",
      "*b", "?", "[a]", "**",  "c/*/a", "a**", "**/*", "*/b",  "//a", "a/*", "\\a"};
  const std::vector<std::string> paths = {"a",     "b",  "a/b",  "b/a", "a/b/a",
                                          "c/b/a", "ab", "a/ab", "c"};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    std::vector<IgnorePattern> all;
    for (size_t i = 0; i < 1 + random() % 6; ++i) {
      const std::string line = (random() % 3 == 0 ? "!" : "") + any_of(patterns);
      text += line + "\n";
      if (auto pattern = IgnorePattern::parse(line)) all.push_back(std::move(*pattern));
    }
    const std::string path = any_of(paths);
    const bool is_folder = random() % 2 == 0;
    std::optional<bool> expected;
    uint64_t steps = 0;
    for (const IgnorePattern& pattern : all) {
      if (pattern.matches(path, is_folder, steps)) expected = !pattern.negated();
    }
    EXPECT_EQ(IgnoreRules(text).ignores(path, is_folder), expected) << text << path << is_folder;
  }
}

TEST(IgnoreRules, WildcardsEndWithTheBudget) {
  std::string rules = "plain\n";
  for (int i = 0; i < 100; ++i) rules += "*x*y\n";
  const IgnoreRules many(rules);
  MatchBudget budget(1000);
  for (int i = 0; i < 100 && !budget.is_spent(); ++i) (void)many.ignores("aaaaaaay", false, budget);
  EXPECT_TRUE(budget.is_spent());
  EXPECT_FALSE(many.ignores("axy", false, budget).has_value());
  EXPECT_EQ(many.ignores("plain", false, budget), std::optional(true));  // it costs nothing
}

TEST(IgnoreRules, LongPatternsAreSaidToBeUnused) {
  const IgnoreRules rules(std::string(5000, '*') + "\na\n");
  EXPECT_TRUE(rules.too_long());
  EXPECT_EQ(rules.ignores("a", false), std::optional(true));
  EXPECT_FALSE(rules.ignores("b", false).has_value());
}

TEST(IgnoreRules, OnlySoManyPatterns) {
  std::string rules;
  for (size_t i = 0; i < IgnoreRules::kMaxPatterns; ++i) rules += "x\n";
  EXPECT_FALSE(IgnoreRules(rules).too_many());
  EXPECT_TRUE(IgnoreRules(rules + "y\n").too_many());
}

}  // namespace
}  // namespace fathom
