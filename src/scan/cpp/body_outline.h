#pragma once

#include <vector>

#include "scan/cpp/tree/code_tree.h"
#include "scan/facts/statement.h"

namespace fathom::cpp {

// The statements of a body, in order: conditions, loops, calls with the lambdas they are given.
std::vector<Statement> outline_body(const CodeTree& tree);

}  // namespace fathom::cpp
