// Up to kUnroll vectors of each lane and tensor, every load issued before the first store.
#pragma once

#include "row_jobs.cuh"

namespace fathom::rows {

// Plain loads, not the read-only path: with a dependent launch the kernel before may still have
// been writing when this one began. Rows are read once, so they need no room in L1.
__device__ inline uint4 load_once(const uint4* from) {
  uint4 v;
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from));
  return v;
}
__device__ inline uint2 load_once(const uint2* from) {
  uint2 v;
  asm volatile("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
               : "=r"(v.x), "=r"(v.y)
               : "l"(from));
  return v;
}
__device__ inline uint32_t load_once(const uint32_t* from) {
  uint32_t v;
  asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(from));
  return v;
}

// Vectors first, first + step, … of a row, as far as they are below `vectors`. Streaming stores
// mark the lines to leave L2 first.
template <class Job, class Vector, int kUnroll, bool kStreaming = false>
__device__ void copy_piece(const RowPlaces<Job::kTensors>& places, uint32_t first, uint32_t step,
                           uint32_t vectors) {
  Vector kept[Job::kTensors][kUnroll] = {};
  if (places.found) {
#pragma unroll
    for (int t = 0; t < Job::kTensors; ++t) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const uint32_t i = first + u * step;
        if (i < vectors)
          kept[t][u] = load_once(reinterpret_cast<const Vector*>(places.from[t]) + i);
      }
    }
  }
#pragma unroll
  for (int t = 0; t < Job::kTensors; ++t) {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const uint32_t i = first + u * step;
      Vector* to = reinterpret_cast<Vector*>(places.to[t]) + i;
      if (i >= vectors) continue;
      if constexpr (kStreaming) {
        __stcs(to, kept[t][u]);
      } else {
        *to = kept[t][u];
      }
    }
  }
}

}  // namespace fathom::rows
