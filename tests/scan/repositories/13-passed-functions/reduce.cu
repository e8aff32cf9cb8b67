// What a reduction over a warp is stands in a template's argument.
typedef float (*Reduction)(float);

__device__ float warp_sum(float x) {
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(~0u, x, offset);
  return x;
}

template <Reduction reduction>
__device__ float block_reduce(float x) {
  __shared__ float partial[32];
  x = reduction(x);
  partial[threadIdx.x / 32] = x;
  __syncthreads();
  return reduction(partial[threadIdx.x % 32]);
}

__global__ void sum_rows(float* out, const float* in) {
  out[blockIdx.x] = block_reduce<warp_sum>(in[blockIdx.x * blockDim.x + threadIdx.x]);
}

// A near-twin: another function is passed, and a value is called like the first.
__device__ float nothing(float x) { return x; }

__global__ void keep_rows(float* out, const float* in, float warp_sum) {
  out[blockIdx.x] = block_reduce<nothing>(in[threadIdx.x]) + warp_sum;
}

void run(float* out, const float* in) {
  sum_rows<<<64, 256>>>(out, in);
  keep_rows<<<64, 256>>>(out, in, 0);
}
