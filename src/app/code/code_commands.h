#pragma once

#include <string_view>

#include "app/code_half.h"

namespace fathom {

// As in commands.h, of the other half.
void add_convert_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_timeline_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_scan_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_plan_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_run_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_ablate_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_bench_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_export_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_query_command(CLI::App& app, const Terminal& terminal, ExitCode& code);
void add_fleet_command(CLI::App& app, const Terminal& terminal, ExitCode& code);

// fathom analyze --together. Whether all traces that were named could be read; what a folder holds
// beside them does not count.
Result<bool> run_together(const TogetherArguments& arguments, const Terminal& terminal);

// All of them, in the order of kCodeCommands.
void add_code_commands(CLI::App& app, const Terminal& terminal, ExitCode& code);
// Those of kDocsCommands.
void add_docs_commands(CLI::App& app, ExitCode& code);

// One complaint for each line of an error.
void complain_lines(std::string_view text);

}  // namespace fathom
