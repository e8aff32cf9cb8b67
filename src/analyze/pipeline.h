#pragma once

#include <vector>

#include "analyze/assessment.h"
#include "analyze/finding.h"

namespace fathom {

// All findings about a scope, the most important first: by priority, then by what can be saved.
std::vector<Finding> find_all(const Assessment& assessment);

}  // namespace fathom
