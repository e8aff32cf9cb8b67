// Twins for which "memory latency bound" is confirmed, with more loads in flight per thread: does
// the predicted gain exist?
#include <algorithm>

#include "blind.h"

__global__ void fill(float* p, size_t n) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x)
    p[i] = (mix(uint32_t(i)) >> 8) * (2.0f / 16777216.0f) - 1.0f;
}
__device__ float gelu(float x) {
  return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}
__device__ float nearest(uint32_t code) {
  int best = 33;
  for (uint32_t s : {0x12345678u, 0x9abcdef0u, 0x0f0f3c3cu, 0xa5a5f00fu})
    best = min(best, __popc(code ^ s));
  return best;
}
// KIND 0 gelu, 1 nearest, 2 drift (two inputs), 3 relabel (index and value), 4 copy as in the
// permutation
template <int KIND>
__device__ float one(const float* a, const float* b, const int* map, size_t i) {
  if (KIND == 0) return gelu(a[i]);
  if (KIND == 1) return nearest(__float_as_uint(a[i]));
  if (KIND == 2) return a[i] + 0.01f * b[i];
  if (KIND == 3) return 2.0f * a[map[i]];
  return a[i];
}
template <int KIND, int EACH>
__global__ void elementwise(const float* a, const float* b, const int* map, float* out) {
  size_t base = blockIdx.x * size_t(256 * EACH) + threadIdx.x;
  float v[EACH];
#pragma unroll
  for (int k = 0; k < EACH; ++k) v[k] = one<KIND>(a, b, map, base + k * 256);
#pragma unroll
  for (int k = 0; k < EACH; ++k) out[base + k * 256] = v[k];
}
__global__ void map_runs(int* map, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) map[i] = int(mix(i / 32) % unsigned(n / 32)) * 32 + i % 32;
}
constexpr int n = 32 << 20;
float *a, *b, *out;
int* map;
template <int KIND, int EACH>
float time(int count) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (int r = 0; r < 22; ++r) {
    CHECK(cudaEventRecord(begin));
    elementwise<KIND, EACH><<<count / (256 * EACH), 256>>>(a, b, map, out);
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(ms);
  }
  CHECK(cudaGetLastError());
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}
template <int KIND>
void row(const char* name, int count) {
  float t1 = time<KIND, 1>(count), t2 = time<KIND, 2>(count), t4 = time<KIND, 4>(count),
        t8 = time<KIND, 8>(count);
  std::printf("wider %-8s 1: %.4f  2: %.4f  4: %.4f  8: %.4f ms  best gain %.2f\n", name, t1, t2,
              t4, t8, t1 / std::min(t2, std::min(t4, t8)));
}
int main() {
  CHECK(cudaMalloc(&a, size_t(n) * 4));
  CHECK(cudaMalloc(&b, size_t(n) * 4));
  CHECK(cudaMalloc(&out, size_t(n) * 4));
  CHECK(cudaMalloc(&map, size_t(n) * 4));
  fill<<<1056, 256>>>(a, n);
  fill<<<1056, 256>>>(b, n);
  map_runs<<<n / 256, 256>>>(map, n);
  row<0>("gelu", n);
  row<1>("nearest", n);
  row<2>("drift", n / 4);
  row<3>("relabel", n);
  row<4>("permute", n);
}
