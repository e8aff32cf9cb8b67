// Faults in how global memory is read and written.
#include <cuda_fp16.h>

#include "pairs.h"

// --- Twice the bytes: fp32 where fp16 holds the values. ---
__global__ void fault_dram_precision(const float* x, const float* y, float* out, size_t n) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n / 4;
       i += size_t(gridDim.x) * blockDim.x) {
    const float4 a = reinterpret_cast<const float4*>(x)[i],
                 b = reinterpret_cast<const float4*>(y)[i];
    reinterpret_cast<float4*>(out)[i] =
        make_float4(2 * a.x + b.x, 2 * a.y + b.y, 2 * a.z + b.z, 2 * a.w + b.w);
  }
}
__global__ void twin_dram_precision(const __half* x, const __half* y, __half* out, size_t n) {
  const __half2 two = __float2half2_rn(2);
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n / 8;
       i += size_t(gridDim.x) * blockDim.x) {
    const uint4 a = reinterpret_cast<const uint4*>(x)[i], b = reinterpret_cast<const uint4*>(y)[i];
    const auto add = [two](unsigned int p, unsigned int q) {
      const __half2 sum =
          __hfma2(two, *reinterpret_cast<__half2*>(&p), *reinterpret_cast<__half2*>(&q));
      return *reinterpret_cast<const unsigned int*>(&sum);
    };
    reinterpret_cast<uint4*>(out)[i] =
        make_uint4(add(a.x, b.x), add(a.y, b.y), add(a.z, b.z), add(a.w, b.w));
  }
}
template <typename T>
__global__ void fill_small(T* x, size_t n, int modulo) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x)
    x[i] = static_cast<T>(static_cast<float>(i % modulo));
}
void dram_precision() {
  const size_t n = size_t(48) << 20;
  DeviceArray<float> x(n), y(n), out(n);
  DeviceArray<__half> hx(n), hy(n), hout(n);
  fill_small<<<1056, 256>>>(x.data, n, 8);
  fill_small<<<1056, 256>>>(y.data, n, 5);
  fill_small<<<1056, 256>>>(hx.data, n, 8);
  fill_small<<<1056, 256>>>(hy.data, n, 5);
  compare(
      "dram_precision", [&] { fault_dram_precision<<<1056, 256>>>(x.data, y.data, out.data, n); },
      [&] { twin_dram_precision<<<1056, 256>>>(hx.data, hy.data, hout.data, n); }, out, hout);
}

// --- Each load waits for the one before it, which holds the address. ---
constexpr unsigned kRows = 1u << 21, kMultiplier = 1664525u, kIncrement = 1013904223u;
__global__ void fill_links(unsigned* rows) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < kRows * 32;
       i += gridDim.x * blockDim.x)
    rows[i] = ((i / 32) * kMultiplier + kIncrement) & (kRows - 1);
}
__global__ void fault_dependent_loads(const unsigned* rows, float* out, int steps) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned row = (thread / 32) * 251u & (kRows - 1), sum = 0;
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
    row = rows[row * 32 + threadIdx.x % 32];
    sum += row;
  }
  out[thread] = static_cast<float>(sum & 0xffff);
}
__global__ void twin_dependent_loads(const unsigned* rows, float* out, int steps) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned row = (thread / 32) * 251u & (kRows - 1), sum = 0;
#pragma unroll 1
  for (int i = 0; i < steps; i += 8) {
    unsigned at[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      at[j] = row;
      row = (row * kMultiplier + kIncrement) & (kRows - 1);
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) at[j] = rows[at[j] * 32 + threadIdx.x % 32];
#pragma unroll
    for (int j = 0; j < 8; ++j) sum += at[j];
  }
  out[thread] = static_cast<float>(sum & 0xffff);
}
void dependent_loads() {
  DeviceArray<unsigned> rows(size_t(kRows) * 32);
  DeviceArray<float> out(1056 * 256);
  fill_links<<<1056, 256>>>(rows.data);
  compare(
      "dependent_loads", [&] { fault_dependent_loads<<<1056, 256>>>(rows.data, out.data, 256); },
      [&] { twin_dependent_loads<<<1056, 256>>>(rows.data, out.data, 256); }, out, out);
}

// --- One load in flight for each thread. ---
__global__ void fault_single_load(const float* x, float* out, size_t n) {
  const size_t thread = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (size_t i = thread; i < n; i += size_t(gridDim.x) * blockDim.x) sum += x[i];
  out[thread] = sum;
}
__global__ void twin_single_load(const float* x, float* out, size_t n) {
  const size_t thread = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  float sum = 0;
#pragma unroll 1
  for (size_t i = thread; i < n; i += 8 * threads) {
    float v[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) v[j] = i + j * threads < n ? x[i + j * threads] : 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) sum += v[j];
  }
  out[thread] = sum;
}
void single_load() {
  const size_t n = size_t(66) << 20;
  DeviceArray<float> x(n), out(1056 * 256);
  fill_small<<<1056, 256>>>(x.data, n, 7);
  compare(
      "single_load", [&] { fault_single_load<<<1056, 256>>>(x.data, out.data, n); },
      [&] { twin_single_load<<<1056, 256>>>(x.data, out.data, n); }, out, out);
}

