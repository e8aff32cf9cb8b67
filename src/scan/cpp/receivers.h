#pragma once

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/expressions.h"

namespace fathom::cpp {

// Fills in whose objects the calls of a function are, as far as its parameters and variables show,
// and adds the constructors of variables without a value: `Run run;`.
void find_receivers(const Code& code, const Function& function, std::vector<Call>& calls);

// The variables of a file's classes.
std::vector<Field> find_fields(const Code& code, const std::vector<Class>& classes);

}  // namespace fathom::cpp
