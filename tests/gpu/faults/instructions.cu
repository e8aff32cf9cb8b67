// Faults in shared memory, in what instructions are executed, and in what registers hold.
#include <cuda_fp16.h>
#include <mma.h>

#include "pairs.h"

// --- Columns of a tile of 32 words a row: all lanes in one bank. ---
template <int kWidth>
__device__ float tile_sums(float x, int rounds) {
  __shared__ float tile[8][32][kWidth];
  auto& mine = tile[threadIdx.x / 32];
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < 32; ++i) mine[i][lane] = x + i;
  __syncwarp();
  float sum = 0;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll 8
    for (int i = 0; i < 32; ++i) sum += mine[lane][i];
    sum *= 0.5f;
  }
  return sum;
}
__global__ void fault_bank_column(float* out, int rounds) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = tile_sums<32>(1, rounds);
}
__global__ void twin_bank_column(float* out, int rounds) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = tile_sums<33>(1, rounds);
}
void bank_column() {
  const int blocks = 132 * 6;
  DeviceArray<float> out(blocks * 256);
  compare(
      "bank_column", [&] { fault_bank_column<<<blocks, 256>>>(out.data, 100); },
      [&] { twin_bank_column<<<blocks, 256>>>(out.data, 100); }, out, out);
}

// --- A stride of eight words: eight lanes share a bank. ---
template <int kStride>
__device__ float strided_sums(int rounds) {
  __shared__ float words[2048];
  for (int i = threadIdx.x; i < 2048; i += blockDim.x) words[i] = 1;
  __syncthreads();
  float sum = 0;
#pragma unroll 8
  for (int round = 0; round < rounds; ++round) sum += words[(threadIdx.x * kStride + round) & 2047];
  return sum;
}
__global__ void fault_bank_stride(float* out, int rounds) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = strided_sums<8>(rounds);
}
__global__ void twin_bank_stride(float* out, int rounds) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = strided_sums<1>(rounds);
}
void bank_stride() {
  const int blocks = 132 * 8;
  DeviceArray<float> out(blocks * 256);
  compare(
      "bank_stride", [&] { fault_bank_stride<<<blocks, 256>>>(out.data, 4096); },
      [&] { twin_bank_stride<<<blocks, 256>>>(out.data, 4096); }, out, out);
}

