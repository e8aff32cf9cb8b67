#pragma once

#include "plan/goal.h"
#include "plan/goal_words.h"

namespace fathom {

// Reads limits on time, hardware, accuracy and tools (data/plan/constraints.tsv), and takes their
// words.
void read_constraints(GoalText& text, ReadGoal& out);

}  // namespace fathom
