#pragma once

#include <vector>

#include "sheets/gpu_selection.h"

namespace fathom {

// How busy the GPUs are over one step: the one of median length, or the whole wall time of a trace
// without steps. Two traces are drawn over each other by this.
struct StepActivity {
  std::string name;  // of the step; empty: the whole
  Nanos length;
  std::vector<double> busy;  // share of each part of the time from the step's begin, 0 to 1
};

// `part`: how long each part is, more than 0.
StepActivity step_activity(const SheetInput& input, Nanos part);
// The length alone.
Nanos median_step(const SheetInput& input);

}  // namespace fathom
