#pragma once

#include <vector>

#include "plan/ablate/suite.h"

namespace fathom::ablate {

// Adds the variants of a suite of flags: none, each alone, all, all but one, and the pairs, which
// are run where they matter.
void add_combinations(const std::vector<Variant>& flags, Suite& suite);

}  // namespace fathom::ablate
