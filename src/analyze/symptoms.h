#pragma once

#include <vector>

#include "analyze/finding.h"

namespace fathom {

// Puts symptoms under their causes: a finding whose GPU work is nearly all part of another's that
// saves more, and short kernels under late launches. Findings are in their order; a symptom comes
// right after its cause.
void list_symptoms_under_causes(std::vector<Finding>& findings);

}  // namespace fathom
