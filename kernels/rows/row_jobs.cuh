// What the rungs of both ladders share: where the rows of a job come from and go to. A kernel is
// written once for a Job, which is a gather of one tensor or a scatter of two.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "rows.h"
#include "rows_plan.h"

namespace fathom::rows {

template <int kTensors>
struct RowPlaces {
  const char* from[kTensors];
  char* to[kTensors];
  bool found;
};

template <class Index>
struct IndexJob {
  static constexpr int kTensors = 1;
  static constexpr bool kZeroWhereMissing = true;
  const char* table;
  const Index* indices;
  char* out;
  int64_t table_stride, out_stride, start, length;
  uint32_t count, row_bytes;

  __device__ RowPlaces<1> find(uint32_t row) const {
    const int64_t index = static_cast<int64_t>(indices[row]) - start;
    const bool found = static_cast<uint64_t>(index) < static_cast<uint64_t>(length);
    return {{table + (found ? index * table_stride : 0)}, {out + row * out_stride}, found};
  }
};

template <class Index>
struct StoreJob {
  static constexpr int kTensors = 2;
  static constexpr bool kZeroWhereMissing = false;
  const char *k, *v;
  const Index* slots;
  char *k_cache, *v_cache;
  int64_t k_stride, v_stride, k_cache_stride, v_cache_stride, slot_count;
  uint32_t count, row_bytes;

  __device__ RowPlaces<2> find(uint32_t row) const {
    const auto slot = static_cast<int64_t>(slots[row]);
    const bool found = static_cast<uint64_t>(slot) < static_cast<uint64_t>(slot_count);
    const int64_t place = found ? slot : 0;
    return {{k + row * k_stride, v + row * v_stride},
            {k_cache + place * k_cache_stride, v_cache + place * v_cache_stride},
            found};
  }
};

// How to launch a rung: 16-, 8- or 4-byte vectors are chosen by the caller.
struct LaunchOptions {
  int vector_bytes;
  bool dependent_launch;
  cudaStream_t stream;
};

template <class Job>
cudaError_t launch_v0(const Job& job, const LaunchOptions& options);
template <class Job>
cudaError_t launch_v1(const Job& job, const LaunchOptions& options);
template <class Job>
cudaError_t launch_v2(const Job& job, const LaunchOptions& options);
template <class Job>
cudaError_t launch_v3(const Job& job, const LaunchOptions& options);
template <class Job>
cudaError_t launch_v4(const Job& job, const LaunchOptions& options);
template <class Job>
cudaError_t launch_v5(const Job& job, const LaunchOptions& options);

#define FATHOM_FOR_EVERY_JOB(launch)                                                              \
  template cudaError_t launch<IndexJob<int32_t>>(const IndexJob<int32_t>&, const LaunchOptions&); \
  template cudaError_t launch<IndexJob<int64_t>>(const IndexJob<int64_t>&, const LaunchOptions&); \
  template cudaError_t launch<StoreJob<int32_t>>(const StoreJob<int32_t>&, const LaunchOptions&); \
  template cudaError_t launch<StoreJob<int64_t>>(const StoreJob<int64_t>&, const LaunchOptions&);

// Calls `launch` with a value of the vector type.
template <class Launch>
cudaError_t with_vector(int bytes, Launch launch) {
  if (bytes == 16) return launch(uint4{});
  if (bytes == 8) return launch(uint2{});
  return launch(uint32_t{});
}

inline uint32_t blocks_for(uint64_t threads, uint32_t block) {
  return static_cast<uint32_t>((threads + block - 1) / block);
}

}  // namespace fathom::rows
