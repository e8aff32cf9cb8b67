#pragma once

#include <functional>

#include "plan/program.h"

namespace fathom {

// The command that a document shows for an entry point; null: none.
using CommandOfEntry = std::function<const DocumentedCommand*(uint32_t entry)>;

// A client of the repository that sends requests to its server, and the server's port.
void find_load(const CodeFacts& facts, const CommandOfEntry& command_of, Program& program);

}  // namespace fathom
