#pragma once

#include <string>

#include "record/cupti_api.h"

// What a capture says of where it was recorded: lines for its meta chunks.
namespace fathom::record {

// The tool, the process, the time and the host; at the beginning.
std::string process_meta(const cupti::Api& api);
// By CUDA's driver, which the program has loaded; empty where it has not.
std::string gpu_meta();

}  // namespace fathom::record
