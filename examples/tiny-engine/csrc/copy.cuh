#pragma once

#include <cstdint>

namespace tiny {

constexpr int kWarp = 32;

// One warp copies a row, 16 bytes a lane at a time; the row's bytes are a multiple of 16.
__device__ __forceinline__ void copy_row(void* to, const void* from, int bytes, int lane) {
  auto* out = static_cast<uint4*>(to);
  const auto* in = static_cast<const uint4*>(from);
  for (int i = lane; i < bytes / 16; i += kWarp) out[i] = __ldg(&in[i]);
}

}  // namespace tiny
