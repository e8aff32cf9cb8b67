// Names and functions that macros of torch stand around.
#include <torch/library.h>

__global__ void wrapped_kernel(float* x) { x[0] = 5; }
__global__ void computed_kernel(float* x) { x[0] = 6; }

at::Tensor wrapped(at::Tensor x) {
  wrapped_kernel<<<1, 128>>>(x.data_ptr<float>());
  return x;
}
at::Tensor computed(at::Tensor x) {
  computed_kernel<<<1, 128>>>(x.data_ptr<float>());
  return x;
}

TORCH_LIBRARY_IMPL(mine, CUDA, m) {
  m.impl(TORCH_SELECTIVE_NAME("mine::wrap"), TORCH_FN(wrapped));
  m.impl(name_of(kNames, 2), TORCH_FN(computed));
}
