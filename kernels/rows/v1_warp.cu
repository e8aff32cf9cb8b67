// v1: a warp for each row: one index and one division less for each element.
#include "warp_row.cuh"

namespace fathom::rows {
namespace {

template <class Job>
__global__ void __launch_bounds__(kWarpRowThreads) warp_kernel(Job job) {
  copy_row_by_warp<Job, uint32_t>(job);
}

}  // namespace

template <class Job>
cudaError_t launch_v1(const Job& job, const LaunchOptions& options) {
  warp_kernel<<<blocks_for(uint64_t{job.count} * 32, kWarpRowThreads), kWarpRowThreads, 0,
                options.stream>>>(job);
  return cudaGetLastError();
}

FATHOM_FOR_EVERY_JOB(launch_v1)

}  // namespace fathom::rows
