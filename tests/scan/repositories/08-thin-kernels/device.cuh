#pragma once
template <int kBytes>
__device__ void copy_row(float4* out, const float4* in, const int* rows) {
  out[threadIdx.x] = in[rows[blockIdx.x] * 32 + threadIdx.x];
}
__device__ inline float warp_sum(float v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  return v;
}
__device__ inline void unrelated(float* x) { atomicAdd(x, 1.f); }
