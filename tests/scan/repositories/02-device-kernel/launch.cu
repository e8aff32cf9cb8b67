#include "kernel.h"

template <int kHeadDim>
void run(Params& params, cudaStream_t stream) {
  using Kernel = Forward<Shape<kHeadDim>, true>;
  auto kernel = cutlass::device_kernel<Kernel>;
  dim3 grid(params.blocks);
  kernel<<<grid, 128, 1024, stream>>>(params);
  Reference{}(params);
}
