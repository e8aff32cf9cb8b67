#pragma once

#include <vector>

#include "analyze/assessment.h"
#include "analyze/critical/critical_path.h"
#include "analyze/finding.h"

namespace fathom {

// All findings about a scope, by what can be saved: the most first. With a critical path no saving
// exceeds what it allows.
std::vector<Finding> find_all(const Assessment& assessment, const CriticalPath* path = nullptr);

}  // namespace fathom
