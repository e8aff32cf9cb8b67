// The running softmax of two rows per thread, in the register layout that mma.sync and wgmma share:
// of each 8 columns a thread holds columns 2·(lane % 4) and the next one, of rows lane / 4
// (elements 4j, 4j+1) and lane / 4 + 8 (elements 4j+2, 4j+3). Four lanes hold a row.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>

namespace fathom::attention {

__device__ inline float exp2_approximate(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ inline uint32_t pack(float low, float high, __half) {
  const __half2 pair = __floats2half2_rn(low, high);
  return reinterpret_cast<const uint32_t&>(pair);
}

__device__ inline uint32_t pack(float low, float high, __nv_bfloat16) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const uint32_t&>(pair);
}

// Scores become the A operand of the next product: its layout is that of the accumulators, in
// pairs.
template <class T, int kScores>
__device__ inline void pack_probabilities(const float (&scores)[kScores],
                                          uint32_t (&packed)[kScores / 2]) {
#pragma unroll
  for (int i = 0; i < kScores / 2; ++i) {
    packed[i] = pack(scores[2 * i], scores[2 * i + 1], T{});
  }
}

__device__ inline float row_maximum(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffff, x, 2));
}

__device__ inline float row_sum(float x) {
  x += __shfl_xor_sync(0xffffffff, x, 1);
  return x + __shfl_xor_sync(0xffffffff, x, 2);
}

// Scores are in units of the raw product; `scale` is the softmax scale · log2(e), so that exp2
// serves.
struct OnlineSoftmax {
  float scale;
  float maximum[2] = {-INFINITY, -INFINITY};
  float sum[2] = {0.0f,
                  0.0f};  // of this thread's columns; row_sum() adds the four lanes at the end

  // Replaces scores by exp(score − maximum) and gives the factors for what was accumulated before.
  // kMasked: a row may have no score at all yet.
  template <bool kMasked, int kScores>
  __device__ void step(float (&scores)[kScores], float (&rescale)[2]) {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      float highest = maximum[row];
#pragma unroll
      for (int i = 0; i < kScores / 4; ++i) {
        highest = fmaxf(highest, fmaxf(scores[4 * i + 2 * row], scores[4 * i + 2 * row + 1]));
      }
      highest = row_maximum(highest);
      const float reference = kMasked && highest == -INFINITY ? 0.0f : highest * scale;
      rescale[row] = exp2_approximate(fmaf(maximum[row], scale, -reference));
      maximum[row] = highest;
      float even = 0.0f, odd = 0.0f;
#pragma unroll
      for (int i = 0; i < kScores / 4; ++i) {
        float& a = scores[4 * i + 2 * row];
        float& b = scores[4 * i + 2 * row + 1];
        a = exp2_approximate(fmaf(a, scale, -reference));
        b = exp2_approximate(fmaf(b, scale, -reference));
        even += a;
        odd += b;
      }
      sum[row] = fmaf(sum[row], rescale[row], even + odd);
    }
  }

  __device__ void finish(float (&factor)[2]) {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const float total = row_sum(sum[row]);
      factor[row] = total > 0.0f ? 1.0f / total : 0.0f;  // no keys at all: zeros
    }
  }
};

template <int kValues>
__device__ inline void rescale_rows(float (&values)[kValues], const float (&factor)[2]) {
#pragma unroll
  for (int i = 0; i < kValues / 4; ++i) {
    values[4 * i] *= factor[0];
    values[4 * i + 1] *= factor[0];
    values[4 * i + 2] *= factor[1];
    values[4 * i + 3] *= factor[1];
  }
}

// Hides keys from `end` on, and those after the query's own position where the tile is causal.
template <bool kCausal, int kScores>
__device__ inline void mask_scores(float (&scores)[kScores], int first_key, int first_row,
                                   int end) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int column = first_key + lane % 4 * 2;
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    const int own = first_row + lane / 4 + 8 * row;
    const int limit = (kCausal ? min(end, own + 1) : end) - column;
#pragma unroll
    for (int i = 0; i < kScores / 4; ++i) {
      if (8 * i >= limit) scores[4 * i + 2 * row] = -INFINITY;
      if (8 * i + 1 >= limit) scores[4 * i + 2 * row + 1] = -INFINITY;
    }
  }
}

}  // namespace fathom::attention
