// v3: one to four warps for a row by its size, four loads of each lane (and tensor) before the
// first store.
#include "piece.cuh"

namespace fathom::rows {
namespace {

constexpr uint32_t kThreads = 128;
constexpr int kUnroll = 4;

template <class Job, class Vector>
__global__ void __launch_bounds__(kThreads) warps_kernel(Job job, uint32_t row_threads) {
  const uint32_t row = blockIdx.x * (kThreads / row_threads) + threadIdx.x / row_threads;
  if (row >= job.count) return;
  const auto places = job.find(row);
  if (!Job::kZeroWhereMissing && !places.found) return;
  const uint32_t vectors = job.row_bytes / sizeof(Vector);
  for (uint32_t first = threadIdx.x % row_threads; first < vectors;
       first += row_threads * kUnroll) {
    copy_piece<Job, Vector, kUnroll>(places, first, row_threads, vectors);
  }
}

}  // namespace

template <class Job>
cudaError_t launch_v3(const Job& job, const LaunchOptions& options) {
  return with_vector(options.vector_bytes, [&](auto vector) {
    const auto row_threads =
        static_cast<uint32_t>(warps_per_row(job.row_bytes / sizeof(vector)) * 32);
    warps_kernel<Job, decltype(vector)>
        <<<blocks_for(uint64_t{job.count} * row_threads, kThreads), kThreads, 0, options.stream>>>(
            job, row_threads);
    return cudaGetLastError();
  });
}

FATHOM_FOR_EVERY_JOB(launch_v3)

}  // namespace fathom::rows
