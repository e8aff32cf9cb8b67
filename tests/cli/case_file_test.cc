#include "cli/case_file.h"

#include "checks.h"

namespace fathom::test {
namespace {

using Kind = CaseLine::Kind;

std::string error_of(std::string_view text) { return parse_case(text).error; }

TEST(CaseFile, PrintsWhatItParsed) {
  const std::string text =
      "# why\n\nneeds true\nfile a\n| 1\n|\n$ cat a\n> 1\n>\n>* 2*\n! oh\n!* no?\nexit 3\n";
  const CaseFile file = parse_case(text);
  EXPECT_EQ(file.error, "");
  EXPECT_EQ(print_case(file.lines), text);
  const std::vector<CaseCommand> commands = case_commands(file.lines);
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_EQ(commands[0].expected.output.size(), 3u);
  EXPECT_EQ(commands[0].expected.errors.size(), 2u);
  EXPECT_EQ(commands[0].expected.exit_code, 3);
  EXPECT_EQ(case_inputs(file.lines)[0].content, "1\n\n");
}

TEST(CaseFile, RefusesWhatItDoesNotKnow) {
  EXPECT_NE(error_of(""), "");
  EXPECT_NE(error_of("$ true\n"), "") << "no reason given";
  EXPECT_NE(error_of("# why\n"), "") << "no command";
  EXPECT_NE(error_of("# why\n$ true\n>no space\n"), "");
  EXPECT_NE(error_of("# why\n$ true\nwhat is this\n"), "");
  EXPECT_NE(error_of("# why\n> output of nothing\n$ true\n"), "");
  EXPECT_NE(error_of("# why\n$ true\n! errors\n> before output\n"), "");
  EXPECT_NE(error_of("# why\n$ true\nexit one\n"), "");
  EXPECT_NE(error_of("# why\n$ true\nexit 0\n"), "");
  EXPECT_NE(error_of("# why\n$ true\n| content of no file\n"), "");
}

TEST(CaseFile, SeesEveryDifference) {
  const std::vector<CaseLine> expected = {{Kind::kOutput, false, "a*", 0},
                                          {Kind::kOutput, true, "b*", 0}};
  EXPECT_EQ(first_difference(expected, {"a*", "bcd"}), "");
  EXPECT_NE(first_difference(expected, {"abc", "bcd"}), "") << "a star is a star without a mark";
  EXPECT_NE(first_difference(expected, {"a*", "cd"}), "");
  EXPECT_NE(first_difference(expected, {"a*"}), "");
  EXPECT_NE(first_difference(expected, {"a*", "b", ""}), "");
  EXPECT_NE(first_difference({}, {""}), "");
}

TEST(CaseFile, ShowsControlCharacters) {
  EXPECT_EQ(visible_lines("\033[1m\r\n\x7f\xc2\x9b\n"),
            (std::vector<std::string>{"␛[1m␍", "␡(C1)"}));
  EXPECT_EQ(visible_lines("half"), (std::vector<std::string>{"half", "\\ no newline at the end"}));
  EXPECT_EQ(visible_lines(""), std::vector<std::string>());
}

TEST(CaseFile, AcceptingKeepsGlobsThatStillMatch) {
  const std::vector<CaseLine> before = {{Kind::kOutput, false, "old", 0},
                                        {Kind::kOutput, true, "took * s", 0}};
  const std::vector<CaseLine> now = expect_lines(Kind::kOutput, before, {"new", "took 3 s", "end"});
  EXPECT_EQ(print_case(now), "> new\n>* took * s\n> end\n");
}

}  // namespace
}  // namespace fathom::test
