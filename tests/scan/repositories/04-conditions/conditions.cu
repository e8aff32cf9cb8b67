template <typename T>
__global__ void
#if __CUDA_ARCH__ >= 900
__launch_bounds__(512) split_header(
#else
split_header(
#endif
    T* out, int n) {
#if __CUDA_ARCH__ >= 900
  if (n > 0) {
#else
  if (n > 1) {
#endif
    out[0] = T(n);
  }
}

#ifdef HAS_FEATURE
__global__ void twice(float* x) {
  x[0] = 1;
}
#else
__global__ void twice(float* x) {}
#endif

__global__ void parameters(float* x,
#ifdef HAS_BIAS
                           const float* bias,
#endif
                           int n) {
  x[0] = n;
}

#if 0
__global__ void never(float* x) { x[0] = 1; }
#endif

void run(float* x) {
  split_header<float><<<1, 1>>>(x, 2);
  twice<<<1, 1>>>(x);
  parameters<<<1, 1>>>(x, 2);
}
