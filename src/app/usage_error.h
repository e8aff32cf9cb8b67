#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace fathom {

// The command that the words so far named; the program itself where they named none.
const CLI::App& named_command(const CLI::App& app);

// Whether a command was named that only groups others, and nothing else: its help is the answer.
bool wants_command(const CLI::App& app, const CLI::ParseError& error);

// What was wrong with the command line, with the nearest name where a command or option is unknown.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error);

// "there is no command 'anlyze'; did you mean 'analyze'?"
std::string no_such_command(const CLI::App& parent, const std::string& word);

}  // namespace fathom
