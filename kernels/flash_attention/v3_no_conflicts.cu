// v3: v2 with rows in shared memory padded by 16 bytes and read 16 bytes at a time.
#include "scalar_tile.cuh"

namespace fathom::attention {
namespace {

template <class T, int kHeadDim>
__global__ void __launch_bounds__(kScalarThreads)
    no_conflicts_kernel(ScalarShape shape, const T* __restrict__ q, const T* __restrict__ k,
                        const T* __restrict__ v, T* __restrict__ o) {
  using Layout = PaddedLayout<kHeadDim>;
  attend_scalar<T, kHeadDim, Layout>(
      shape, q, k, v, o, [](T* tile, const T* rows, int64_t stride, int valid) {
        load_by_16_bytes<T, kHeadDim, Layout>(tile, rows, stride, valid);
      });
}

}  // namespace

cudaError_t launch_v3(const FathomAttention& attention) {
  return launch_scalar(attention, [&](auto type, auto dim, const ScalarShape& shape, dim3 grid) {
    using T = decltype(type);
    return start_scalar<T>(no_conflicts_kernel<T, dim>, attention, shape, grid,
                           scalar_shared_bytes<T, dim, PaddedLayout<dim>>());
  });
}

}  // namespace fathom::attention
