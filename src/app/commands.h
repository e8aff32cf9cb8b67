#pragma once

#include <CLI/CLI.hpp>

#include "app/code_half.h"
#include "app/terminal.h"
#include "base/result.h"

namespace fathom {

// One line on standard error: "fathom: …".
void complain(std::string_view message);

// To standard output, flushed. A full disk or a closed pipe behind it is a failure too.
Status print_output(std::string_view text);

// What follows a mistake in the asking.
constexpr const char* kTryHelp = "Try 'fathom --help' or 'fathom COMMAND --help'.\n";

// Each adds its subcommand with options, help and examples; the callback runs it and sets the code.
void add_analyze_command(CLI::App& app, const Terminal& terminal, ExitCode& code,
                         const CodeHalf& half);
void add_platforms_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_story_command(CLI::App& app, const Terminal& terminal, ExitCode& code,
                       const CodeHalf& half);
void add_diff_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_replay_commands(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_record_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_doctor_command(CLI::App& app, const Terminal& terminal, ExitCode& code);

}  // namespace fathom
