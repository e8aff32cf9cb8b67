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

// All of them, in the order of kCodeCommands.
void add_code_commands(CLI::App& app, const Terminal& terminal, ExitCode& code);
// Those of kDocsCommands.
void add_docs_commands(CLI::App& app, ExitCode& code);

// One complaint for each line of an error.
void complain_lines(std::string_view text);

}  // namespace fathom
