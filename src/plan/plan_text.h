#pragma once

#include <string>

#include "plan/plan.h"

namespace fathom {

// plan.md: the sections of a learning plan in their order, all filled or said to be unknown.
std::string plan_markdown(const Plan& plan);
// The same for programs.
std::string plan_json(const Plan& plan);

// "12.3 to 20.5 µs", "at least 1", "unknown, first measurement".
std::string range_text(const ExpectedObservation& expected);
// "20 min", "1 h 30 min", "45 s".
std::string duration_text(double seconds);

}  // namespace fathom
