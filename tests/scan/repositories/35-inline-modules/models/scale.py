from torch.utils import cpp_extension

TEXT = r"""
template <int BY> __global__ void scale_kernel(float* x) { x[threadIdx.x] *= BY; }
void run(torch::Tensor x) { scale_kernel<2><<<1, 128>>>(x.data_ptr<float>()); }
__global__ void shift_kernel(float* x) { x[threadIdx.x] += 1; }
static void shift(torch::Tensor x) { shift_kernel<<<1, 64>>>(x.data_ptr<float>()); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("shifted", &shift); }
"""


def build():
    return cpp_extension.load_inline("scale", "void run(torch::Tensor x);", TEXT, {"run": "in place"})


def scale(x):
    build().run(x)


def shift(x):
    build().shifted(x)


import torch.utils.cpp_extension

whole = torch.utils.cpp_extension.load_inline(
    name="whole",
    cpp_sources="void whole_run(torch::Tensor x);",
    cuda_sources=r"""
__global__ void whole_kernel(float* x) { x[threadIdx.x] = 0; }
void whole_run(torch::Tensor x) { whole_kernel<<<1, 32>>>(x.data_ptr<float>()); }
""",
    functions="whole_run",
)


def clear(x):
    whole.whole_run(x)
