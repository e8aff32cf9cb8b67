#pragma once

#include <string>

#include "analyze/assessment.h"

namespace fathom {

// roofline.svg: the ops that take the most GPU time against the GPU's limits; FLOP and bytes are
// those of the cost models. Empty where no op has both, or no platform is known.
std::string op_roofline(const Assessment& assessment);

}  // namespace fathom
