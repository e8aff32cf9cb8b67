// v0: one thread for each 4 bytes, as one would first write it.
#include "row_jobs.cuh"

namespace fathom::rows {
namespace {

constexpr uint32_t kThreads = 256;

template <class Job>
__global__ void __launch_bounds__(kThreads) element_kernel(Job job) {
  const uint32_t words = job.row_bytes / 4;
  const uint32_t thread = blockIdx.x * kThreads + threadIdx.x;
  const uint32_t row = thread / words, word = thread % words;
  if (row >= job.count) return;
  const auto places = job.find(row);
  if (!Job::kZeroWhereMissing && !places.found) return;
#pragma unroll
  for (int t = 0; t < Job::kTensors; ++t) {
    const auto* from = reinterpret_cast<const uint32_t*>(places.from[t]);
    reinterpret_cast<uint32_t*>(places.to[t])[word] = places.found ? from[word] : 0;
  }
}

}  // namespace

template <class Job>
cudaError_t launch_v0(const Job& job, const LaunchOptions& options) {
  const uint64_t threads = uint64_t{job.count} * (job.row_bytes / 4);
  element_kernel<<<blocks_for(threads, kThreads), kThreads, 0, options.stream>>>(job);
  return cudaGetLastError();
}

FATHOM_FOR_EVERY_JOB(launch_v0)

}  // namespace fathom::rows
