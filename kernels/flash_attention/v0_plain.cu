// v0: tiled FA-1 as one would first write it. Nothing tells the compiler that O overlaps no input.
#include "scalar_tile.cuh"

namespace fathom::attention {
namespace {

template <class T, int kHeadDim>
__global__ void __launch_bounds__(kScalarThreads)
    plain_kernel(ScalarShape shape, const T* q, const T* k, const T* v, T* o) {
  using Layout = PlainLayout<kHeadDim>;
  attend_scalar<T, kHeadDim, Layout>(
      shape, q, k, v, o, [](T* tile, const T* rows, int64_t stride, int valid) {
        load_by_element<T, kHeadDim, Layout>(tile, rows, stride, valid,
                                             [](const T* p) { return *p; });
      });
}

}  // namespace

cudaError_t launch_v0(const FathomAttention& attention) {
  return launch_scalar(attention, [&](auto type, auto dim, const ScalarShape& shape, dim3 grid) {
    using T = decltype(type);
    return start_scalar<T>(plain_kernel<T, dim>, attention, shape, grid,
                           scalar_shared_bytes<T, dim, PlainLayout<dim>>());
  });
}

}  // namespace fathom::attention
