#pragma once

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/kernel_choice.h"

namespace fathom::cpp {

// Fills in what a configuration object says: cudaLaunchConfig_t, CUlaunchConfig and the like,
// with fields set one by one or by an initialiser.
void read_launch_config(const Place& place, Range config, Launch& launch);

// "PDL", or "PDL if enable" where something decides; "" where it is never so.
std::string conditional_attribute(std::string_view name, std::string_view condition);

}  // namespace fathom::cpp
