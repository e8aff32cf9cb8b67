#pragma once

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/kernel_choice.h"

namespace fathom::cpp {

// Fills in what a configuration object says: cudaLaunchConfig_t, CUlaunchConfig and the like,
// with fields set one by one or by an initialiser.
void read_launch_config(const Place& place, Range config, Launch& launch);

// Adds the attribute with the condition as written, if any; not where it is never so.
void add_attribute_if(std::string_view condition, LaunchAttribute attribute,
                      std::vector<LaunchAttribute>& out);

}  // namespace fathom::cpp
