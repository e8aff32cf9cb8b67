#include "kernels.cuh"

DEFINE_KERNEL(fill, bool kFast) {
  if (threadIdx.x < n) out[threadIdx.x] = T(1);
}

DEFINE_OP(relu, max(x[threadIdx.x], 0.f))
DEFINE_OP(square, x[threadIdx.x] * x[threadIdx.x])
DEFINE_STEP(half, v / 2)

MY_GLOBAL void aliased(float* x) { x[0] = 1; }
MY_LOCAL void not_aliased(float* x) { x[0] = 1; }

void run(float* x, cudaStream_t stream) {
  fill<float, true><<<1, 32, 0, stream>>>(x, 32);
  relu_kernel<<<1, 32>>>(x);
  square_kernel<<<1, 32>>>(x);
  silu_kernel<<<1, 32>>>(x);
  aliased<<<1, 1>>>(x);
}

// What the macro is given runs in the kernel, and what that calls.
__device__ float bounded(float v) { return __shfl_xor_sync(~0u, v, 1); }
DEFINE_OP(silu, bounded(x[threadIdx.x] / (1.f + __expf(-x[threadIdx.x]))))
