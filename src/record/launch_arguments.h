#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fathom::record {

struct LaunchArguments {
  uint32_t grid[3] = {}, block[3] = {};
  uint32_t dynamic_shared = 0;
  void* stream = nullptr;
};

// Whether a call of CUDA launches one kernel, by its name without the version.
bool launches_kernel(std::string_view call);

// What such a call was given: `params` as CUPTI hands them to a callback.
std::optional<LaunchArguments> launch_arguments(std::string_view call, const void* params);

}  // namespace fathom::record
