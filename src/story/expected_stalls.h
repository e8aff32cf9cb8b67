#pragma once

#include "story/expectation.h"

namespace fathom {

// The stall reasons to look for, by what the code holds and by the expectation's side.
void expect_stalls(const KernelFacts& kernel, Expectation& expectation);

}  // namespace fathom
