#pragma once

#include <string>

#include "measure/compared_counts.h"

namespace fathom {

// "expected vs measured: 14 of 18 quantities within range, 4 surprises; 5 not comparable"
std::string compared_line(const ComparedCounts& counts);

}  // namespace fathom
