// Faults in how work is spread over warps, blocks and multiprocessors.
#include "pairs.h"

// --- Occupancy: rows read one after another, each address from the row before. ---
constexpr unsigned kGatherRows = 1u << 20;
__device__ float last_of(const float4& v) { return v.w; }
__device__ float last_of(const float2& v) { return v.y; }
__device__ float sum_of(const float4& v) { return v.x + v.y + v.z; }
__device__ float sum_of(const float2& v) { return v.x; }
// The last component of each vector is zero, which the compiler cannot know.
template <typename Vector>
__device__ float gather(const Vector* rows, unsigned warp, int steps) {
  unsigned row = warp * 251u & (kGatherRows - 1);
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
    const Vector v = rows[size_t(row) * 32 + threadIdx.x % 32];
    sum += sum_of(v);
    row = (row * 1664525u + 1013904223u + __float_as_uint(last_of(v))) & (kGatherRows - 1);
  }
  return sum;
}
__global__ void fill_rows(float* rows, size_t n, int width) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x)
    rows[i] = static_cast<int>(i % width) == width - 1 ? 0.f : static_cast<float>(i % 5);
}

constexpr int kKept = 192;
__device__ float read_now(const float* at) {
  float value;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(at));
  return value;
}
__global__ void fault_occupancy_registers(const float4* rows, const float* table, float* out,
                                          int steps) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  float kept[kKept];
#pragma unroll
  for (int i = 0; i < kKept; ++i) kept[i] = read_now(table + i * 32 + threadIdx.x % 32);
  float sum = gather(rows, thread / 32, steps);
#pragma unroll
  for (int i = 0; i < kKept; ++i) sum = sum * 0.5f + kept[i];
  out[thread] = sum;
}
__global__ void twin_occupancy_registers(const float4* rows, const float* table, float* out,
                                         int steps) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = gather(rows, thread / 32, steps);
#pragma unroll 8
  for (int i = 0; i < kKept; ++i) sum = sum * 0.5f + read_now(table + i * 32 + threadIdx.x % 32);
  out[thread] = sum;
}
void occupancy_registers() {
  const int blocks = 132 * 16, threads = 256;
  DeviceArray<float> rows(size_t(kGatherRows) * 128), table(kKept * 32), out(blocks * threads);
  fill_rows<<<1056, 256>>>(rows.data, rows.count, 4);
  const auto* vectors = reinterpret_cast<const float4*>(rows.data);
  compare(
      "occupancy_registers",
      [&] { fault_occupancy_registers<<<blocks, threads>>>(vectors, table.data, out.data, 32); },
      [&] { twin_occupancy_registers<<<blocks, threads>>>(vectors, table.data, out.data, 32); },
      out, out);
}

__global__ void fault_occupancy_shared(const float4* rows, float* out, int steps) {
  extern __shared__ float scratch[];
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  scratch[threadIdx.x] = gather(rows, thread / 32, steps);
  out[thread] = scratch[threadIdx.x];
}
__global__ void twin_occupancy_shared(const float4* rows, float* out, int steps) {
  extern __shared__ float scratch[];
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  scratch[threadIdx.x] = gather(rows, thread / 32, steps);
  out[thread] = scratch[threadIdx.x];
}
void occupancy_shared() {
  const int blocks = 132 * 16, threads = 256, large = 100 << 10;
  CUDA_OK(cudaFuncSetAttribute(fault_occupancy_shared, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               large));
  DeviceArray<float> rows(size_t(kGatherRows) * 128), out(blocks * threads);
  fill_rows<<<1056, 256>>>(rows.data, rows.count, 4);
  const auto* vectors = reinterpret_cast<const float4*>(rows.data);
  compare(
      "occupancy_shared",
      [&] { fault_occupancy_shared<<<blocks, threads, large>>>(vectors, out.data, 32); },
      [&] { twin_occupancy_shared<<<blocks, threads, 4 * threads>>>(vectors, out.data, 32); }, out,
      out);
}

__global__ void fault_occupancy_block(const float2* rows, float* out, int steps) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  out[thread] = gather(rows, thread / 32, steps);
}
__global__ void twin_occupancy_block(const float2* rows, float* out, int steps) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  out[thread] = gather(rows, thread / 32, steps);
}
void occupancy_block() {
  const int warps = 132 * 64 * 2;
  DeviceArray<float> rows(size_t(kGatherRows) * 64), out(warps * 32);
  fill_rows<<<1056, 256>>>(rows.data, rows.count, 2);
  const auto* vectors = reinterpret_cast<const float2*>(rows.data);
  compare(
      "occupancy_block", [&] { fault_occupancy_block<<<warps, 32>>>(vectors, out.data, 64); },
      [&] { twin_occupancy_block<<<warps / 8, 256>>>(vectors, out.data, 64); }, out, out);
}

