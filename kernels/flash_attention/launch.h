// What the rungs of the ladder share on the host: one function each, called by attention.cu.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include "attention.h"

namespace fathom::attention {

cudaError_t launch_v0(const FathomAttention& attention);
cudaError_t launch_v1(const FathomAttention& attention);
cudaError_t launch_v2(const FathomAttention& attention);
cudaError_t launch_v3(const FathomAttention& attention);
cudaError_t launch_v4(const FathomAttention& attention);
cudaError_t launch_v5(const FathomAttention& attention);
cudaError_t launch_v6(const FathomAttention& attention);
cudaError_t launch_v7(const FathomAttention& attention);
cudaError_t launch_v8(const FathomAttention& attention);
cudaError_t launch_v9(const FathomAttention& attention);
cudaError_t launch_v10(const FathomAttention& attention);

inline float exp2_scale(const FathomAttention& attention) {
  return attention.scale * 1.4426950408889634f;
}

inline int divide_up(int a, int b) { return (a + b - 1) / b; }

}  // namespace fathom::attention
