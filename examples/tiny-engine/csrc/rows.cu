// Rows of an embedding table gathered, and rows of keys and values scattered into a paged cache.
#include <cuda_runtime.h>

#include "copy.cuh"

namespace tiny {
namespace {

template <typename Index, int kThreads>
__global__ __launch_bounds__(kThreads) void gather_rows(char* out, const char* table, const Index* rows,
                                                        int count, int row_bytes) {
  const int row = blockIdx.x * (kThreads / kWarp) + threadIdx.x / kWarp;
  if (row >= count) return;
  const auto from = static_cast<int64_t>(rows[row]);
  copy_row(out + int64_t{row} * row_bytes, table + from * row_bytes, row_bytes, threadIdx.x % kWarp);
}

template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    scatter_rows(char* cache, const char* rows, const int* slots, int count, int row_bytes) {
  const int row = blockIdx.x * (kThreads / kWarp) + threadIdx.x / kWarp;
  if (row >= count) return;
  const int slot = slots[row];
  copy_row(cache + int64_t{slot} * row_bytes, rows + int64_t{row} * row_bytes, row_bytes,
           threadIdx.x % kWarp);
}

// Kept from an earlier version; nothing launches it.
__global__ void gather_rows_by_thread(float* out, const float* table, const int* rows, int width) {
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    out[blockIdx.x * width + i] = table[rows[blockIdx.x] * width + i];
  }
}

constexpr int kThreads = 128;
int blocks(int rows) { return (rows + kThreads / kWarp - 1) / (kThreads / kWarp); }

}  // namespace
}  // namespace tiny

extern "C" void tiny_gather_rows(void* out, const void* table, const void* rows, int index_bytes,
                                 int count, int row_bytes, cudaStream_t stream) {
  using namespace tiny;
  auto* to = static_cast<char*>(out);
  const auto* from = static_cast<const char*>(table);
  if (index_bytes == 8) {
    gather_rows<int64_t, kThreads><<<blocks(count), kThreads, 0, stream>>>(
        to, from, static_cast<const int64_t*>(rows), count, row_bytes);
  } else {
    gather_rows<int32_t, kThreads><<<blocks(count), kThreads, 0, stream>>>(
        to, from, static_cast<const int32_t*>(rows), count, row_bytes);
  }
}

extern "C" void tiny_scatter_rows(void* cache, const void* rows, const int* slots, int count,
                                  int row_bytes, cudaStream_t stream) {
  using namespace tiny;
  auto kernel = scatter_rows<kThreads>;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks(count));
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  cudaLaunchKernelEx(&config, kernel, static_cast<char*>(cache), static_cast<const char*>(rows),
                     slots, count, row_bytes);
}
