// Query kernels: group-by and a filter that makes a selection bitmap.
#include "blind2.h"

namespace {

constexpr int kRows = 10 << 20, kGroups = 64;

// Revenue of each group: sum of price times quantity.
__global__ void group_by_a(const uint32_t* __restrict__ group, const uint32_t* __restrict__ price,
                           const uint32_t* __restrict__ quantity, uint32_t* __restrict__ revenue) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&revenue[group[i]], price[i] * quantity[i]);
}
// Each lane has its own column of sums in shared memory; a group's total has a cache line of its
// own.
__global__ void __launch_bounds__(1024, 2)
    group_by_b(const uint4* __restrict__ group, const uint4* __restrict__ price,
               const uint4* __restrict__ quantity, uint32_t* __restrict__ revenue) {
  __shared__ uint32_t sums[kGroups * 32];
  for (int k = threadIdx.x; k < kGroups * 32; k += 1024) sums[k] = 0;
  __syncthreads();
  const int lane = threadIdx.x % 32;
  for (int i = blockIdx.x * 1024 + threadIdx.x; i < kRows / 4; i += gridDim.x * 1024) {
    const uint4 g = group[i], p = price[i], q = quantity[i];
    atomicAdd(&sums[g.x * 32 + lane], p.x * q.x);
    atomicAdd(&sums[g.y * 32 + lane], p.y * q.y);
    atomicAdd(&sums[g.z * 32 + lane], p.z * q.z);
    atomicAdd(&sums[g.w * 32 + lane], p.w * q.w);
  }
  __syncthreads();
  for (int g = threadIdx.x / 32; g < kGroups; g += 32) {
    const uint32_t total = __reduce_add_sync(~0u, sums[g * 32 + lane]);
    if (lane == 0) atomicAdd(&revenue[g * 32], total);
  }
}
struct GroupBy : Case {
  std::unique_ptr<Buffer<uint32_t>> group, price, quantity;
  Buffer<uint32_t> revenue{kGroups * 32};
  GroupBy() {
    const auto column = [](uint32_t values, uint64_t seed) {
      Random random(seed);
      return std::make_unique<Buffer<uint32_t>>(
          tiled<uint32_t>(kRows, [&] { return random.below(values); }));
    };
    group = column(kGroups, 41);
    price = column(100, 42);
    quantity = column(10, 43);
  }
  void run(bool fixed) override {
    revenue.clear();
    const auto wide = [](const Buffer<uint32_t>& b) {
      return reinterpret_cast<const uint4*>(static_cast<uint32_t*>(b));
    };
    if (fixed)
      group_by_b<<<264, 1024>>>(wide(*group), wide(*price), wide(*quantity), revenue);
    else
      group_by_a<<<kRows / 256, 256>>>(*group, *price, *quantity, revenue);
  }
  std::vector<float> result(bool fixed) override {
    const std::vector<uint32_t> sums = revenue.download();
    std::vector<float> values;
    for (int g = 0; g < kGroups; ++g)
      values.push_back(static_cast<float>(sums[fixed ? g * 32 : g]));
    return values;
  }
};
PAIR(GroupBy, "group_by", 0);

constexpr size_t kColumn = 1 << 25;

// One bit for each row whose value is in the range; a warp makes four words of 32 rows.
__device__ void select_rows(const uint32_t* column, uint32_t* bitmap) {
  const int lane = threadIdx.x % 32;
  const size_t warp = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  uint32_t value[4], word = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) value[k] = column[warp * 128 + k * 32 + lane];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const uint32_t chosen = __ballot_sync(~0u, value[k] >= 1000000000u && value[k] < 3000000000u);
    if (lane == k) word = chosen;
  }
  if (lane < 4) bitmap[warp * 4 + lane] = word;
}
__global__ void filter_column_a(const uint32_t* __restrict__ column,
                                uint32_t* __restrict__ bitmap) {
  select_rows(column, bitmap);
}
__global__ void filter_column_b(const uint32_t* __restrict__ column,
                                uint32_t* __restrict__ bitmap) {
  select_rows(column, bitmap);
}
// The faulty table was allocated in pinned host memory, which kernels can read as it is.
struct FilterColumn : Case {
  uint32_t* pinned = nullptr;
  std::unique_ptr<Buffer<uint32_t>> column;
  Buffer<uint32_t> bitmap{kColumn / 32};
  FilterColumn() {
    const std::vector<uint32_t> values = random_words(kColumn, 44);
    CHECK(cudaHostAlloc(&pinned, kColumn * sizeof(uint32_t), cudaHostAllocMapped));
    std::memcpy(pinned, values.data(), kColumn * sizeof(uint32_t));
    column = std::make_unique<Buffer<uint32_t>>(values);
  }
  ~FilterColumn() override { cudaFreeHost(pinned); }
  void clear() override { bitmap.clear(); }
  void run(bool fixed) override {
    if (fixed) {
      filter_column_b<<<kColumn / 1024, 256>>>(*column, bitmap);
      return;
    }
    uint32_t* on_device = nullptr;
    CHECK(cudaHostGetDevicePointer(&on_device, pinned, 0));
    filter_column_a<<<kColumn / 1024, 256>>>(on_device, bitmap);
  }
  std::vector<float> result(bool) override {
    std::vector<float> halves;  // a float holds 16 bits of a word exactly
    for (const uint32_t word : bitmap.download()) {
      halves.push_back(static_cast<float>(word & 0xffff));
      halves.push_back(static_cast<float>(word >> 16));
    }
    return halves;
  }
};
PAIR(FilterColumn, "filter_column", 0);

}  // namespace
