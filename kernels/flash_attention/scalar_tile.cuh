// The rungs v0 to v3: 64 × 64 tiles of scores, 256 threads as a 16 × 16 grid, fp32 arithmetic
// without tensor cores. A rung says how rows come from device memory and how they lie in shared
// memory.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "launch.h"

namespace fathom::attention {

constexpr int kScalarThreads = 256;
constexpr int kScalarTile = 64;

struct ScalarShape {
  FathomTensorStrides q, k, v, o;
  int heads_per_key_head, query_length, key_length, causal;
  float scale;  // · log2(e)
};

__device__ inline float to_float(__half x) { return __half2float(x); }
__device__ inline float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }
template <class T>
__device__ inline T from_float(float x) {
  if constexpr (sizeof(T) == 2 && __is_same(T, __half)) {
    return __float2half_rn(x);
  } else {
    return __float2bfloat16_rn(x);
  }
}

// Rows side by side: threads of a warp that read one column of consecutive rows meet in the same
// bank.
template <int kHeadDim>
struct PlainLayout {
  static constexpr int pitch = kHeadDim;  // elements
  static constexpr int score_pitch = kScalarTile;
  static constexpr int step = 1;  // elements that a thread reads at once
  // A thread's four columns of scores.
  static __device__ int column(int x, int j) { return 4 * x + j; }
};

// 16 bytes between rows and reads of 16 bytes: eight lanes then cover all banks.
template <int kHeadDim>
struct PaddedLayout {
  static constexpr int pitch = kHeadDim + 8;
  static constexpr int score_pitch = kScalarTile + 4;
  static constexpr int step = 8;
  static __device__ int column(int x, int j) { return x + 16 * j; }
};

// kCount elements from shared memory as floats, as one access where that is 16 or 8 bytes.
template <int kCount, class T>
__device__ inline void read_floats(const T* source, float (&values)[kCount]) {
  alignas(16) T raw[kCount];
  if constexpr (kCount == 8) {
    *reinterpret_cast<uint4*>(raw) = *reinterpret_cast<const uint4*>(source);
  } else if constexpr (kCount == 4) {
    *reinterpret_cast<uint2*>(raw) = *reinterpret_cast<const uint2*>(source);
  } else {
#pragma unroll
    for (int i = 0; i < kCount; ++i) raw[i] = source[i];
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) values[i] = to_float(raw[i]);
}

// Over the 16 threads of a row of the thread grid.
template <class Join>
__device__ inline float across_row(float x, Join join) {
#pragma unroll
  for (int lane = 1; lane < 16; lane *= 2) x = join(x, __shfl_xor_sync(0xffffffff, x, lane));
  return x;
}

template <class T, int kHeadDim, class Layout>
constexpr int scalar_shared_bytes() {
  return 3 * kScalarTile * Layout::pitch * 2 + kScalarTile * Layout::score_pitch * 4;
}

// `load(destination, tensor rows, row stride, rows that exist)` fills 64 rows, with zeros past the
// end.
template <class T, int kHeadDim, class Layout, class Load>
__device__ inline void attend_scalar(const ScalarShape& shape, const T* q, const T* k, const T* v,
                                     T* o, Load load) {
  extern __shared__ __align__(16) char memory[];
  T* const q_tile = reinterpret_cast<T*>(memory);
  T* const k_tile = q_tile + kScalarTile * Layout::pitch;
  T* const v_tile = k_tile + kScalarTile * Layout::pitch;
  float* const scores = reinterpret_cast<float*>(v_tile + kScalarTile * Layout::pitch);
  constexpr int kColumns = kHeadDim / 16;  // of the output, for each thread
  const int x = static_cast<int>(threadIdx.x % 16), y = static_cast<int>(threadIdx.x / 16);
  const int first_row = static_cast<int>(blockIdx.x) * kScalarTile;
  const int head = static_cast<int>(blockIdx.y), batch = static_cast<int>(blockIdx.z);
  const int key_head = head / shape.heads_per_key_head;
  q += batch * shape.q.batch + head * shape.q.head;
  k += batch * shape.k.batch + key_head * shape.k.head;
  v += batch * shape.v.batch + key_head * shape.v.head;
  o += batch * shape.o.batch + head * shape.o.head;

  float output[4][kColumns] = {}, maximum[4], sum[4] = {};
  for (float& value : maximum) value = -INFINITY;
  load(q_tile, q + first_row * shape.q.row, shape.q.row, shape.query_length - first_row);
  const int end = shape.causal ? min(shape.key_length, first_row + kScalarTile) : shape.key_length;
  for (int first_key = 0; first_key < end; first_key += kScalarTile) {
    __syncthreads();
    load(k_tile, k + first_key * shape.k.row, shape.k.row, shape.key_length - first_key);
    load(v_tile, v + first_key * shape.v.row, shape.v.row, shape.key_length - first_key);
    __syncthreads();

    float s[4][4] = {};
#pragma unroll 4
    for (int d = 0; d < kHeadDim; d += Layout::step) {
      float a[4][Layout::step], b[4][Layout::step];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        read_floats(&q_tile[(4 * y + i) * Layout::pitch + d], a[i]);
        read_floats(&k_tile[Layout::column(x, i) * Layout::pitch + d], b[i]);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
#pragma unroll
          for (int e = 0; e < Layout::step; ++e) s[i][j] = fmaf(a[i][e], b[j][e], s[i][j]);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = first_row + 4 * y + i;
      float highest = maximum[i];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int key = first_key + Layout::column(x, j);
        if (key >= shape.key_length || (shape.causal && key > row)) s[i][j] = -INFINITY;
        highest = fmaxf(highest, s[i][j]);
      }
      // The first tile has key 0, which every row sees: the maximum is finite from then on.
      highest = across_row(highest, [](float p, float q2) { return fmaxf(p, q2); });
      const float rescale = exp2f((maximum[i] - highest) * shape.scale);
      maximum[i] = highest;
      float part = 0.0f;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float p = exp2f((s[i][j] - highest) * shape.scale);
        scores[(4 * y + i) * Layout::score_pitch + Layout::column(x, j)] = p;
        part += p;
      }
      sum[i] = sum[i] * rescale + part;
#pragma unroll
      for (float& value : output[i]) value *= rescale;
    }
    __syncwarp();  // a row of scores is written and read by one half of a warp
