// One rung of the ladders in kernels/, some launches of one shape: for `fathom record --counters`.
//   ladders attention VERSION | rows VERSION ROWS ROW_BYTES
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "flash_attention/attention.h"
#include "rows/rows.h"

namespace {

constexpr int kRuns = 3;

void require(int error, const char* what) {
  if (error == 0) return;
  std::fprintf(stderr, "ladders: %s: error %d\n", what, error);
  std::exit(1);
}

template <class T = char>
T* allocate(size_t count) {
  void* out = nullptr;
  require(cudaMalloc(&out, count * sizeof(T)), "cudaMalloc");
  require(cudaMemset(out, 0, count * sizeof(T)), "cudaMemset");
  return static_cast<T*>(out);
}

// batch 4, 16 heads, 4 key heads, 1024 × 1024, head_dim 128, float16, not causal.
void attend(int version) {
  constexpr int64_t kBatch = 4, kHeads = 16, kKeyHeads = 4, kLength = 1024, kDim = 128;
  FathomAttention a{};
  a.q = allocate(2 * kBatch * kHeads * kLength * kDim);
  a.k = allocate(2 * kBatch * kKeyHeads * kLength * kDim);
  a.v = allocate(2 * kBatch * kKeyHeads * kLength * kDim);
  a.o = allocate(2 * kBatch * kHeads * kLength * kDim);
  a.q_strides = a.o_strides = {kHeads * kLength * kDim, kLength * kDim, kDim};
  a.k_strides = a.v_strides = {kKeyHeads * kLength * kDim, kLength * kDim, kDim};
  a.batch = kBatch, a.query_heads = kHeads, a.key_heads = kKeyHeads;
  a.query_length = a.key_length = kLength, a.head_dim = kDim;
  a.element_type = FATHOM_FLOAT16;
  a.scale = 1.0f / std::sqrt(static_cast<float>(kDim));
  a.version = version;
  a.workspace = allocate(8);
  for (int i = 0; i < kRuns; ++i) require(fathom_flash_attention_forward(&a), "attention");
}

// Indices that are spread over a table of twice as many rows, each once.
void move_rows(int version, int64_t rows, int64_t row_bytes) {
  std::vector<int64_t> indices(static_cast<size_t>(rows));
  for (int64_t i = 0; i < rows; ++i) indices[static_cast<size_t>(i)] = i * 2 * 7919 % (2 * rows);
  auto* device = allocate<int64_t>(indices.size());
  require(cudaMemcpy(device, indices.data(), indices.size() * 8, cudaMemcpyHostToDevice), "copy");
  const auto bytes = static_cast<size_t>(rows * row_bytes);
  FathomRowIndex gather{};
  gather.table = allocate(2 * bytes), gather.indices = device, gather.out = allocate(bytes);
  gather.count = rows, gather.row_bytes = gather.table_stride = gather.out_stride = row_bytes;
  gather.length = 2 * rows, gather.index_type = FATHOM_INT64, gather.version = version;
  FathomRowStore store{};
  store.k = allocate(bytes), store.v = allocate(bytes), store.slots = device;
  store.k_cache = allocate(2 * bytes), store.v_cache = allocate(2 * bytes);
  store.count = rows, store.row_bytes = store.k_stride = store.v_stride = row_bytes;
  store.k_cache_stride = store.v_cache_stride = row_bytes;
  store.slot_count = 2 * rows, store.index_type = FATHOM_INT64, store.version = version;
  for (int i = 0; i < kRuns; ++i) {
    require(fathom_index_rows(&gather), "fathom_index_rows");
    require(fathom_store_rows(&store), "fathom_store_rows");
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 3 && std::strcmp(arguments[1], "attention") == 0) {
    attend(std::atoi(arguments[2]));
  } else if (count == 5 && std::strcmp(arguments[1], "rows") == 0) {
    move_rows(std::atoi(arguments[2]), std::atoll(arguments[3]), std::atoll(arguments[4]));
  } else {
    std::fputs("ladders attention VERSION | rows VERSION ROWS ROW_BYTES\n", stderr);
    return 2;
  }
  require(cudaDeviceSynchronize(), "the kernels");
  return 0;
}
