template <int D>
__global__ void attend_kernel(float* q, float* k) { q[threadIdx.x] += k[threadIdx.x] * D; }

template <int D>
void launch(float* q, float* k) { attend_kernel<D><<<1, D>>>(q, k); }
