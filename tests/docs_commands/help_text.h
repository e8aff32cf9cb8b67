#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fathom::test {

// What --help prints, taken apart: the pages and scripts made from the same definitions are
// compared with it.
struct HelpOption {
  std::vector<std::string> names;  // "-o", "--out"
  std::string text;                // the whole entry, each run of blanks one space
};
struct HelpCommand {
  std::string path;  // "fathom", "fathom analyze"
  std::vector<HelpOption> options;
  std::vector<std::string> commands;
  std::vector<std::string> footer;  // its lines
};

// Runs --help for the program and every command it names.
std::vector<HelpCommand> read_help();

std::string one_spaced(std::string_view text);
std::vector<std::string> lines_of(std::string_view text);

}  // namespace fathom::test
