#include <nanobind/nanobind.h>

__global__ void halve_kernel(float* p) { p[threadIdx.x] /= 2; }
__global__ void third_kernel(float* p) { p[threadIdx.x] /= 3; }

static void halve(size_t p) { halve_kernel<<<1, 32>>>(reinterpret_cast<float*>(p)); }

static void third(DLTensor* p) { third_kernel<<<1, 64>>>(static_cast<float*>(p->data)); }

NB_MODULE(shop_fast, m) { m.def("halve", &halve); }

TVM_REGISTER_GLOBAL("shop.third").set_body_typed(third);
