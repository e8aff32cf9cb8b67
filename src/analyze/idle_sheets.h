#pragma once

#include <vector>

#include "analyze/assessment.h"
#include "analyze/slow_step.h"
#include "base/table.h"

namespace fathom {

// Of a trace with GPU work: idle_causes, steps, launch_delay and longest_gaps.
std::vector<Table> idle_sheets(const Assessment& assessment);

}  // namespace fathom
