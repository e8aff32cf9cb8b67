#include <torch/extension.h>

__global__ void other_attention_kernel(float* x) { x[0] = 2; }

void attention(at::Tensor x) { other_attention_kernel<<<1, 64>>>(x.data_ptr<float>()); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("fwd", &attention, "Forward"); }
