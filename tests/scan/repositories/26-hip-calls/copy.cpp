#include "compatibility.h"

__global__ void copy(const float* from, float* to) { to[threadIdx.x] = from[threadIdx.x]; }

int main() {
  float *from, *to;
  hipMalloc(&from, 512);
  hipMalloc(&to, 512);
  hipLaunchKernelGGL(copy, dim3(1), dim3(128), 0, 0, from, to);
  hipDeviceSynchronize();
  hipFree(from);
  hipFree(to);
}
