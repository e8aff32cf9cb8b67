#pragma once

#include "app/commands.h"

namespace fathom {

void add_serve_command(CLI::App& app, const Terminal& terminal, ExitCode& code);

}  // namespace fathom
