#pragma once

#include <optional>
#include <vector>

#include "analyze/assessment.h"
#include "analyze/finding.h"

namespace fathom {

// Where most of the GPU's time goes, by the line of the program, and what runs there, if the
// findings so far explain little of it. Medium at most: it names no fault.
std::optional<Finding> find_hot_line(const Assessment& a, const std::vector<Finding>& findings);

}  // namespace fathom
