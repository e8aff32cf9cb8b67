#pragma once

#include <vector>

#include "scan/facts/statement.h"
#include "scan/python/ast.h"

namespace fathom::python {

// The statements of the function whose `def` or first decorator stands in a line, in order; none:
// there is no such function. Its docstring is left out.
std::vector<Statement> outline_function(const Tree& tree, uint32_t line);

}  // namespace fathom::python
