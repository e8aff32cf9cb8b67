// Accumulators of 16 rows per warp → rows in device memory, 16 bytes per lane and 64 side by side.
#pragma once

#include "online_softmax.cuh"

namespace fathom::attention {

// Lane q of a quad holds word q of four 16-byte blocks; afterwards it holds all four words of block
// q.
__device__ inline void transpose_quad(uint32_t (&words)[4]) {
  const int lane = static_cast<int>(threadIdx.x % 4);
#pragma unroll
  for (int bit = 1; bit <= 2; bit *= 2) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if ((i & bit) != 0) continue;
      const bool upper = (lane & bit) != 0;
      const uint32_t send = upper ? words[i] : words[i | bit];
      const uint32_t got = __shfl_xor_sync(0xffffffff, send, bit);
      if (upper) {
        words[i] = got;
      } else {
        words[i | bit] = got;
      }
    }
  }
}

// `rows` points at the first of the warp's 16 rows; `valid` is how many of them exist (may be ≤ 0).
template <class T, int kValues>
__device__ inline void store_rows(const float (&values)[kValues], const float (&factor)[2], T* rows,
                                  int64_t row_stride, int valid) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    const int own = lane / 4 + 8 * row;
    T* out = rows + own * row_stride + lane % 4 * 8;
#pragma unroll
    for (int block = 0; block < kValues / 16; ++block) {
      uint32_t words[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float* pair = &values[16 * block + 4 * i + 2 * row];
        words[i] = pack(pair[0] * factor[row], pair[1] * factor[row], T{});
      }
      transpose_quad(words);
      if (own < valid) {
        *reinterpret_cast<uint4*>(out + 32 * block) = {words[0], words[1], words[2], words[3]};
      }
    }
  }
}

}  // namespace fathom::attention
