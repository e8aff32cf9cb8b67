// Matrix products C = A B^T with A [m][k], B [n][k]: two faulty ones, their twins, and a clean one.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include "blind2.h"

namespace {

using namespace nvcuda;

constexpr int kM = 4096, kN = 2048, kK = 2048, kSquare = 4096;

// 128 x 128 of C by eight warps of 64 x 32; three stages of 64 columns in shared memory.
constexpr int kTile = 128, kDepth = 64, kPitch = kDepth + 8, kStages = 3;
constexpr int kStage = 2 * kTile * kPitch;
constexpr int kBytes = kStages * kStage * 2;

// a, b and stage point at the thread's first 16 bytes; its others are 32 rows apart.
template <int k, class T>
__device__ void load_stage(const T* a, const T* b, T* stage) {
#pragma unroll
  for (int j = 0; j < kTile / 32; ++j) {
    __pipeline_memcpy_async(stage + j * 32 * kPitch, a + j * 32 * k, 16);
    __pipeline_memcpy_async(stage + (kTile + j * 32) * kPitch, b + j * 32 * k, 16);
  }
}
template <int n, int k, class T>
__device__ void tensor_product(const T* a, const T* b, float* c) {
  extern __shared__ __align__(128) unsigned char memory[];
  T* stages = reinterpret_cast<T*>(memory);
  const int load_row = threadIdx.x / 8, load_column = threadIdx.x % 8 * 8;
  a += static_cast<size_t>(blockIdx.y * kTile + load_row) * k + load_column;
  b += static_cast<size_t>(blockIdx.x * kTile + load_row) * k + load_column;
  T* mine = stages + load_row * kPitch + load_column;
  const int warp = threadIdx.x / 32, row = warp / 4 * 64, column = warp % 4 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4][2];
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
  const int blocks = k / kDepth;
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    load_stage<k>(a + s * kDepth, b + s * kDepth, mine + s * kStage);
    __pipeline_commit();
  }
#pragma unroll 1
  for (int at = 0; at < blocks; ++at) {
    __pipeline_wait_prior(kStages - 2);
    __syncthreads();
    const int next = at + kStages - 1;
    if (next < blocks)
      load_stage<k>(a + next * kDepth, b + next * kDepth, mine + next % kStages * kStage);
    __pipeline_commit();
    const T* tile = stages + at % kStages * kStage;
#pragma unroll
    for (int step = 0; step < kDepth; step += 16) {
      wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> right[2];
#pragma unroll
      for (int j = 0; j < 2; ++j)
        wmma::load_matrix_sync(right[j], tile + (kTile + column + j * 16) * kPitch + step, kPitch);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> left;
        wmma::load_matrix_sync(left, tile + (row + i * 16) * kPitch + step, kPitch);
#pragma unroll
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], left, right[j], sum[i][j]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 2; ++j)
      wmma::store_matrix_sync(c + static_cast<size_t>(blockIdx.y * kTile + row + i * 16) * n +
                                  blockIdx.x * kTile + column + j * 16,
                              sum[i][j], n, wmma::mem_row_major);
}

