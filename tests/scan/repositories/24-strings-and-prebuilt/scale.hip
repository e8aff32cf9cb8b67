#include <hip/hip_runtime.h>
__global__ void hip_scale(float* x) { x[threadIdx.x] *= 2; }
void launch_hip(float* x) { hipLaunchKernelGGL(hip_scale, dim3(1), dim3(64), 0, 0, x); }
