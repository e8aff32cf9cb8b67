#pragma once

#include <optional>

#include "analyze/assessment.h"
#include "analyze/finding.h"

namespace fathom {

// Launch calls that return only after their kernel has ended (CUDA_LAUNCH_BLOCKING=1): host and GPU
// take turns.
std::optional<Finding> find_blocking_launches(const Assessment& a);

}  // namespace fathom
