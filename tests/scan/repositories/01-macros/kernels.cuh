#pragma once
#define MY_GLOBAL __global__
#define MY_LOCAL static
#define DEFINE_KERNEL(name, ...) \
  template <typename T, __VA_ARGS__> \
  __global__ void name(T* out, int n)
#define DEFINE_OP(op, expression) \
  __global__ void op##_kernel(float* x) { x[threadIdx.x] = expression; }
// Not a kernel: its body says __device__.
#define DEFINE_STEP(op, expression) \
  __device__ float op##_step(float v) { return expression; }
