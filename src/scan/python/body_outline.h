#pragma once

#include <map>
#include <vector>

#include "scan/facts/statement.h"
#include "scan/python/ast.h"

namespace fathom::python {

// The functions of a file, by the lines of their `def` and of their first decorator.
std::map<uint32_t, NodeId> functions_by_line(const Tree& tree);

// The statements of a function, in order. Its docstring is left out.
std::vector<Statement> outline_function(const Tree& tree, NodeId function);

}  // namespace fathom::python