// FP32 multiply-adds from shared memory: the arithmetic of a kernel written before tensor cores.
__global__ void __launch_bounds__(256)
    linear_fp32_a(const __half* __restrict__ a, const __half* __restrict__ b, float* __restrict__ c,
                  int n, int k) {
  __shared__ __align__(16) float left[16][68], right[16][68];
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const int load_row = threadIdx.x / 4, load_column = threadIdx.x % 4 * 4;
  const __half* from_a = a + static_cast<size_t>(blockIdx.y * 64 + load_row) * k + load_column;
  const __half* from_b = b + static_cast<size_t>(blockIdx.x * 64 + load_row) * k + load_column;
  float sum[4][4] = {};
  for (int depth = 0; depth < k; depth += 16) {
    const uint2 words_a = *reinterpret_cast<const uint2*>(from_a + depth);
    const uint2 words_b = *reinterpret_cast<const uint2*>(from_b + depth);
    const __half* ha = reinterpret_cast<const __half*>(&words_a);
    const __half* hb = reinterpret_cast<const __half*>(&words_b);
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      left[load_column + j][load_row] = __half2float(ha[j]);
      right[load_column + j][load_row] = __half2float(hb[j]);
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < 16; ++d) {
      const float4 l = *reinterpret_cast<const float4*>(&left[d][y * 4]);
      const float4 r = *reinterpret_cast<const float4*>(&right[d][x * 4]);
      const float lv[4] = {l.x, l.y, l.z, l.w}, rv[4] = {r.x, r.y, r.z, r.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] = fmaf(lv[i], rv[j], sum[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    *reinterpret_cast<float4*>(c + static_cast<size_t>(blockIdx.y * 64 + y * 4 + i) * n +
                               blockIdx.x * 64 + x * 4) =
        make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}
__global__ void __launch_bounds__(256, 2)
    linear_fp32_b(const __half* __restrict__ a, const __half* __restrict__ b,
                  float* __restrict__ c) {
  tensor_product<kN, kK>(a, b, c);
}

// Fragments straight from global memory, used as soon as they are loaded. A warp makes 32 x 32 of
// C.
__global__ void __launch_bounds__(256)
    linear_direct_a(const __half* __restrict__ a, const __half* __restrict__ b,
                    float* __restrict__ c, int n, int k) {
  const int warp = threadIdx.x / 32;
  const int row = blockIdx.y * 64 + warp / 4 * 32, column = blockIdx.x * 128 + warp % 4 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
#pragma unroll
  for (int i = 0; i < 4; ++i) wmma::fill_fragment(sum[i / 2][i % 2], 0.0f);
#pragma unroll 1
  for (int depth = 0; depth < k; depth += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      wmma::load_matrix_sync(left[i], a + static_cast<size_t>(row + i * 16) * k + depth, k);
      wmma::load_matrix_sync(right[i], b + static_cast<size_t>(column + i * 16) * k + depth, k);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
      wmma::mma_sync(sum[i / 2][i % 2], left[i / 2], right[i % 2], sum[i / 2][i % 2]);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    wmma::store_matrix_sync(c + static_cast<size_t>(row + i / 2 * 16) * n + column + i % 2 * 16,
                            sum[i / 2][i % 2], n, wmma::mem_row_major);
}
__global__ void __launch_bounds__(256, 2)
    linear_direct_b(const __half* __restrict__ a, const __half* __restrict__ b,
                    float* __restrict__ c) {
  tensor_product<kN, kK>(a, b, c);
}
__global__ void __launch_bounds__(256, 2)
    clean_gemm(const __half* __restrict__ a, const __half* __restrict__ b, float* __restrict__ c) {
  tensor_product<kSquare, kSquare>(a, b, c);
}

std::vector<__half> halves(size_t count, uint64_t seed) {
  Random random(seed);
  return tiled<__half>(count, [&] { return __float2half(random.next() * 0x1p-31f - 1); });
}
struct Linear : Case {
  Buffer<__half> a{halves(size_t{kM} * kK, 51)}, b{halves(size_t{kN} * kK, 52)};
  Buffer<float> c{size_t{kM} * kN};
  void clear() override { c.clear(); }
  std::vector<float> result(bool) override { return c.as_floats(); }
};
struct LinearFp32 : Linear {
  void run(bool fixed) override {
    if (fixed) {
      CHECK(
          cudaFuncSetAttribute(linear_fp32_b, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
      linear_fp32_b<<<dim3(kN / kTile, kM / kTile), 256, kBytes>>>(a, b, c);
    } else {
      linear_fp32_a<<<dim3(kN / 64, kM / 64), 256>>>(a, b, c, kN, kK);
    }
  }
};
PAIR(LinearFp32, "linear_fp32", 1e-3);

struct LinearDirect : Linear {
  void run(bool fixed) override {
    if (fixed) {
      CHECK(cudaFuncSetAttribute(linear_direct_b, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 kBytes));
      linear_direct_b<<<dim3(kN / kTile, kM / kTile), 256, kBytes>>>(a, b, c);
    } else {
      linear_direct_a<<<dim3(kN / 128, kM / 64), 256>>>(a, b, c, kN, kK);
    }
  }
};
PAIR(LinearDirect, "linear_direct", 1e-3);

struct CleanGemm : Case {
  static constexpr int kSize = kSquare;
  std::vector<__half> host_a, host_b;
  std::unique_ptr<Buffer<__half>> a, b;
  Buffer<float> c{size_t{kSize} * kSize};
  CleanGemm() {
    Random random(53);
    const auto make = [&] { return __float2half(random.next() * 0x1p-31f - 1); };
    host_a = tiled<__half>(size_t{kSize} * kSize, make);
    host_b = tiled<__half>(size_t{kSize} * kSize, make);
    a = std::make_unique<Buffer<__half>>(host_a);
    b = std::make_unique<Buffer<__half>>(host_b);
  }
  void clear() override { c.clear(); }
  void run(bool) override {
    CHECK(cudaFuncSetAttribute(clean_gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    clean_gemm<<<dim3(kSize / kTile, kSize / kTile), 256, kBytes>>>(*a, *b, c);
  }
  std::vector<float> result(bool fixed) override {
    std::vector<float> values, all = fixed ? c.download() : std::vector<float>();
    for (int s = 0; s < 200; ++s) {
      const size_t row = s * 1237 % kSize, column = s * 911 % kSize;
      double sum = 0;
      if (!fixed)
        for (int k = 0; k < kSize; ++k)
          sum += double(__half2float(host_a[row * kSize + k])) *
                 __half2float(host_b[column * kSize + k]);
      values.push_back(fixed ? all[row * kSize + column] : static_cast<float>(sum));
    }
    return values;
  }
};
CLEAN(CleanGemm, "clean_gemm", 1e-3);

}  // namespace
