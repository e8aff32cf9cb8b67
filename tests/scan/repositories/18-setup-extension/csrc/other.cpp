__global__ void other_kernel(float* q) { q[0] = 1; }

void forward(float* q) { other_kernel<<<1, 1>>>(q); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("fwd", &forward); }
