#include <torch/extension.h>

__global__ void attention_kernel(float* x) { x[0] = 1; }
__global__ void unused_kernel(float* x) { x[0] = 1; }

void attention(at::Tensor x) { attention_kernel<<<1, 32>>>(x.data_ptr<float>()); }
void unused(at::Tensor x) { unused_kernel<<<1, 32>>>(x.data_ptr<float>()); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("fwd", &attention, "Forward");
  m.def("forward", &unused, "What only an object of Python has");
}
