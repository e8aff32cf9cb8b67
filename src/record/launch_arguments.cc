#include "record/launch_arguments.h"

#include <cstddef>
#include <cstring>

namespace fathom::record {
namespace {

// As in CUPTI's generated_cuda_meta.h and generated_cuda_runtime_api_meta.h.
struct RuntimeLaunch {
  const void* function;
  uint32_t grid[3], block[3];
  void** arguments;
  size_t shared;
  void* stream;
};
struct RuntimeConfig {
  uint32_t grid[3], block[3];
  size_t shared;
  void* stream;
};
struct RuntimeLaunchEx {
  const RuntimeConfig* config;
};
struct DriverLaunch {
  void* function;
  uint32_t grid[3], block[3];
  uint32_t shared;
  void* stream;
};
struct DriverConfig {
  uint32_t grid[3], block[3];
  uint32_t shared;
  void* stream;
};
struct DriverLaunchEx {
  const DriverConfig* config;
};

template <typename Launch>
LaunchArguments taken(const Launch& launch) {
  LaunchArguments out;
  std::memcpy(out.grid, launch.grid, sizeof out.grid);
  std::memcpy(out.block, launch.block, sizeof out.block);
  out.dynamic_shared = static_cast<uint32_t>(launch.shared);
  out.stream = launch.stream;
  return out;
}

// "cuLaunchKernel_ptsz" → "cuLaunchKernel": the same call for per-thread streams.
std::string_view base_name(std::string_view call) {
  for (const std::string_view ending : {"_ptsz", "_ptds"}) {
    if (call.ends_with(ending)) return call.substr(0, call.size() - ending.size());
  }
  return call;
}

}  // namespace

bool launches_kernel(std::string_view call) {
  call = base_name(call);
  for (const std::string_view name :
       {"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel", "cuLaunchKernel",
        "cuLaunchKernelEx", "cuLaunchCooperativeKernel"}) {
    if (call == name) return true;
  }
  return false;
}

std::optional<LaunchArguments> launch_arguments(std::string_view call, const void* params) {
  if (params == nullptr) return std::nullopt;
  call = base_name(call);
  if (call == "cudaLaunchKernel" || call == "cudaLaunchCooperativeKernel")
    return taken(*static_cast<const RuntimeLaunch*>(params));
  if (call == "cuLaunchKernel" || call == "cuLaunchCooperativeKernel")
    return taken(*static_cast<const DriverLaunch*>(params));
  if (call == "cudaLaunchKernelExC") {
    const auto* config = static_cast<const RuntimeLaunchEx*>(params)->config;
    return config != nullptr ? std::optional(taken(*config)) : std::nullopt;
  }
  if (call == "cuLaunchKernelEx") {
    const auto* config = static_cast<const DriverLaunchEx*>(params)->config;
    return config != nullptr ? std::optional(taken(*config)) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace fathom::record