// --- A matrix product without and with tensor cores: C = A B, n × n, n a multiple of 128. ---
__global__ void fill_matrix(__half* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * n; i += gridDim.x * blockDim.x)
    x[i] = __float2half(static_cast<float>(i % 3));
}
__global__ void __launch_bounds__(256)
    fault_tensor_idle(const __half* a, const __half* b, float* c, int n) {
  __shared__ float left[16][64], right[16][64];
  const int row0 = blockIdx.y * 64, column0 = blockIdx.x * 64;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < n; k0 += 16) {
    for (int i = threadIdx.x; i < 1024; i += 256) {
      left[i % 16][i / 16] = __half2float(a[size_t(row0 + i / 16) * n + k0 + i % 16]);
      right[i / 64][i % 64] = __half2float(b[size_t(k0 + i / 64) * n + column0 + i % 64]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float4 x = *reinterpret_cast<const float4*>(&left[k][ty * 4]);
      const float4 y = *reinterpret_cast<const float4*>(&right[k][tx * 4]);
      const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += xs[i] * ys[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[size_t(row0 + ty * 4 + i) * n + column0 + tx * 4 + j] = sum[i][j];
}

using FragmentA =
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __half, nvcuda::wmma::row_major>;
using FragmentB =
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __half, nvcuda::wmma::row_major>;
using FragmentC = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float>;

// Tiles of 128 × 128 staged in shared memory, eight warps of 64 × 32.
__device__ void staged_product(const __half* a, const __half* b, float* c, int n) {
  constexpr int kDepth = 32, kPadA = kDepth + 8, kPadB = 128 + 8;
  __shared__ __align__(16) __half left[2][128 * kPadA], right[2][kDepth * kPadB];
  const int row0 = blockIdx.y * 128, column0 = blockIdx.x * 128;
  const int warp = threadIdx.x / 32, warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;
  FragmentC sum[4][2];
  for (auto& line : sum)
    for (auto& tile : line) nvcuda::wmma::fill_fragment(tile, 0.f);
  uint4 next_a[2], next_b[2];
  const auto fetch = [&](int k0) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int at = threadIdx.x + i * 256;
      next_a[i] = *reinterpret_cast<const uint4*>(a + size_t(row0 + at / 4) * n + k0 + at % 4 * 8);
      next_b[i] =
          *reinterpret_cast<const uint4*>(b + size_t(k0 + at / 16) * n + column0 + at % 16 * 8);
    }
  };
  const auto store = [&](int stage) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int at = threadIdx.x + i * 256;
      *reinterpret_cast<uint4*>(&left[stage][at / 4 * kPadA + at % 4 * 8]) = next_a[i];
      *reinterpret_cast<uint4*>(&right[stage][at / 16 * kPadB + at % 16 * 8]) = next_b[i];
    }
  };
  fetch(0);
  store(0);
  __syncthreads();
  for (int k0 = 0, stage = 0; k0 < n; k0 += kDepth, stage ^= 1) {
    if (k0 + kDepth < n) fetch(k0 + kDepth);
#pragma unroll
    for (int k = 0; k < kDepth; k += 16) {
      FragmentA x[4];
      FragmentB y[2];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        nvcuda::wmma::load_matrix_sync(x[i], &left[stage][(warp_row + i * 16) * kPadA + k], kPadA);
#pragma unroll
      for (int j = 0; j < 2; ++j)
        nvcuda::wmma::load_matrix_sync(y[j], &right[stage][k * kPadB + warp_column + j * 16],
                                       kPadB);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) nvcuda::wmma::mma_sync(sum[i][j], x[i], y[j], sum[i][j]);
    }
    if (k0 + kDepth < n) store(stage ^ 1);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 2; ++j)
      nvcuda::wmma::store_matrix_sync(
          c + size_t(row0 + warp_row + i * 16) * n + column0 + warp_column + j * 16, sum[i][j], n,
          nvcuda::wmma::mem_row_major);
}
__global__ void __launch_bounds__(256)
    twin_tensor_idle(const __half* a, const __half* b, float* c, int n) {
  staged_product(a, b, c, n);
}
__global__ void __launch_bounds__(256)
    twin_tensor_starved(const __half* a, const __half* b, float* c, int n) {
  staged_product(a, b, c, n);
}
// Each product of fragments reads both again from global memory.
__global__ void fault_tensor_starved(const __half* a, const __half* b, float* c, int n) {
  const int warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int row = warp / (n / 16) * 16, column = warp % (n / 16) * 16;
  FragmentC sum;
  nvcuda::wmma::fill_fragment(sum, 0.f);
#pragma unroll 1
  for (int k = 0; k < n; k += 16) {
    FragmentA x;
    FragmentB y;
    nvcuda::wmma::load_matrix_sync(x, a + size_t(row) * n + k, n);
    nvcuda::wmma::load_matrix_sync(y, b + size_t(k) * n + column, n);
    nvcuda::wmma::mma_sync(sum, x, y, sum);
  }
  nvcuda::wmma::store_matrix_sync(c + size_t(row) * n + column, sum, n,
                                  nvcuda::wmma::mem_row_major);
}
void tensor_idle() {
  const int n = 2048;
  DeviceArray<__half> a(n * n), b(n * n);
  DeviceArray<float> c(n * n);
  fill_matrix<<<132, 256>>>(a.data, n);
  fill_matrix<<<132, 256>>>(b.data, n);
  compare(
      "tensor_idle",
      [&] { fault_tensor_idle<<<dim3(n / 64, n / 64), 256>>>(a.data, b.data, c.data, n); },
      [&] { twin_tensor_idle<<<dim3(n / 128, n / 128), 256>>>(a.data, b.data, c.data, n); }, c, c);
}
void tensor_starved() {
  const int n = 2048;
  DeviceArray<__half> a(n * n), b(n * n);
  DeviceArray<float> c(n * n);
  fill_matrix<<<132, 256>>>(a.data, n);
  fill_matrix<<<132, 256>>>(b.data, n);
  compare(
      "tensor_starved",
      [&] { fault_tensor_starved<<<n / 16 * (n / 16) / 8, 256>>>(a.data, b.data, c.data, n); },
      [&] { twin_tensor_starved<<<dim3(n / 128, n / 128), 256>>>(a.data, b.data, c.data, n); }, c,
      c);
}

