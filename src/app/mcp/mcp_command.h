#pragma once

#include "app/code_half.h"

namespace fathom {

void add_mcp_commands(CLI::App& app, const Terminal& terminal, ExitCode& code);

}  // namespace fathom
