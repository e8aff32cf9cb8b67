#pragma once

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/expressions.h"

namespace fathom::cpp {

// What a body calls, in order. `T name(…)` is a call of T's constructor.
std::vector<Call> find_calls(const Code& code, Range body);

}  // namespace fathom::cpp
