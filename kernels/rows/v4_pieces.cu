// v4: no loop. A row is cut into pieces by how much work there is: small ones reach every SM, large
// ones keep four loads of each lane in flight; rows shorter than a warp share one. May start before
// the stream's last kernel has ended.
#include "piece.cuh"

namespace fathom::rows {
namespace {

constexpr uint32_t kThreads = 128;

// Lets the next kernel start its blocks as soon as ours have all begun, and waits until what the
// kernel before wrote can be seen. Nothing happens unless the launch asked for it.
__device__ inline void meet_neighbours() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

template <class Job, class Vector, int kUnroll>
__global__ void __launch_bounds__(kThreads)
    piece_kernel(Job job, uint32_t lanes, uint32_t lane_bits, uint32_t pieces_per_row) {
  meet_neighbours();
  const uint32_t thread = blockIdx.x * kThreads + threadIdx.x;
  const uint32_t piece = thread >> lane_bits;
  const uint32_t row = piece / pieces_per_row;
  if (row >= job.count) return;
  const auto places = job.find(row);
  if (!Job::kZeroWhereMissing && !places.found) return;
  const uint32_t first = (piece - row * pieces_per_row) * lanes * kUnroll + (thread & (lanes - 1));
  copy_piece<Job, Vector, kUnroll>(places, first, lanes, job.row_bytes / sizeof(Vector));
}

template <class Job, class Vector, int kUnroll>
cudaError_t start(const Job& job, const PiecePlan& plan, const LaunchOptions& options) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks_for(
      uint64_t{job.count} * static_cast<uint64_t>(plan.pieces_per_row * plan.lanes), kThreads);
  config.blockDim = kThreads;
  config.stream = options.stream;
  config.attrs = &attribute;
  config.numAttrs = options.dependent_launch ? 1 : 0;
  const auto lanes = static_cast<uint32_t>(plan.lanes);
  return cudaLaunchKernelEx(&config, piece_kernel<Job, Vector, kUnroll>, job, lanes,
                            static_cast<uint32_t>(__builtin_ctz(lanes)),
                            static_cast<uint32_t>(plan.pieces_per_row));
}

}  // namespace

template <class Job>
cudaError_t launch_v4(const Job& job, const LaunchOptions& options) {
  return with_vector(options.vector_bytes, [&](auto vector) {
    using Vector = decltype(vector);
    const PiecePlan plan = plan_pieces(job.count, job.row_bytes / sizeof(Vector), Job::kTensors);
    if (plan.unroll == 1) return start<Job, Vector, 1>(job, plan, options);
    if (plan.unroll == 2) return start<Job, Vector, 2>(job, plan, options);
    return start<Job, Vector, 4>(job, plan, options);
  });
}

FATHOM_FOR_EVERY_JOB(launch_v4)

}  // namespace fathom::rows
