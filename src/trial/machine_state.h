#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doctor/environment.h"
#include "doctor/machine.h"

namespace fathom {

// What the times of a run depend on, as it is now: processor, its governor and load, memory, GPUs
// with clocks and power limits, versions. Names and values for a table; what is unknown is left
// out.
using MachineState = std::vector<std::pair<std::string, std::string>>;
MachineState machine_state(const Machine& machine, const Environment& environment);
// Whether the value of this name differs from one minute to the next: load, current clocks.
bool is_momentary(std::string_view name);

}  // namespace fathom
