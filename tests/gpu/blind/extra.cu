// Two more cases: a divergent switch, and a tree scan in shared memory.
#include "blind.h"

namespace {

// ---- eight materials: a branch for each in a warp that has all of them, or one formula with
// coefficients by material ----
constexpr int kinds = 8, rounds = 48;
__host__ __device__ constexpr float gain(int kind) { return 0.30f + 0.05f * kind; }
__host__ __device__ constexpr float offset(int kind) { return -0.10f - 0.03f * kind; }
template <int KIND>
__device__ float shade(float v) {
#pragma unroll
  for (int r = 0; r < rounds; ++r) v = v * v * gain(KIND) + offset(KIND);
  return v;
}
__global__ void prepare_kinds(uint8_t* kind, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) kind[i] = mix(i + 5) % kinds;
}
__global__ void shade_switch(const uint8_t* kind, const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = in[i];
  switch (kind[i]) {
    case 0:
      v = shade<0>(v);
      break;
    case 1:
      v = shade<1>(v);
      break;
    case 2:
      v = shade<2>(v);
      break;
    case 3:
      v = shade<3>(v);
      break;
    case 4:
      v = shade<4>(v);
      break;
    case 5:
      v = shade<5>(v);
      break;
    case 6:
      v = shade<6>(v);
      break;
    case 7:
      v = shade<7>(v);
      break;
  }
  out[i] = v;
}
__global__ void shade_table(const uint8_t* kind, const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = in[i], g = gain(kind[i]), o = offset(kind[i]);
#pragma unroll
  for (int r = 0; r < rounds; ++r) v = v * v * g + o;
  out[i] = v;
}
struct ShadeKinds : Case {
  static constexpr int n = 16 << 20;
  uint8_t* kind = device<uint8_t>(n);
  float* in = values(n, 40);
  ShadeKinds() {
    result(n);
    tolerance = 1e-4f;
    prepare_kinds<<<n / 256, 256>>>(kind, n);
  }
  void run(bool fixed) override {
    if (fixed)
      shade_table<<<n / 256, 256>>>(kind, in, out, n);
    else
      shade_switch<<<n / 256, 256>>>(kind, in, out, n);
  }
};

// ---- exclusive scan of segments of 1024: work-efficient tree, rows of the tree a power of two
// apart, or padded ----
constexpr int segment = 1024;
template <bool PADDED>
__device__ int place(int i) {
  return PADDED ? i + (i >> 5) : i;
}
template <bool PADDED>
__global__ void __launch_bounds__(segment / 2) scan_tree(const float* in, float* out) {
  __shared__ float s[segment + segment / 32];
  int t = threadIdx.x;
  const float* from = in + size_t(blockIdx.x) * segment;
  s[place<PADDED>(t)] = from[t];
  s[place<PADDED>(t + segment / 2)] = from[t + segment / 2];
  int stride = 1;
  for (int active = segment / 2; active; active /= 2) {
    __syncthreads();
    if (t < active)
      s[place<PADDED>(stride * (2 * t + 2) - 1)] += s[place<PADDED>(stride * (2 * t + 1) - 1)];
    stride *= 2;
  }
  if (t == 0) s[place<PADDED>(segment - 1)] = 0;
  for (int active = 1; active < segment; active *= 2) {
    stride /= 2;
    __syncthreads();
    if (t < active) {
      int a = place<PADDED>(stride * (2 * t + 1) - 1), b = place<PADDED>(stride * (2 * t + 2) - 1);
      float left = s[a];
      s[a] = s[b];
      s[b] += left;
    }
  }
  __syncthreads();
  float* to = out + size_t(blockIdx.x) * segment;
  to[t] = s[place<PADDED>(t)];
  to[t + segment / 2] = s[place<PADDED>(t + segment / 2)];
}
struct ScanSegments : Case {
  static constexpr int n = 32 << 20;
  float* in = values(n, 41);
  ScanSegments() { result(n); }
  void run(bool fixed) override {
    if (fixed)
      scan_tree<true><<<n / segment, segment / 2>>>(in, out);
    else
      scan_tree<false><<<n / segment, segment / 2>>>(in, out);
  }
};

}  // namespace

std::vector<Entry> extra_cases() {
  return {{"shade_kinds", false, make_case<ShadeKinds>},
          {"scan_segments", false, make_case<ScanSegments>}};
}
