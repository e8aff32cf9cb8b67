#pragma once

#include <optional>
#include <string>

#include "app/terminal.h"
#include "platform/platform.h"

namespace fathom {

// Asks on the terminal; the answer without the spaces around it. Nothing where the input ended.
std::optional<std::string> ask(const std::string& question);

// Lists the platforms and asks for one until an answer fits; nothing where none is wanted.
std::optional<Platform> ask_platform();

}  // namespace fathom
