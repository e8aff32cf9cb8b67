#include <algorithm>
#include <limits>

#include "row_jobs.cuh"
#include "rows.h"

namespace fathom::rows {
namespace {

constexpr int kVersionCount = 6;

__global__ void empty_kernel() {}

template <class Job>
cudaError_t launch_version(int version, const Job& job, const LaunchOptions& options) {
  switch (version) {
    case 0:
      return launch_v0(job, options);
    case 1:
      return launch_v1(job, options);
    case 2:
      return launch_v2(job, options);
    case 3:
      return launch_v3(job, options);
    case 4:
      return launch_v4(job, options);
    default:
      return launch_v5(job, options);
  }
}

template <class Job>
bool valid(const Job& job) {
  if (job.count < 0 || job.row_bytes < 0 || job.row_bytes % 4 != 0) return false;
  if (job.row_bytes > std::numeric_limits<int32_t>::max()) return false;
  if (job.index_type != FATHOM_INT32 && job.index_type != FATHOM_INT64) return false;
  if (job.version < -1 || job.version >= kVersionCount) return false;
  return vector_bytes(job) != 0;
}

template <class Index>
IndexJob<Index> rows_of(const FathomRowIndex& job, int64_t first, int64_t count) {
  return {static_cast<const char*>(job.table),
          static_cast<const Index*>(job.indices) + first,
          static_cast<char*>(job.out) + first * job.out_stride,
          job.table_stride,
          job.out_stride,
          job.start,
          job.length,
          static_cast<uint32_t>(count),
          static_cast<uint32_t>(job.row_bytes)};
}

template <class Index>
StoreJob<Index> rows_of(const FathomRowStore& job, int64_t first, int64_t count) {
  return {static_cast<const char*>(job.k) + first * job.k_stride,
          static_cast<const char*>(job.v) + first * job.v_stride,
          static_cast<const Index*>(job.slots) + first,
          static_cast<char*>(job.k_cache),
          static_cast<char*>(job.v_cache),
          job.k_stride,
          job.v_stride,
          job.k_cache_stride,
          job.v_cache_stride,
          job.slot_count,
          static_cast<uint32_t>(count),
          static_cast<uint32_t>(job.row_bytes)};
}

template <class Job>
cudaError_t launch_all(const Job& job) {
  if (!valid(job)) return cudaErrorInvalidValue;
  if (job.row_bytes == 0) return cudaSuccess;
  const int version = job.version < 0 ? kVersionCount - 1 : job.version;
  const LaunchOptions options{vector_bytes(job), job.dependent_launch != 0,
                              static_cast<cudaStream_t>(job.stream)};
  const int64_t step = rows_per_launch(job.row_bytes);
  for (int64_t first = 0; first < job.count; first += step) {
    const int64_t count = std::min(step, job.count - first);
    const cudaError_t error =
        job.index_type == FATHOM_INT32
            ? launch_version(version, rows_of<int32_t>(job, first, count), options)
            : launch_version(version, rows_of<int64_t>(job, first, count), options);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace
}  // namespace fathom::rows

int fathom_index_rows(const FathomRowIndex* job) {
  if (job->length < 0) return cudaErrorInvalidValue;
  return fathom::rows::launch_all(*job);
}

int fathom_store_rows(const FathomRowStore* job) {
  if (job->slot_count < 0) return cudaErrorInvalidValue;
  return fathom::rows::launch_all(*job);
}

int fathom_empty_kernel(void* stream) {
  fathom::rows::empty_kernel<<<1, 32, 0, static_cast<cudaStream_t>(stream)>>>();
  return cudaGetLastError();
}

const char* fathom_rows_error(int error) {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}