// --- 16 blocks for a GPU of 132 multiprocessors. ---
__device__ void copy_all(const float4* x, float4* out, size_t n) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x)
    out[i] = x[i];
}
__global__ void fault_few_blocks(const float4* x, float4* out, size_t n) { copy_all(x, out, n); }
__global__ void twin_few_blocks(const float4* x, float4* out, size_t n) { copy_all(x, out, n); }
void few_blocks() {
  const size_t n = size_t(32) << 20;
  DeviceArray<float> x(n), out(n);
  fill_rows<<<1056, 256>>>(x.data, n, 4);
  const auto* from = reinterpret_cast<const float4*>(x.data);
  auto* to = reinterpret_cast<float4*>(out.data);
  compare(
      "few_blocks", [&] { fault_few_blocks<<<16, 256>>>(from, to, n / 4); },
      [&] { twin_few_blocks<<<1056, 256>>>(from, to, n / 4); }, out, out);
}

// --- Arithmetic in registers only. ---
__device__ float polynomial(float x, int steps) {
  float a = x, b = x + 1, c = x + 2, d = x + 3;
#pragma unroll 4
  for (int i = 0; i < steps; ++i) {
    a = a * 0.5f + 1;
    b = b * 0.5f + 1;
    c = c * 0.5f + 1;
    d = d * 0.5f + 1;
  }
  return a + b + c + d;
}

// One block more for each of eight multiprocessors than fits at once: a second, nearly empty wave.
__global__ void __launch_bounds__(1024, 2) fault_wave_tail(float* out, int steps) {
  if (polynomial(threadIdx.x, steps) < -1) out[0] = 1;
}
__global__ void __launch_bounds__(1024, 2) twin_wave_tail(float* out, int steps) {
  if (polynomial(threadIdx.x, steps) < -1) out[0] = 1;
}
void wave_tail() {
  DeviceArray<float> out(32);
  const int blocks = 2 * 132 + 8, finer = 16, steps = 4096;
  compare(
      "wave_tail", [&] { fault_wave_tail<<<blocks, 1024>>>(out.data, steps); },
      [&] { twin_wave_tail<<<blocks * finer, 1024>>>(out.data, steps / finer); }, out, out);
}

// Later blocks have more to do.
__global__ void __launch_bounds__(1024, 2) fault_imbalance(float* out, int steps) {
  if (polynomial(threadIdx.x, steps * blockIdx.x) < -1) out[0] = 1;
}
__global__ void __launch_bounds__(1024, 2) twin_imbalance(float* out, int steps) {
  const int half = steps / 2;
  float sum = polynomial(threadIdx.x, half * blockIdx.x);
  sum += polynomial(threadIdx.x + 1, half * (gridDim.x - 1 - blockIdx.x));
  if (sum < -1) out[0] = 1;
}
void imbalance() {
  DeviceArray<float> out(32);
  const int blocks = 2 * 132, steps = 32;
  compare(
      "imbalance", [&] { fault_imbalance<<<blocks, 1024>>>(out.data, steps); },
      [&] { twin_imbalance<<<blocks, 1024>>>(out.data, steps); }, out, out);
}

// --- All warps wait for the one that prepares the next value. ---
__device__ float prepared(float x) {
#pragma unroll 1
  for (int i = 0; i < 64; ++i) x = x * 0.5f + 1;
  return x;
}
__global__ void fault_block_sync(float* out, int rounds) {
  __shared__ float value[32];
  float sum = 0;
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x < 32) value[threadIdx.x] = prepared(static_cast<float>(round % 7));
    __syncthreads();
    sum += value[threadIdx.x % 32];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void twin_block_sync(float* out, int rounds) {
  __shared__ float value[16][32];
  float sum = 0;
  for (int round = 0; round < rounds; round += 16) {
    const int warp = threadIdx.x / 32;
    value[warp][threadIdx.x % 32] = prepared(static_cast<float>((round + warp) % 7));
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += value[i][threadIdx.x % 32];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
void block_sync() {
  const int blocks = 132 * 4, rounds = 1024;
  DeviceArray<float> out(blocks * 512);
  compare(
      "block_sync", [&] { fault_block_sync<<<blocks, 512>>>(out.data, rounds); },
      [&] { twin_block_sync<<<blocks, 512>>>(out.data, rounds); }, out, out);
}

// --- A kernel of two microseconds for each step, and a host that is slower than that. ---
__device__ float one_step(float x) { return x * 0.5f + 1; }
__global__ void fault_tiny_steps(float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = one_step(x[i]);
}
__global__ void twin_tiny_steps(float* x, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = x[i];
#pragma unroll 1
  for (int step = 0; step < steps; ++step) value = one_step(value);
  x[i] = value;
}
void tiny_steps() {
  const int blocks = 132, threads = 256, steps = 300;
  DeviceArray<float> x(blocks * threads);
  const auto host_work = [] {
    volatile double sum = 0;
    for (int i = 0; i < 4000; ++i) sum = sum + i;
  };
  compare(
      "tiny_steps",
      [&] {
        for (int i = 0; i < steps; ++i) {
          host_work();
          fault_tiny_steps<<<blocks, threads>>>(x.data);
        }
      },
      [&] { twin_tiny_steps<<<blocks, threads>>>(x.data, steps); }, x, x);
}
