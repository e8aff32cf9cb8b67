// v5: v4 with tiles copied by cp.async, the next one while this one is used.
#include "mma_tile.cuh"

namespace fathom::attention {
namespace {

template <class T, int kHeadDim, int kRows>
__device__ void start_copy(uint32_t tile, const T* rows, int64_t stride, int valid) {
  for_each_piece<T, kHeadDim, kRows>(tile, rows, stride, valid,
                                     [](uint32_t destination, const T* source, bool exists) {
                                       copy_async(destination, source, exists);
                                     });
}

template <class T, int kHeadDim>
__global__ void __launch_bounds__(kMmaThreads) async_copy_kernel(MmaArguments a) {
  extern __shared__ __align__(16) char memory[];
  using Layout = MmaLayout<kHeadDim>;
  const uint32_t base = shared_address(memory);
  const MmaBlock<T> block(a);
  MmaWarp<T, kHeadDim> warp(a.scale);
  const auto start_tile = [&](int n) {
    const uint32_t k = base + n % 2 * Layout::stage_bytes;
    const int key = n * kMmaKeys;
    start_copy<T, kHeadDim, kMmaKeys>(k, block.k + key * a.k_strides.row, a.k_strides.row,
                                      a.key_length - key);
    start_copy<T, kHeadDim, kMmaKeys>(k + Layout::key_bytes, block.v + key * a.v_strides.row,
                                      a.v_strides.row, a.key_length - key);
  };
  // Q goes through the second stage, while the first tile arrives in the first.
  start_copy<T, kHeadDim, kMmaRows>(base + Layout::stage_bytes,
                                    block.q + block.first_row * a.q_strides.row, a.q_strides.row,
                                    a.query_length - block.first_row);
  copies_commit();
  start_tile(0);
  copies_commit();
  copies_wait<1>();
  __syncthreads();
  warp.take_queries(base + Layout::stage_bytes);
  __syncthreads();
  for (int n = 0; n < block.key_tiles; ++n) {
    if (n + 1 < block.key_tiles) start_tile(n + 1);
    copies_commit();  // also when empty: the wait below counts groups
    copies_wait<1>();
    __syncthreads();
    const uint32_t k = base + n % 2 * Layout::stage_bytes;
    warp.attend(k, k + Layout::key_bytes, n * kMmaKeys, block.first_row, a.causal, a.key_length);
    __syncthreads();
  }
  warp.store(a, block);
}

}  // namespace

cudaError_t launch_v5(const FathomAttention& attention) {
  return launch_mma(attention, 2,
                    [](auto type, auto dim) { return async_copy_kernel<decltype(type), dim>; });
}

}  // namespace fathom::attention
