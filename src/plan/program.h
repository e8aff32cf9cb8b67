#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/goal.h"
#include "plan/program_sources.h"

namespace fathom {

// A command as an argument list, with assignments in front of it.
struct SplitCommand {
  std::vector<std::string> words;
  Variables variables;
};
// As a shell would split it. Fails where only a shell could run it: pipes, $(…), redirections.
Result<SplitCommand> split_command(std::string_view text);
// At its spaces alone.
std::vector<std::string> words_of_command(std::string_view command);

// The program that the experiments run.
struct Program {
  std::vector<std::string> command;  // an argument "<MODEL>" is for a person to fill in
  Variables environment;
  std::string folder;             // that it runs in, below the repository; empty: its root
  std::optional<uint32_t> entry;  // position in CodeFacts::entry_points
  std::optional<uint32_t> file;   // position in CodeFacts::files
  std::vector<uint32_t> options;  // command line options that it has, positions in the facts
  std::string why;                // where the command comes from
  std::string prepare;            // what has to be done first
  std::vector<uint32_t> sources;  // files that it is built from, as its build file has them
  std::vector<std::string> load;  // of a server: a program of the repository that sends requests
  std::string load_where;         // file:line of it
  std::optional<int64_t> port;    // of a server, by its option
  bool server = false;            // it does not end by itself
  bool python = false, torch = false;
  bool found() const { return !command.empty(); }
};

// By --command, by the goal's words, by documents and kinds of entry points.
Result<Program> choose_program(const std::string& given, const ReadGoal& goal,
                               const CodeFacts& facts, const ProgramSources& sources);

// An argument that a person has to fill in: "<MODEL>".
bool is_placeholder(std::string_view argument);

// The words that set an option: "--batch", "64".
std::vector<std::string> given_as(const OptionFacts& option, const std::string& value);
// What an option can be set to, as configurations of a command; none: it cannot be varied usefully.
std::vector<Configuration> values_of(const OptionFacts& option,
                                     const std::vector<std::string>& wanted);
// The command without this option and its value.
std::vector<std::string> without_option(const std::vector<std::string>& command,
                                        const OptionFacts& option);
// The value that the command gives it; nothing: none.
std::optional<std::string> given_value(const std::vector<std::string>& command,
                                       const OptionFacts& option);

}  // namespace fathom