// --- Bits counted one by one. ---
__global__ void fill_numbers(unsigned* x, size_t n) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x)
    x[i] = static_cast<unsigned>(i) * 2654435761u;
}
__device__ unsigned bits_by_loop(unsigned value) {
  unsigned bits = 0;
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    // What the compiler cannot turn into its own count.
    unsigned bit = value >> i;
    asm volatile("and.b32 %0, %0, 1;" : "+r"(bit));
    bits += bit;
  }
  return bits;
}
template <typename Count>
__device__ float count_bits(const uint4* x, size_t n, Count count) {
  unsigned sum = 0;
#pragma unroll 4
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x) {
    const uint4 v = x[i];
    sum += count(v.x) + count(v.y) + count(v.z) + count(v.w);
  }
  return static_cast<float>(sum);
}
__global__ void fault_bit_loop(const uint4* x, float* out, size_t n) {
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      count_bits(x, n, [](unsigned v) { return bits_by_loop(v); });
}
__global__ void twin_bit_loop(const uint4* x, float* out, size_t n) {
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      count_bits(x, n, [](unsigned v) { return unsigned(__popc(v)); });
}
void bit_loop() {
  const size_t n = size_t(66) << 20;
  DeviceArray<unsigned> x(n);
  DeviceArray<float> out(1056 * 256);
  fill_numbers<<<1056, 256>>>(x.data, n);
  const auto* vectors = reinterpret_cast<const uint4*>(x.data);
  compare(
      "bit_loop", [&] { fault_bit_loop<<<1056, 256>>>(vectors, out.data, n / 4); },
      [&] { twin_bit_loop<<<1056, 256>>>(vectors, out.data, n / 4); }, out, out);
}

