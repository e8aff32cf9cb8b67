// A kernel without a loop: each group of lanes copies one piece of a row. For v4 and v5, which cut
// rows differently.
#pragma once

#include "piece.cuh"

namespace fathom::rows {

constexpr uint32_t kPieceThreads = 128;

// Lets the next kernel start its blocks as soon as ours have all begun, and waits until what the
// kernel before wrote can be seen. Nothing happens unless the launch asked for it.
__device__ inline void meet_neighbours() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

template <class Job, class Vector, int kUnroll, bool kStreaming>
__global__ void __launch_bounds__(kPieceThreads)
    piece_kernel(Job job, uint32_t lanes, uint32_t lane_bits, uint32_t pieces_per_row) {
  meet_neighbours();
  const uint32_t thread = blockIdx.x * kPieceThreads + threadIdx.x;
  const uint32_t piece = thread >> lane_bits;
  const uint32_t row = piece / pieces_per_row;
  if (row >= job.count) return;
  const auto places = job.find(row);
  if (!Job::kZeroWhereMissing && !places.found) return;
  const uint32_t first = (piece - row * pieces_per_row) * lanes * kUnroll + (thread & (lanes - 1));
  copy_piece<Job, Vector, kUnroll, kStreaming>(places, first, lanes,
                                               job.row_bytes / sizeof(Vector));
}

template <class Job, class Vector, int kUnroll, bool kStreaming = false>
cudaError_t start_pieces(const Job& job, const PiecePlan& plan, const LaunchOptions& options) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks_for(
      uint64_t{job.count} * static_cast<uint64_t>(plan.pieces_per_row * plan.lanes), kPieceThreads);
  config.blockDim = kPieceThreads;
  config.stream = options.stream;
  config.attrs = &attribute;
  config.numAttrs = options.dependent_launch ? 1 : 0;
  const auto lanes = static_cast<uint32_t>(plan.lanes);
  return cudaLaunchKernelEx(&config, piece_kernel<Job, Vector, kUnroll, kStreaming>, job, lanes,
                            static_cast<uint32_t>(__builtin_ctz(lanes)),
                            static_cast<uint32_t>(plan.pieces_per_row));
}

}  // namespace fathom::rows
