#include "docs_commands/help_text.h"

#include <sstream>

#include "checks.h"
#include "test_files.h"

namespace fathom::test {
namespace {

std::vector<std::string> split_text(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

HelpCommand parse_help(const std::string& path, const std::string& text) {
  HelpCommand help{path, {}, {}, {}};
  const std::vector<std::string> lines = lines_of(text);
  std::string section;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (section != "footer" && !line.empty() && line.front() != ' ') {
      const bool options = i + 1 < lines.size() && lines[i + 1].starts_with("  -"),
                 known = options || line == "Positionals:" || line == "Subcommands:";
      // The description and the usage come before the first section, the footer after the last.
      section = options ? "Options:" : known ? line : section.empty() ? "" : "footer";
      if (known) continue;
    }
    if (section == "Options:" && line.starts_with("  -")) {
      help.options.push_back({split_text(line.substr(2, line.find(' ', 2) - 2), ','), {}});
    }
    if (section == "Options:" && !line.empty()) help.options.back().text += line + " ";
    if (section == "Subcommands:" && line.starts_with("  ") && line[2] != ' ') {
      help.commands.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
    if (section == "footer" && !line.empty()) help.footer.push_back(line);
  }
  for (HelpOption& option : help.options) option.text = one_spaced(option.text);
  return help;
}

void add_help(const std::string& path, std::vector<HelpCommand>& all) {
  const std::string arguments =
      path.substr(path.find(' ') == std::string::npos ? path.size() : path.find(' '));
  const CommandResult result =
      run_command("'" + fathom_binary() + "'" + arguments + " --help", source_dir());
  EXPECT_EQ(result.exit_code, 0) << path;
  all.push_back(parse_help(path, result.output));
  for (const std::string& command : HelpCommand(all.back()).commands) {
    add_help(path + " " + command, all);
  }
}

}  // namespace

std::vector<HelpCommand> read_help() {
  std::vector<HelpCommand> all;
  add_help("fathom", all);
  return all;
}

std::string one_spaced(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string out;
  for (std::string word; words >> word;) out += out.empty() ? word : " " + word;
  return out;
}

std::vector<std::string> lines_of(std::string_view text) {
  return split_text(std::string(text), '\n');
}

}  // namespace fathom::test