// --- A thread for each row: neighbours read 4 kB apart. ---
__global__ void fault_strided_loads(const float* x, float* out, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int c = 0; c < columns; ++c) sum += x[size_t(row) * columns + c];
  out[row] = sum;
}
__global__ void twin_strided_loads(const float* x, float* out, int rows, int columns) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  float sum = 0;
  for (int c = threadIdx.x % 32; c < columns; c += 32) sum += x[size_t(row) * columns + c];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0) out[row] = sum;
}
void strided_loads() {
  const int rows = 1 << 16, columns = 1024;
  DeviceArray<float> x(size_t(rows) * columns), out(rows);
  fill_small<<<1056, 256>>>(x.data, x.count, 7);
  compare(
      "strided_loads",
      [&] { fault_strided_loads<<<rows / 128, 128>>>(x.data, out.data, rows, columns); },
      [&] { twin_strided_loads<<<rows / 8, 256>>>(x.data, out.data, rows, columns); }, out, out);
}

// --- A transposition that writes columns. ---
__global__ void fault_strided_stores(const float* x, float* out, int n) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  for (int j = 0; j < 32; j += 8) {
    const int row = blockIdx.y * 32 + threadIdx.y + j;
    out[size_t(column) * n + row] = x[size_t(row) * n + column];
  }
}
__global__ void twin_strided_stores(const float* x, float* out, int n) {
  __shared__ float tile[32][33];
  for (int j = 0; j < 32; j += 8)
    tile[threadIdx.y + j][threadIdx.x] =
        x[size_t(blockIdx.y * 32 + threadIdx.y + j) * n + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  for (int j = 0; j < 32; j += 8)
    out[size_t(blockIdx.x * 32 + threadIdx.y + j) * n + blockIdx.y * 32 + threadIdx.x] =
        tile[threadIdx.x][threadIdx.y + j];
}
void strided_stores() {
  const int n = 8192;
  DeviceArray<float> x(size_t(n) * n), out(size_t(n) * n);
  fill_small<<<1056, 256>>>(x.data, x.count, 7);
  const dim3 grid(n / 32, n / 32), block(32, 8);
  compare(
      "strided_stores", [&] { fault_strided_stores<<<grid, block>>>(x.data, out.data, n); },
      [&] { twin_strided_stores<<<grid, block>>>(x.data, out.data, n); }, out, out);
}

// --- One field of a structure of eight. ---
struct Particle {
  float mass, x, y, z, u, v, w, charge;
};
template <typename Get>
__device__ float sum_of(size_t n, Get get) {
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  float sum = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += 8 * threads) {
    float v[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) v[j] = i + j * threads < n ? get(i + j * threads) : 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) sum += v[j];
  }
  return sum;
}
__global__ void fault_one_field(const Particle* particles, float* out, size_t n) {
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      sum_of(n, [=](size_t i) { return particles[i].mass; });
}
__global__ void twin_one_field(const float* masses, float* out, size_t n) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum_of(n, [=](size_t i) { return masses[i]; });
}
__global__ void fill_masses(Particle* particles, float* masses, size_t n) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x)
    particles[i].mass = masses[i] = static_cast<float>(i % 11);
}
void one_field() {
  const size_t n = size_t(64) << 20;
  DeviceArray<Particle> particles(n);
  DeviceArray<float> masses(n), out(1056 * 256);
  fill_masses<<<1056, 256>>>(particles.data, masses.data, n);
  compare(
      "one_field", [&] { fault_one_field<<<1056, 256>>>(particles.data, out.data, n); },
      [&] { twin_one_field<<<1056, 256>>>(masses.data, out.data, n); }, out, out);
}

// --- Four passes over more data than the L2 holds. ---
__global__ void fault_l2_passes(const float4* x, float* out, size_t n, int passes) {
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  const size_t thread = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int pass = 1; pass <= passes; ++pass)
#pragma unroll 4
    for (size_t i = thread; i < n; i += threads) {
      const float4 v = x[i];
      sum += pass * (v.x + v.y + v.z + v.w);
    }
  out[thread] = sum;
}
__global__ void twin_l2_passes(const float4* x, float* out, size_t n, int passes) {
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  const size_t thread = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  float sum = 0;
#pragma unroll 4
  for (size_t i = thread; i < n; i += threads) {
    const float4 v = x[i];
    for (int pass = 1; pass <= passes; ++pass) sum += pass * (v.x + v.y + v.z + v.w);
  }
  out[thread] = sum;
}
void l2_passes() {
  const size_t n = size_t(66) << 20;
  DeviceArray<float> x(n), out(1056 * 256);
  fill_small<<<1056, 256>>>(x.data, n, 7);
  const auto* vectors = reinterpret_cast<const float4*>(x.data);
  compare(
      "l2_passes", [&] { fault_l2_passes<<<1056, 256>>>(vectors, out.data, n / 4, 4); },
      [&] { twin_l2_passes<<<1056, 256>>>(vectors, out.data, n / 4, 4); }, out, out);
}

// --- Data that stayed in the host's memory. ---
__global__ void fault_host_memory(const float* x, float* out, size_t n) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum_of(n, [=](size_t i) { return x[i]; });
}
__global__ void twin_host_memory(const float* x, float* out, size_t n) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum_of(n, [=](size_t i) { return x[i]; });
}
void host_memory() {
  const size_t n = size_t(66) << 20;
  float* host = nullptr;
  CUDA_OK(cudaHostAlloc(&host, n * sizeof(float), cudaHostAllocMapped));
  for (size_t i = 0; i < n; ++i) host[i] = static_cast<float>(i % 3);
  DeviceArray<float> x(n), out(1056 * 256);
  CUDA_OK(cudaMemcpy(x.data, host, n * sizeof(float), cudaMemcpyHostToDevice));
  compare(
      "host_memory", [&] { fault_host_memory<<<1056, 256>>>(host, out.data, n); },
      [&] { twin_host_memory<<<1056, 256>>>(x.data, out.data, n); }, out, out);
  CUDA_OK(cudaFreeHost(host));
}
