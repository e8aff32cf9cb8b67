#include "base/toml_document.h"

#include <cmath>

#include "checks.h"

namespace fathom {
namespace {

TomlDocument parsed_toml(std::string_view text) {
  Result<TomlDocument> document = TomlDocument::parse(text, "plan.toml");
  EXPECT_TRUE(document.ok()) << document.error().message;
  return document.ok() ? document.take() : TomlDocument();
}

std::string failure(std::string_view text) {
  const Result<TomlDocument> document = TomlDocument::parse(text, "plan.toml");
  return document.ok() ? "" : document.error().message;
}

TEST(TomlDocument, ValuesWithTheirLinesInTheOrderOfTheFile) {
  const TomlDocument document = parsed_toml(
      "zeta = 'z'\n"
      "alpha = 7\n\n"
      "[table]\n"
      "wide = 2.5\n"
      "on = true\n"
      "day = 2026-11-16\n"
      "list = [\n  'a',\n  'b',\n]\n"
      "[[run]]\nname = 'one'\n[[run]]\nname = 'two'\n");
  const TomlValue& root = document.root();
  ASSERT_EQ(root.entries.size(), 4u);
  EXPECT_EQ(root.entries[0].key, "zeta");
  EXPECT_EQ(root.entries[1].key, "alpha");
  EXPECT_EQ(root.entries[1].line, 2);
  EXPECT_EQ(root.find("alpha")->integer, 7);
  const TomlValue* table = root.find("table");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->find("wide")->number, 2.5);
  EXPECT_TRUE(table->find("on")->truth);
  EXPECT_EQ(table->find("day")->text, "2026-11-16");
  ASSERT_EQ(table->find("list")->items.size(), 2u);
  EXPECT_EQ(table->find("list")->items[1].line, 10);
  ASSERT_EQ(root.find("run")->items.size(), 2u);
  EXPECT_EQ(root.find("run")->items[1].find("name")->text, "two");
  EXPECT_EQ(root.find("run")->items[1].find("name")->line, 15);
}

TEST(TomlReader, ReportsAllMistakesWithLines) {
  const TomlDocument document = parsed_toml(
      "repetitons = 3\n"
      "name = 5\n"
      "limit = nan\n"
      "count = 200\n"
      "mode = 'recrod'\n"
      "words = ['a', 1]\n"
      "zero = \"a\\u0000b\"\n");
  TomlMistakes mistakes("plan.toml");
  TomlReader reader(document.root(), "experiment E1", mistakes);
  EXPECT_FALSE(reader.integer("repetitions", 1, 100));
  EXPECT_FALSE(reader.text("name"));
  EXPECT_FALSE(reader.number("limit", 0, 1e6));
  EXPECT_FALSE(reader.integer("count", 1, 100));
  EXPECT_FALSE(reader.word("mode", {"record", "plain"}));
  EXPECT_FALSE(reader.texts("words"));
  EXPECT_FALSE(reader.text("zero"));
  EXPECT_EQ(reader.need_text("purpose"), "");
  reader.finish();
  const std::vector<std::string> wanted = {
      "plan.toml:1: experiment E1: purpose is missing",
      "plan.toml:1: experiment E1: there is no key 'repetitons' here; did you mean 'repetitions'?",
      "plan.toml:2: experiment E1: name is an integer; a text in quotes is wanted",
      "plan.toml:3: experiment E1: limit is nan; 0 to 1000000 is allowed",
      "plan.toml:4: experiment E1: count is 200; 1 to 100 is allowed",
      "plan.toml:5: experiment E1: mode is 'recrod'; one of record, plain is wanted; did you mean "
      "'record'?",
      "plan.toml:6: experiment E1: words holds an integer; texts in quotes are wanted",
      "plan.toml:7: experiment E1: zero has a zero byte, which no command can have",
  };
  EXPECT_EQ(mistakes.texts(), wanted);
}

TEST(TomlReader, AGoodTableHasNoMistakes) {
  const TomlDocument document = parsed_toml(
      "name = 'x'\ncount = 100\nlimit = 3\nwords = []\nmode = 'plain'\n[[part]]\n[[part]]\n");
  TomlMistakes mistakes("plan.toml");
  TomlReader reader(document.root(), "experiment E1", mistakes);
  EXPECT_EQ(reader.need_text("name"), "x");
  EXPECT_EQ(reader.integer("count", 1, 100), 100);
  EXPECT_EQ(reader.number("limit", 0, 10), 3.0);
  EXPECT_EQ(reader.word("mode", {"record", "plain"}), 1u);
  EXPECT_EQ(reader.texts("words")->size(), 0u);
  EXPECT_EQ(reader.tables("part").size(), 2u);
  reader.finish();
  EXPECT_TRUE(mistakes.empty()) << mistakes.error().message;
}

TEST(TomlDocument, DamageIsToldWithItsLine) {
  EXPECT_TRUE(failure("a = 1\nb = \n").starts_with("plan.toml:2: ")) << failure("a = 1\nb = \n");
  EXPECT_TRUE(failure("a = 1\na = 2\n").starts_with("plan.toml:2: "));
  EXPECT_TRUE(failure("a = \"\xff\"\n").starts_with("plan.toml:1: "));
  EXPECT_TRUE(failure("a = 99999999999999999999\n").starts_with("plan.toml:1: "));
  // What the parser repeats of the text reaches the terminal escaped.
  EXPECT_EQ(failure("a\x1b[31m = 1").find('\x1b'), std::string::npos);
  const std::string good = "[a]\nb = \"\"\"\nx\n\"\"\"\nc = [1, 2, {d = 'e'}]\n[[f.g]]\nh = 1e5\n";
  parsed_toml(good);
  for (size_t i = 0; i < good.size(); ++i) {
    (void)TomlDocument::parse(good.substr(0, i), "cut");
    std::string damaged = good;
    for (const char c : {'\0', '"', '\xff', '[', '\n'}) {
      damaged[i] = c;
      (void)TomlDocument::parse(damaged, "damaged");
    }
  }
}

// For some of these the library's own code says that they cannot be.
TEST(TomlDocument, LettersBeyondAsciiWantQuotes) {
  const std::string why = ": a letter beyond ASCII wants quotes";
  EXPECT_EQ(failure("caf\u00e9 = 1\n"), "plan.toml:1" + why);
  EXPECT_EQ(failure("a = 1\nb =\u00a1\n"), "plan.toml:2" + why);
  EXPECT_EQ(failure("a = \"\"\"x\"\"\"\"\u0400\n"), "plan.toml:1" + why);
  EXPECT_EQ(failure("a = ''''x'''''\u2c60\n"), "plan.toml:1" + why);
  const TomlDocument good = parsed_toml(
      "\xEF\xBB\xBF# \u00e9\n\"caf\u00e9\" = '\u00fc'\n"
      "b = \"\"\"\u4e2d\n\u00a1\"\"\"\"\nc = '''\n\u00a1'''\n");
  EXPECT_EQ(good.root().find("caf\u00e9")->text, "\u00fc");
  EXPECT_EQ(good.root().find("b")->text, "\u4e2d\n\u00a1\"");
}

TEST(TomlDocument, DepthAndSizeAreBounded) {
  std::string keys = "a", lists = "x = ", header = "[a";
  for (int i = 0; i < 200'000; ++i) keys += ".a", lists += '[', header += ".'b'";
  EXPECT_EQ(failure(keys + " = 1\n"), "plan.toml:1: a key has over 16 parts");
  EXPECT_EQ(failure("\n" + header + "]\n"), "plan.toml:2: a key has over 16 parts");
  EXPECT_FALSE(failure(lists).empty());
  EXPECT_FALSE(failure("a = { b" + keys + " = 1 }").empty());
  EXPECT_EQ(failure(std::string((1 << 20) + 1, '#')),
            "plan.toml: larger than 1 MB, the limit for files of this kind");
  // Dots in texts, comments and numbers are none of a key.
  const std::string dots(1000, '.');
  parsed_toml("# " + dots + "\na = \"" + dots + "\"\nb = '" + dots + "'\nc = '''\n" + dots +
              "'''\nd = \"\"\"" + dots +
              "\\\"\n\"\"\"\ne = [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 1.0, "
              "1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]\n");
}

TEST(TomlText, WhatIsWrittenReadsBackTheSame) {
  const std::string texts[] = {"",
                               "plain",
                               "a \"quoted\" \\ word",
                               "line\nbreak\r\ttab",
                               "\x01\x7f\x1b[31m",
                               "$(rm -rf /) `x` 'y'",
                               "h\xc3\xa9 \xe2\x80\xae x",
                               "\"\"\"'''",
                               "ends with \\"};
  for (const std::string& text : texts) {
    const std::string line = toml_key(text + "k") + " = " + toml_quoted(text);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const TomlDocument document = parsed_toml(line + "\n");
    ASSERT_EQ(document.root().entries.size(), 1u);
    EXPECT_EQ(document.root().entries[0].key, text + "k");
    EXPECT_EQ(document.root().entries[0].value.text, text);
  }
  EXPECT_EQ(toml_key("batch-size"), "batch-size");
  EXPECT_EQ(toml_key("a b"), "\"a b\"");
  EXPECT_EQ(toml_key(""), "\"\"");
  EXPECT_EQ(toml_list({"a", "b\n"}), "[\"a\", \"b\\n\"]");
  EXPECT_EQ(toml_quoted("a\xff"), "\"a?\"");
  for (const double number : {1.0, -2.5, 1e300, 2.5e-5, 0.1, 12345678901234.0}) {
    const TomlDocument document = parsed_toml("a = " + toml_number(number));
    EXPECT_EQ(document.root().find("a")->kind, TomlValue::Kind::kNumber);
    EXPECT_EQ(document.root().find("a")->number, number);
  }
  EXPECT_TRUE(std::isinf(parsed_toml("a = " + toml_number(-INFINITY)).root().find("a")->number));
}

}  // namespace
}  // namespace fathom
