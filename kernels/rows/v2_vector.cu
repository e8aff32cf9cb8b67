// v2: 16 bytes for each lane, 8 or 4 where alignment or size asks.
#include "warp_row.cuh"

namespace fathom::rows {
namespace {

template <class Job, class Vector>
__global__ void __launch_bounds__(kWarpRowThreads) vector_kernel(Job job) {
  copy_row_by_warp<Job, Vector>(job);
}

}  // namespace

template <class Job>
cudaError_t launch_v2(const Job& job, const LaunchOptions& options) {
  return with_vector(options.vector_bytes, [&](auto vector) {
    vector_kernel<Job, decltype(vector)><<<blocks_for(uint64_t{job.count} * 32, kWarpRowThreads),
                                           kWarpRowThreads, 0, options.stream>>>(job);
    return cudaGetLastError();
  });
}

FATHOM_FOR_EVERY_JOB(launch_v2)

}  // namespace fathom::rows
