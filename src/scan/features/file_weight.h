#pragma once

#include <string_view>

#include "scan/code_facts.h"

namespace fathom {

// Whether what a file's code does is something the project does. Tests, benchmarks, examples,
// documents, vendored and generated code mention features that are somebody else's.
bool carries_weight(const SourceFile& file);

}  // namespace fathom
