#pragma once

#include <vector>

#include "analyze/assessment.h"
#include "analyze/finding.h"
#include "analyze/place.h"

namespace fathom {

// Both ends of what a change saves, once the findings are in order. What replaces needless work is
// not free, so the lower end keeps a part of it. The upper end is what may go with the work: the
// gradients of its ops, memory-bound ops of the same function calls with theirs, and the gaps
// before all of these; of a chain, where the function has no other work. Waits and host code are a
// larger part of a step that runs without the profiler.
void widen_savings(const Assessment& a, PlaceFinder& places, std::vector<Finding>& findings);

}  // namespace fathom
