#pragma once

#include <vector>

#include "analyze/assessment.h"
#include "analyze/finding.h"

namespace fathom {

// All findings about a scope, by what can be saved: the most first.
std::vector<Finding> find_all(const Assessment& assessment);

}  // namespace fathom
