#pragma once

#include <vector>

#include "measure/counter_join.h"
#include "session/trace.h"

namespace fathom {

// A kernel for each counted launch, one after the other: what order and gaps they had is not known.
// Of a kernel that several files count, the launches of the first; another file counts other
// metrics of the same kernels. `files` is not empty.
Trace run_of_counters(const std::vector<CounterFile>& files);

}  // namespace fathom
