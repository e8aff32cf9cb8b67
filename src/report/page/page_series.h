#pragma once

#include <string>

#include "analyze/assessment.h"

namespace fathom {

// Values over time as a JSON array: the trace's counters, and how many launches of each GPU were
// waiting. Each series has a bounded number of points: of more, the mean and the largest of each
// part of the time.
std::string page_series(const Assessment& assessment, Nanos begin, Nanos end);

}  // namespace fathom
