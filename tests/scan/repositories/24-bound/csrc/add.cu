#include "ops.h"
__global__ void add_kernel(float* p) { p[threadIdx.x] += 1; }

namespace shop {
void add_one(at::Tensor& x) { add_kernel<<<1, 32>>>(x.data_ptr<float>()); }
}  // namespace shop
