// A warp for each row, one vector of each lane at a time: v1 with 4 bytes, v2 with up to 16.
#pragma once

#include "row_jobs.cuh"

namespace fathom::rows {

constexpr uint32_t kWarpRowThreads = 128;

template <class Job, class Vector>
__device__ void copy_row_by_warp(const Job& job) {
  const uint32_t row = (blockIdx.x * kWarpRowThreads + threadIdx.x) / 32;
  if (row >= job.count) return;
  const auto places = job.find(row);
  if (!Job::kZeroWhereMissing && !places.found) return;
  const uint32_t vectors = job.row_bytes / sizeof(Vector);
#pragma unroll 1  // more loads in flight is v3's change
  for (uint32_t i = threadIdx.x % 32; i < vectors; i += 32) {
#pragma unroll
    for (int t = 0; t < Job::kTensors; ++t) {
      const auto* from = reinterpret_cast<const Vector*>(places.from[t]);
      reinterpret_cast<Vector*>(places.to[t])[i] = places.found ? from[i] : Vector{};
    }
  }
}

}  // namespace fathom::rows
