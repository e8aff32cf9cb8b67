#pragma once

#include <string>
#include <vector>

#include "scan/python/ast.h"

namespace fathom::python {

// `name = text` in a Python file: what a JIT generator computes before it fills in a template.
struct AssignedValue {
  std::string name;
  std::string text;  // in C's spelling of operators; an if chain that sets one name is a ?: chain
  uint32_t line = 0;
};

// In order of the text: plain assignments to one name, if chains whose branches all set it, and the
// keywords of calls that are assigned (Config(threads=128) says threads = 128).
std::vector<AssignedValue> assigned_values(const Tree& tree);

}  // namespace fathom::python