// --- Literals of type double in a float's arithmetic. ---
__global__ void fault_double_literal(float* out, int steps) {
  float x = threadIdx.x, y = threadIdx.x + 1;
  for (int i = 0; i < steps; ++i) {
    x = x * 0.5 + 1.0;
    y = y * 0.5 + 1.0;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x + y;
}
__global__ void twin_double_literal(float* out, int steps) {
  float x = threadIdx.x, y = threadIdx.x + 1;
  for (int i = 0; i < steps; ++i) {
    x = x * 0.5f + 1.0f;
    y = y * 0.5f + 1.0f;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x + y;
}
void double_literal() {
  const int blocks = 132 * 8;
  DeviceArray<float> out(blocks * 256);
  compare(
      "double_literal", [&] { fault_double_literal<<<blocks, 256>>>(out.data, 4096); },
      [&] { twin_double_literal<<<blocks, 256>>>(out.data, 4096); }, out, out);
}

// --- Positions worked out by division of 64-bit numbers, against multiplication and shift: hidden
// behind DRAM on an H200, so no fault there. ---
struct Extents {
  unsigned by[4];  // divisors that only the host knows
  unsigned multiplier[4], shift[4];
};
__global__ void fault_int_division(const float4* x, float4* out, Extents e, size_t n) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x) {
    size_t rest = i, parts = 0;
#pragma unroll
    for (int d = 0; d < 4; ++d) {
      const size_t by = e.by[d], quotient = rest / by;
      parts += rest - quotient * by;
      rest = quotient;
    }
    const float4 v = x[i];
    const float add = static_cast<float>(parts & 15);
    out[i] = make_float4(v.x + add, v.y + add, v.z + add, v.w + add);
  }
}
__global__ void twin_int_division(const float4* x, float4* out, Extents e, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned rest = i, parts = 0;
#pragma unroll
    for (int d = 0; d < 4; ++d) {
      const unsigned quotient = (__umulhi(rest, e.multiplier[d]) + rest) >> e.shift[d];
      parts += rest - quotient * e.by[d];
      rest = quotient;
    }
    const float4 v = x[i];
    const float add = static_cast<float>(parts & 15);
    out[i] = make_float4(v.x + add, v.y + add, v.z + add, v.w + add);
  }
}
void int_division() {
  const unsigned n = 16u << 20;
  Extents e{{7, 13, 29, 57}, {}, {}};
  for (int d = 0; d < 4; ++d) {
    // The round-up method, as CUTLASS's FastDivmod: exact for numerators below 2^31.
    unsigned shift = 0;
    while ((1u << shift) < e.by[d]) ++shift;
    e.shift[d] = shift;
    e.multiplier[d] = static_cast<unsigned>(
        ((uint64_t(1) << 32) * ((uint64_t(1) << shift) - e.by[d])) / e.by[d] + 1);
  }
  DeviceArray<float> x(size_t(n) * 4), out(size_t(n) * 4);
  const auto* from = reinterpret_cast<const float4*>(x.data);
  auto* to = reinterpret_cast<float4*>(out.data);
  compare(
      "int_division", [&] { fault_int_division<<<1056, 256>>>(from, to, e, n); },
      [&] { twin_int_division<<<1056, 256>>>(from, to, e, n); }, out, out);
}

// --- Each power of a polynomial multiplied up from the start, against Horner's rule: hidden too.
// ---
constexpr int kDegree = 14;
__device__ float by_powers(float x) {
  float sum = 1;
#pragma unroll
  for (int degree = 1; degree <= kDegree; ++degree) {
    float power = x;
    // What the compiler cannot share between degrees.
    asm volatile("" : "+f"(power));
#pragma unroll
    for (int i = 1; i < degree; ++i) power *= x;
    sum += power * 0.25f;
  }
  return sum;
}
__device__ float by_horner(float x) {
  float sum = 0.25f;
#pragma unroll
  for (int degree = 1; degree < kDegree; ++degree) sum = sum * x + 0.25f;
  return sum * x + 1;
}
template <typename Function>
__device__ void map_all(const float4* x, float4* out, size_t n, Function function) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x) {
    const float4 v = x[i];
    out[i] = make_float4(function(v.x), function(v.y), function(v.z), function(v.w));
  }
}
__global__ void fault_many_instructions(const float4* x, float4* out, size_t n) {
  map_all(x, out, n, [](float v) { return by_powers(v); });
}
__global__ void twin_many_instructions(const float4* x, float4* out, size_t n) {
  map_all(x, out, n, [](float v) { return by_horner(v); });
}
__global__ void fill_halves(float* x, size_t n) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x)
    x[i] = 0.25f * static_cast<float>(i % 4);
}
void many_instructions() {
  const size_t n = size_t(66) << 20;
  DeviceArray<float> x(n), out(n);
  fill_halves<<<1056, 256>>>(x.data, n);
  const auto* from = reinterpret_cast<const float4*>(x.data);
  auto* to = reinterpret_cast<float4*>(out.data);
  compare(
      "many_instructions", [&] { fault_many_instructions<<<1056, 256>>>(from, to, n / 4); },
      [&] { twin_many_instructions<<<1056, 256>>>(from, to, n / 4); }, out, out);
}

// --- 72 sums in 40 registers. ---
constexpr int kSums = 72;
__device__ float many_sums(const float* x, int steps) {
  float sum[kSums] = {};
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
    const float value = x[i * 32 + threadIdx.x % 32];
#pragma unroll
    for (int j = 0; j < kSums; ++j) sum[j] = sum[j] * 0.5f + value * j;
  }
  float all = 0;
