#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace fathom {

// What --help shows of a command, in the same order: options group by group. Hidden ones, whose
// group is empty, are left out; the options of an option group count as the command's own.
std::vector<const CLI::App*> visible_commands(const CLI::App& app);
std::vector<const CLI::Option*> visible_options(const CLI::App& app);
std::vector<const CLI::Option*> visible_positionals(const CLI::App& app);

struct Command {
  std::string path;  // "" is the program, " analyze" a command of it, " a b" one below
  std::vector<std::string> spellings;  // the path, also with the command's other names
  const CLI::App* app = nullptr;
};
// The program, its commands and theirs.
std::vector<Command> all_commands(const CLI::App& app);

// "-o", "--out".
std::vector<std::string> option_names(const CLI::Option& option);

// What belongs where a value is expected.
struct Value {
  enum class Kind { kNone, kText, kFiles, kDirectories, kWords };
  Kind kind = Kind::kNone;         // kNone: a flag
  std::vector<std::string> words;  // kWords: the only ones allowed
};
Value option_value(const CLI::Option& option);
Value positional_value(const CLI::Option& option);

}  // namespace fathom
