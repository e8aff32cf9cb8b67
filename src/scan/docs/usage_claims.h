#pragma once

#include <vector>

#include "scan/link/readings.h"

namespace fathom {

// Where the text that a program prints to say how it is used and the code that reads its arguments
// disagree: options that only one of them knows, and defaults.
std::vector<DocClaim> find_usage_claims(const Readings& readings);

}  // namespace fathom