#pragma unroll
  for (int j = 0; j < kSums; ++j) all += sum[j];
  return all;
}
__global__ void __maxnreg__(40) fault_register_spills(const float* x, float* out, int steps) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = many_sums(x, steps);
}
__global__ void twin_register_spills(const float* x, float* out, int steps) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = many_sums(x, steps);
}
__global__ void fill_steps(float* x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = static_cast<float>(i % 3);
}
void register_spills() {
  const int blocks = 132 * 4, steps = 512;
  DeviceArray<float> x(steps * 32), out(blocks * 256);
  fill_steps<<<1, 256>>>(x.data, steps * 32);
  compare(
      "register_spills", [&] { fault_register_spills<<<blocks, 256>>>(x.data, out.data, steps); },
      [&] { twin_register_spills<<<blocks, 256>>>(x.data, out.data, steps); }, out, out);
}

// --- An array of a thread indexed by data lies in local memory. ---
__global__ void fault_local_array(const unsigned* x, float* out, int steps) {
  float bins[32] = {};
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned value = x[thread];
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
    bins[value >> 27] += 1;
    value = value * 1664525u + 1013904223u;
  }
  float sum = 0;
  for (int i = 0; i < 32; ++i) sum += bins[i] * i;
  out[thread] = sum;
}
__global__ void twin_local_array(const unsigned* x, float* out, int steps) {
  __shared__ float bins[32][128];
  for (int i = 0; i < 32; ++i) bins[i][threadIdx.x] = 0;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned value = x[thread];
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
    bins[value >> 27][threadIdx.x] += 1;
    value = value * 1664525u + 1013904223u;
  }
  float sum = 0;
  for (int i = 0; i < 32; ++i) sum += bins[i][threadIdx.x] * i;
  out[thread] = sum;
}
void local_array() {
  const int blocks = 132 * 13, threads = 128;
  DeviceArray<unsigned> x(blocks * threads);
  DeviceArray<float> out(blocks * threads);
  fill_numbers<<<132, 256>>>(x.data, x.count);
  compare(
      "local_array", [&] { fault_local_array<<<blocks, threads>>>(x.data, out.data, 1024); },
      [&] { twin_local_array<<<blocks, threads>>>(x.data, out.data, 1024); }, out, out);
}

// --- Lanes of a warp take eight different branches. ---
__device__ float branch_of(unsigned key, float x, int steps) {
  switch (key) {
#define ONE_BRANCH(k)                                                                 \
  case k:                                                                             \
    _Pragma("unroll 4") for (int i = 0; i < steps; ++i) x = x * (0.1f * (k + 1)) + k; \
    return x;
    ONE_BRANCH(0)
    ONE_BRANCH(1)
    ONE_BRANCH(2)
    ONE_BRANCH(3)
    ONE_BRANCH(4)
    ONE_BRANCH(5)
    ONE_BRANCH(6)
    ONE_BRANCH(7)
#undef ONE_BRANCH
  }
  return x;
}
__global__ void fault_divergence(const unsigned* keys, float* out, int steps) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  out[thread] = branch_of(keys[thread], 1, steps);
}
__global__ void twin_divergence(const unsigned* keys, float* out, int steps) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  out[thread] = branch_of(keys[thread], 1, steps);
}
void divergence() {
  const int blocks = 132 * 8, threads = blocks * 256;
  std::vector<unsigned> mixed(threads), sorted(threads);
  for (int i = 0; i < threads; ++i) {
    mixed[i] = i % 8;
    sorted[i] = i / 32 % 8;
  }
  DeviceArray<unsigned> first(threads), second(threads);
  first.upload(mixed);
  second.upload(sorted);
  DeviceArray<float> out(threads);
  compare(
      "divergence", [&] { fault_divergence<<<blocks, 256>>>(first.data, out.data, 2048); },
      [&] { twin_divergence<<<blocks, 256>>>(second.data, out.data, 2048); }, out, out);
}
