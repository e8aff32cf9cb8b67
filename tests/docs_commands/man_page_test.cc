#include <algorithm>
#include <regex>

#include "checks.h"
#include "docs_commands/help_text.h"
#include "test_files.h"

namespace fathom::test {
namespace {

std::string man_page() {
  const CommandResult result = run_command("'" + fathom_binary() + "' man-page", source_dir());
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  return result.output;
}

// The page as a reader sees it, but for fonts and line breaks.
std::string plain_text(std::string text) {
  text = std::regex_replace(text, std::regex(R"(\\f[BIR])"), "");
  text = std::regex_replace(text, std::regex("(^|\n)\\.[A-Za-z]+"), "$1");
  const std::vector<std::pair<std::string, std::string>> characters = {
      {R"(\\-)", "-"},    {R"(\\\(aq)", "'"}, {R"(\\\(dq)", "\""},     {R"(\\\(ga)", "`"},
      {R"(\\\(ti)", "~"}, {R"(\\\(ha)", "^"}, {R"(\\\[u2192\])", "→"}, {R"(\\&)", ""}};
  for (const auto& [from, to] : characters) text = std::regex_replace(text, std::regex(from), to);
  return one_spaced(text);
}

// What the page says of one command: from its heading to the next.
std::string section(const std::string& page, const std::string& path) {
  const std::string heading = path == "fathom" ? ".SH OPTIONS\n" : ".SS " + path + "\n";
  const size_t begin = page.find(heading);
  if (begin == std::string::npos) return "(no " + heading + ")";
  const size_t end = std::min(page.find("\n.SS ", begin), page.find("\n.SH ", begin));
  return page.substr(begin, end - begin);
}

TEST(ManPage, SaysOfEveryOptionWhatHelpSays) {
  const std::string page = man_page();
  const std::vector<HelpCommand> help = read_help();
  ASSERT_GE(help.size(), 2U);
  for (const HelpCommand& command : help) {
    const std::string text = plain_text(section(page, command.path));
    ASSERT_FALSE(command.options.empty()) << command.path;
    for (const HelpOption& option : command.options) {
      EXPECT_NE(text.find(option.text), std::string::npos)
          << command.path << " --help says\n  " << option.text << "\nthe page says\n  " << text;
    }
  }
}

TEST(ManPage, HasEveryFooter) {
  const std::string page = plain_text(man_page());
  size_t lines = 0;
  for (const HelpCommand& command : read_help()) {
    for (const std::string& line : command.footer) {
      EXPECT_NE(page.find(one_spaced(line)), std::string::npos) << command.path << ": " << line;
      ++lines;
    }
  }
  EXPECT_GT(lines, 5U);
}

TEST(ManPage, IsNotListedInHelp) {
  for (const HelpCommand& command : read_help()) {
    for (const std::string& name : command.commands) EXPECT_NE(name, "man-page");
  }
}

TEST(ManPage, IsValidRoff) {
  if (run_command("command -v groff", "/").exit_code != 0) GTEST_SKIP() << "no groff here";
  const TemporaryDirectory directory;
  write_file(directory.path() / "fathom.1", man_page());
  const CommandResult result = run_command("groff -man -Tutf8 -ww -b fathom.1", directory.path());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");
  EXPECT_NE(result.output.find("performance report from a trace"), std::string::npos)
      << result.output;
}

}  // namespace
}  // namespace fathom::test
