// Activations, which one macro defines, and a normalisation.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#define DEFINE_ACTIVATION(name, expression)                                        \
  __global__ void name##_kernel(__nv_bfloat16* out, const __nv_bfloat16* in, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                           \
    if (i < n) {                                                                   \
      const float x = __bfloat162float(in[i]);                                     \
      out[i] = __float2bfloat16(expression);                                       \
    }                                                                              \
  }

DEFINE_ACTIVATION(silu, x / (1.0f + __expf(-x)))
DEFINE_ACTIVATION(gelu, 0.5f * x * (1.0f + erff(x * 0.70710678f)))

__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
  return value;
}

// One block per row; the row's sum of squares goes through shared memory.
extern "C" __global__ void rms_norm(__nv_bfloat16* out, const __nv_bfloat16* in,
                                    const __nv_bfloat16* weight, int width, float epsilon) {
  __shared__ float partial[32];
  const __nv_bfloat16* row = in + static_cast<size_t>(blockIdx.x) * width;
  float sum = 0;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    const float x = __bfloat162float(row[i]);
    sum += x * x;
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
    sum = warp_sum(sum);
    if (threadIdx.x == 0) partial[0] = sum;
  }
  __syncthreads();
  const float scale = rsqrtf(partial[0] / width + epsilon);
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    const size_t at = static_cast<size_t>(blockIdx.x) * width + i;
    out[at] = __float2bfloat16(__bfloat162float(in[at]) * scale * __bfloat162float(weight[i]));
  }
}

extern "C" void tiny_activation(void* out, const void* in, int n, bool gelu, cudaStream_t stream) {
  auto* to = static_cast<__nv_bfloat16*>(out);
  const auto* from = static_cast<const __nv_bfloat16*>(in);
  auto kernel = gelu ? gelu_kernel : silu_kernel;
  kernel<<<(n + 255) / 256, 256, 0, stream>>>(to, from, n);
}

extern "C" void tiny_rms_norm(void* out, const void* in, const void* weight, int rows, int width,
                              float epsilon, cudaStream_t stream) {
  rms_norm<<<rows, 256, 0, stream>>>(
      static_cast<__nv_bfloat16*>(out), static_cast<const __nv_bfloat16*>(in),
      static_cast<const __nv_bfloat16*>(weight), width, epsilon);
}
