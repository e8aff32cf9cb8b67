#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scan/python/ast.h"

namespace fathom::python {

// What a string is at run time, as far as the text tells; what it is filled in with stands as
// {expression}.
struct StringContent {
  std::string text;
  bool composed = false;  // it has a {part}
  // For each line of the text the file's line that it begins on: a backslash before a line break
  // and \n make the two differ.
  std::vector<uint32_t> lines;
};

// Of a kString node; what goes beyond `at_most` bytes is left out.
StringContent content_of(const Tree& tree, NodeId string, size_t at_most = SIZE_MAX);

}  // namespace fathom::python
