#pragma once

#include <vector>

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/local_values.h"

namespace fathom::cpp {

// The values that a launch's grid, block and shared memory are made of, and those that these are
// made of, as far as the function around and its file give them: the launch's own names first.
// A function that only returns an expression is one too: "blocks(rows)".
std::vector<LocalValue> values_behind(const TokenList& source, const Definitions& definitions,
                                      const std::vector<LocalValue>& constants,
                                      const Launch& launch);

// The same of the arguments that the launch gives the kernel.
std::vector<LocalValue> values_behind_arguments(const TokenList& source,
                                                const Definitions& definitions,
                                                const std::vector<LocalValue>& constants,
                                                const Launch& launch);

}  // namespace fathom::cpp