#pragma unroll 4
    for (int j = 0; j < kScalarTile; ++j) {
      float b[kColumns];
      if constexpr (Layout::step == 1) {
#pragma unroll
        for (int c = 0; c < kColumns; ++c)
          b[c] = to_float(v_tile[j * Layout::pitch + x * kColumns + c]);
      } else {
        read_floats(&v_tile[j * Layout::pitch + x * kColumns], b);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float p = scores[(4 * y + i) * Layout::score_pitch + j];
#pragma unroll
        for (int c = 0; c < kColumns; ++c) output[i][c] = fmaf(p, b[c], output[i][c]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = first_row + 4 * y + i;
    const float total = across_row(sum[i], [](float p, float q2) { return p + q2; });
    if (row >= shape.query_length) continue;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      o[row * shape.o.row + x * kColumns + c] = from_float<T>(output[i][c] / total);
    }
  }
}

// A quarter of a row for each thread, one element after the other.
template <class T, int kHeadDim, class Layout, class Read>
__device__ inline void load_by_element(T* tile, const T* rows, int64_t stride, int valid,
                                       Read read) {
  const int row = static_cast<int>(threadIdx.x / 4);
  const int first = static_cast<int>(threadIdx.x % 4) * (kHeadDim / 4);
  for (int d = first; d < first + kHeadDim / 4; ++d) {
    tile[row * Layout::pitch + d] = row < valid ? read(rows + row * stride + d) : T{};
  }
}

// Neighbouring lanes take neighbouring 16 bytes.
template <class T, int kHeadDim, class Layout>
__device__ inline void load_by_16_bytes(T* tile, const T* rows, int64_t stride, int valid) {
  constexpr int kPieces = kHeadDim / 8;
#pragma unroll
  for (int i = 0; i < kScalarTile * kPieces / kScalarThreads; ++i) {
    const int piece = i * kScalarThreads + static_cast<int>(threadIdx.x);
    const int row = piece / kPieces, d = piece % kPieces * 8;
    uint4 value{};
    if (row < valid) value = __ldg(reinterpret_cast<const uint4*>(rows + row * stride + d));
    *reinterpret_cast<uint4*>(&tile[row * Layout::pitch + d]) = value;
  }
}

// Calls `launch(T{}, head dimension, shape, grid)` for the call's type and head dimension.
template <class Launch>
cudaError_t launch_scalar(const FathomAttention& a, Launch launch) {
  const ScalarShape shape{
      a.q_strides,    a.k_strides,  a.v_strides, a.o_strides,  a.query_heads / a.key_heads,
      a.query_length, a.key_length, a.causal,    exp2_scale(a)};
  const dim3 grid(divide_up(a.query_length, kScalarTile), a.query_heads, a.batch);
  const auto by_type = [&](auto type) {
    return a.head_dim == 64 ? launch(type, std::integral_constant<int, 64>{}, shape, grid)
                            : launch(type, std::integral_constant<int, 128>{}, shape, grid);
  };
  return a.element_type == FATHOM_BFLOAT16 ? by_type(__nv_bfloat16{}) : by_type(__half{});
}

// Starts `kernel(shape, q, k, v, o)`.
template <class T, class Kernel>
cudaError_t start_scalar(Kernel kernel, const FathomAttention& a, const ScalarShape& shape,
                         dim3 grid, int shared_bytes) {
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error != cudaSuccess) return error;
  kernel<<<grid, kScalarThreads, shared_bytes, static_cast<cudaStream_t>(a.stream)>>>(
      shape, static_cast<const T*>(a.q), static_cast<const T*>(a.k), static_cast<const T*>(a.v),
      static_cast<T*>(a.o));
  return cudaGetLastError();
}

}  // namespace fathom::attention
