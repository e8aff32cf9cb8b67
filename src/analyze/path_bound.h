#pragma once

#include <vector>

#include "analyze/critical/critical_path.h"
#include "analyze/finding.h"

namespace fathom {

// Lowers the savings of findings about GPU work to what the critical path allows: no change saves
// more than the step is shorter without that work. The findings that promise the most are looked
// at, as far as a budget of replays goes.
void bound_savings(const SheetInput& input, const CriticalPath& path, Nanos length,
                   std::vector<Finding>& findings);

}  // namespace fathom
