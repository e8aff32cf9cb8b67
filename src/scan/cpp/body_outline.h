#pragma once

#include <vector>

#include "scan/cpp/expressions.h"
#include "scan/facts/statement.h"

namespace fathom::cpp {

// The statements between the { at `open` and its }, in order: conditions, loops, calls with the
// lambdas they are given. Any tokens give a list; time is linear and no nesting is too deep.
std::vector<Statement> outline_body(const Code& code, size_t open, size_t close);

}  // namespace fathom::cpp
