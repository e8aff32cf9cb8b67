#include "scatter_cuda.h"

__global__ void scatter_kernel(const float* src, float* out) { atomicAdd(out, src[threadIdx.x]); }
__global__ void other_kernel(const float* src, float* out) { out[threadIdx.x] = src[threadIdx.x]; }

torch::Tensor scatter_cuda(torch::Tensor src) {
  scatter_kernel<<<1, 128>>>(src.data_ptr<float>(), nullptr);
  return src;
}
torch::Tensor other_cuda(torch::Tensor src) {
  other_kernel<<<1, 128>>>(src.data_ptr<float>(), nullptr);
  return src;
}
