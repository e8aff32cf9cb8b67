#include <torch/extension.h>

__global__ void norm_kernel(float* x) { x[0] = 1; }
__global__ void gelu_kernel(float* x) { x[0] = 1; }
__global__ void internal_kernel(float* x) { x[0] = 1; }

namespace ops {
void norm(at::Tensor x) { norm_kernel<<<1, 32>>>(x.data_ptr<float>()); }
void gelu(at::Tensor x) { gelu_kernel<<<1, 32>>>(x.data_ptr<float>()); }
void internal(at::Tensor x) { internal_kernel<<<1, 32>>>(x.data_ptr<float>()); }
}  // namespace ops

TORCH_LIBRARY(mine, m) {
  m.def("norm(Tensor x) -> ()", &ops::norm);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("fast_gelu", &ops::gelu, "GELU");
}
