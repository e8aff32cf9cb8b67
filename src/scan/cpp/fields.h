#pragma once

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/expressions.h"

namespace fathom::cpp {

// The variables of a file's classes.
std::vector<Field> find_fields(const Code& code, const std::vector<Class>& classes);

}  // namespace fathom::cpp
