#pragma once

#include <vector>

#include "measure/kernel_measures.h"
#include "session/trace.h"

namespace fathom {

// A kernel for each counted launch, one after the other: what order and gaps they had is not known.
// Of a kernel that several files count, the launches of the first; another file counts other
// metrics of the same kernels. `files` is not empty.
Trace run_of_counters(const std::vector<CounterFile>& files);

// The counters that the run was made from.
void add_own_counters(const Trace& run, const std::vector<CounterFile>& files,
                      KernelMeasures& measures);

}  // namespace fathom
