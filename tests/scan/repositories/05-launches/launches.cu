#include "launch.h"

__global__ void plain(float* x) { x[0] = 1; }
__global__ void extended(float* x) { x[0] = 1; }
__global__ void cooperative(float* x) { x[0] = 1; }
__global__ void by_struct(float* x) { x[0] = 1; }
__global__ void first(float* x) { x[0] = 1; }
__global__ void second(float* x) { x[0] = 1; }
__global__ void by_macro(float* x) { x[0] = 1; }
template <int N>
__global__ void in_lambda(float* x) { x[0] = N; }
__global__ void only_commented(float* x) { x[0] = 1; }

void launch_plain(float* x, int n, cudaStream_t stream) {
  plain<<<(n + 127) / 128, 128, 16, stream>>>(x);
  // only_commented<<<1, 1>>>(x);
}

void launch_extended(float* x, cudaStream_t stream) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(4);
  config.blockDim = dim3(32);
  config.dynamicSmemBytes = 2048;
  config.stream = stream;
  cudaLaunchAttribute attributes[1];
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  config.attrs = attributes;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, extended, x);
}

void launch_cooperative(float* x, cudaStream_t stream) {
  void* arguments[] = {&x};
  cudaLaunchCooperativeKernel((void*)cooperative, dim3(8), dim3(64), arguments, 0, stream);
}

void launch_by_struct(float* x, cudaStream_t stream) {
  Launcher(dim3(2), dim3(96), stream)(by_struct, x);
}

void launch_chosen(float* x, bool one) {
  auto kernel = one ? first : second;
  kernel<<<1, 32>>>(x);
}

void launch_by_macro(float* x) { LAUNCH(by_macro, 3, x); }

void launch_in_lambda(float* x, int n) {
  auto with = [&](auto size) { in_lambda<decltype(size)::value><<<1, 32>>>(x); };
  if (n == 4) with(std::integral_constant<int, 4>{});
}
