#pragma once

#include <string>

#include "scan/facts/code_facts.h"

namespace fathom::test {

// Facts as lines that a person can check against the code: kernels with their launchers, paths and
// evidence, options, entry points, dependencies, host functions, notes.
std::string facts_text(const CodeFacts& facts);

}  // namespace fathom::test
