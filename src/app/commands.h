#pragma once

#include <CLI/CLI.hpp>

#include "app/terminal.h"
#include "base/result.h"

namespace fathom {

// What a program reports to the shell. As diff(1) has it, `fathom diff` says 1 of a difference that
// is too large, and 2 where it could not tell.
enum class ExitCode { kOk = 0, kFailed = 1, kTooLarge = 1, kUsage = 2, kTrouble = 2 };

// One line on standard error: "fathom: …".
void complain(std::string_view message);

// To standard output, flushed. A full disk or a closed pipe behind it is a failure too.
Status print_output(std::string_view text);

// What follows a mistake in the asking.
constexpr const char* kTryHelp = "Try 'fathom --help' or 'fathom COMMAND --help'.\n";

// Each adds its subcommand with options, help and examples; the callback runs it and sets the code.
void add_analyze_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_platforms_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_story_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_diff_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_replay_commands(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_record_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_run_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_bench_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_convert_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_scan_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_plan_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_ablate_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_doctor_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_docs_commands(CLI::App& app, ExitCode& code);

}  // namespace fathom
