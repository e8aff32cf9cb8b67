#pragma once

#include <set>
#include <string>

#include "scan/cpp/tokens.h"
#include "scan/python/tokens.h"

namespace fathom {

using Names = std::set<std::string, std::less<>>;

// Adds the names among `wanted` that string literals contain: a kernel may be found by its name at
// run time, or be written into generated code. Comments and docstrings' prose count as little as
// they can: a name must stand there as a whole word.
void find_names_in_strings(const cpp::TokenList& source, const Names& wanted, Names& found);
// Python's f-strings too: the fields of f"kernel_m{m}" stand for any text.
void find_names_in_strings(const python::TokenList& source, const Names& wanted, Names& found);

}  // namespace fathom
