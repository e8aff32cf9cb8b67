// v6: Hopper's own instructions: tiles by TMA, products by wgmma straight from shared memory. Every
// warp still does everything: two warpgroups multiply, one thread of them starts the copies.
#include "hopper.cuh"

namespace fathom::attention {
namespace {

constexpr int kThreads = 256, kRows = 128, kKeys = 128, kStages = 2;

template <int kHeadDim>
struct Memory {
  static constexpr uint32_t query_bytes = kRows * kHeadDim * 2;
  static constexpr uint32_t key_bytes = kKeys * kHeadDim * 2;
  static constexpr uint32_t barriers = query_bytes + 2 * kStages * key_bytes;
  static constexpr uint32_t bytes = 1024 + barriers + 8 * (2 * kStages + 1);
};

template <class T, int kHeadDim, bool kCausal>
__global__ void __launch_bounds__(kThreads, 1)
    wgmma_kernel(const __grid_constant__ HopperArguments a,
                 const __grid_constant__ CUtensorMap q_map,
                 const __grid_constant__ CUtensorMap k_map,
                 const __grid_constant__ CUtensorMap v_map) {
  using M = Memory<kHeadDim>;
  extern __shared__ char memory[];
  const uint32_t base = (shared_address(memory) + 1023) & ~1023u;
  const auto k_tile = [&](int stage) { return base + M::query_bytes + 2 * stage * M::key_bytes; };
  const auto v_tile = [&](int stage) { return k_tile(stage) + M::key_bytes; };
  const auto k_full = [&](int stage) { return base + M::barriers + 16 * stage; };
  const auto v_full = [&](int stage) { return k_full(stage) + 8; };
  const uint32_t q_full = k_full(kStages);

  const int head = static_cast<int>(blockIdx.y), batch = static_cast<int>(blockIdx.z);
  const int key_head = head / a.heads_per_key_head;
  const int block_row = static_cast<int>(gridDim.x - 1 - blockIdx.x) * kRows;  // most keys first
  const int keys = kCausal ? min(a.key_length, block_row + kRows) : a.key_length;
  const int tiles = (keys + kKeys - 1) / kKeys;
  const auto start_tile = [&](int n) {
    const int stage = n % kStages;
    barrier_expect_bytes(k_full(stage), M::key_bytes);
    load_tile(&k_map, k_full(stage), k_tile(stage), n * kKeys, key_head, batch);
    barrier_expect_bytes(v_full(stage), M::key_bytes);
    load_tile(&v_map, v_full(stage), v_tile(stage), n * kKeys, key_head, batch);
  };
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2 * kStages + 1; ++i) barrier_init(k_full(0) + 8 * i, 1);
    barrier_init_fence();
    barrier_expect_bytes(q_full, M::query_bytes);
    for (int group = 0; group < 2; ++group) {
      load_tile(&q_map, q_full, base + group * M::query_bytes / 2, block_row + group * kGroupRows,
                head, batch);
    }
    for (int n = 0; n < min(tiles, kStages); ++n) start_tile(n);
  }
  __syncthreads();

  const int group = __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x / 128), 0);
  const int row = block_row + group * kGroupRows + static_cast<int>(threadIdx.x % 128 / 32) * 16;
  float output[kHeadDim / 2] = {}, scores[kKeys / 2];
  uint32_t probabilities[kKeys / 4];
  OnlineSoftmax softmax{a.scale};
  barrier_wait(q_full, 0);
  for (int n = 0; n < tiles; ++n) {
    const int stage = n % kStages;
    const uint32_t parity = n / kStages % 2;
    barrier_wait(k_full(stage), parity);
    pin(scores);
    products_begin();
    issue_scores<T, kHeadDim, kKeys>(scores, base + group * M::query_bytes / 2, k_tile(stage));
    products_commit();
    products_wait<0>();
    pin(scores);
    const bool hidden = kCausal && (n + 1) * kKeys - 1 > block_row + group * kGroupRows;
    if (hidden || (n + 1) * kKeys > a.key_length) {
      mask_scores<kCausal>(scores, n * kKeys, row, a.key_length);
    }
    float rescale[2];
    softmax.step<true>(scores, rescale);
    rescale_rows(output, rescale);
    pack_probabilities<T>(scores, probabilities);
    barrier_wait(v_full(stage), parity);
    pin(output);
    pin(probabilities);
    products_begin();
    issue_output<T, kHeadDim, kKeys>(output, probabilities, v_tile(stage));
    products_commit();
    products_wait<0>();
    pin(output);
    __syncthreads();  // both warpgroups have read the stage
    if (threadIdx.x == 0 && n + kStages < tiles) start_tile(n + kStages);
  }
  float factor[2];
  softmax.finish(factor);
  T* rows = static_cast<T*>(a.o) + batch * a.o_strides.batch + head * a.o_strides.head +
            row * a.o_strides.row;
  store_rows(output, factor, rows, a.o_strides.row, a.query_length - row);
}

template <class T, int kHeadDim, bool kCausal>
cudaError_t launch(const FathomAttention& attention) {
  const HopperArguments a = make_arguments(attention, kRows);
  CUtensorMap q_map, k_map, v_map;
  cudaError_t error = make_tensor_map(&q_map, attention.q, attention.q_strides, attention,
                                      attention.query_heads, attention.query_length, kGroupRows);
  if (error != cudaSuccess) return error;
  error = make_tensor_map(&k_map, attention.k, attention.k_strides, attention, attention.key_heads,
                          attention.key_length, kKeys);
  if (error != cudaSuccess) return error;
  error = make_tensor_map(&v_map, attention.v, attention.v_strides, attention, attention.key_heads,
                          attention.key_length, kKeys);
  if (error != cudaSuccess) return error;
  const auto kernel = wgmma_kernel<T, kHeadDim, kCausal>;
  constexpr int kBytes = static_cast<int>(Memory<kHeadDim>::bytes);
  error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (error != cudaSuccess) return error;
  kernel<<<dim3(a.row_tiles, attention.query_heads, attention.batch), kThreads, kBytes,
           static_cast<cudaStream_t>(attention.stream)>>>(a, q_map, k_map, v_map);
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_v6(const FathomAttention& attention) {
  return for_type_dim_mask(attention, [&](auto type, auto dim, auto causal) {
    return launch<decltype(type), dim, causal>(attention);
  });
}

}  // namespace fathom::attention
