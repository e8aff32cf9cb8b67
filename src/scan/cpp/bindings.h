#pragma once

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/expressions.h"

namespace fathom::cpp {

// The functions that a file gives to other languages, in order of line.
std::vector<Binding> find_bindings(const Code& code, const Definitions& definitions);

}  // namespace fathom::cpp
