#pragma once

#include <vector>

#include "analyze/finding.h"

namespace fathom {

// Puts symptoms under their causes. Of two findings about the same GPU work, the one that tells
// more of why is the cause: a pattern before exposed copies or a chain of ops, and these before an
// op's efficiency. It must bear much of the other's saving. Of two that tell as much, the one that
// saves more is the cause. Short kernels are a symptom of late launches.
//
// Findings come in their order. A cause takes the place of its first symptom, which follow it, and
// is as urgent as the most urgent of them.
void list_symptoms_under_causes(std::vector<Finding>& findings);

}  // namespace fathom
