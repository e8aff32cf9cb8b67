#pragma once

#include "app/commands.h"

namespace fathom {

void add_mcp_commands(CLI::App& app, const Terminal& terminal, ExitCode& code);

}  // namespace fathom
