// v4: both products on the tensor cores (mma.sync); probabilities stay in registers. Tiles are
// still loaded, waited for and then used.
#include "mma_tile.cuh"

namespace fathom::attention {
namespace {

template <class T, int kHeadDim, int kRows>
__device__ void load_rows(uint32_t tile, const T* rows, int64_t stride, int valid) {
  for_each_piece<T, kHeadDim, kRows>(
      tile, rows, stride, valid, [](uint32_t destination, const T* source, bool exists) {
        uint4 value{};
        if (exists) value = __ldg(reinterpret_cast<const uint4*>(source));
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(destination), "r"(value.x),
                     "r"(value.y), "r"(value.z), "r"(value.w)
                     : "memory");
      });
}

template <class T, int kHeadDim>
__global__ void __launch_bounds__(kMmaThreads) tensor_core_kernel(MmaArguments a) {
  extern __shared__ __align__(16) char memory[];
  using Layout = MmaLayout<kHeadDim>;
  const uint32_t k = shared_address(memory), v = k + Layout::key_bytes;
  const MmaBlock<T> block(a);
  MmaWarp<T, kHeadDim> warp(a.scale);
  load_rows<T, kHeadDim, kMmaRows>(k, block.q + block.first_row * a.q_strides.row, a.q_strides.row,
                                   a.query_length - block.first_row);
  __syncthreads();
  warp.take_queries(k);
  for (int n = 0; n < block.key_tiles; ++n) {
    const int key = n * kMmaKeys;
    __syncthreads();
    load_rows<T, kHeadDim, kMmaKeys>(k, block.k + key * a.k_strides.row, a.k_strides.row,
                                     a.key_length - key);
    load_rows<T, kHeadDim, kMmaKeys>(v, block.v + key * a.v_strides.row, a.v_strides.row,
                                     a.key_length - key);
    __syncthreads();
    warp.attend(k, v, key, block.first_row, a.causal, a.key_length);
  }
  warp.store(a, block);
}

}  // namespace

cudaError_t launch_v4(const FathomAttention& attention) {
  return launch_mma(attention, 1,
                    [](auto type, auto dim) { return tensor_core_kernel<decltype(type), dim>; });
}

}  // namespace fathom::attention
