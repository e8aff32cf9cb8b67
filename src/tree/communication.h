#pragma once

#include <string_view>

namespace fathom {

// NCCL, RCCL and the custom all-reduce kernels of inference engines, by name. For one name: a sheet
// asks the selection, which knows it of every event.
bool is_communication_name(std::string_view kernel_name);

}  // namespace fathom
