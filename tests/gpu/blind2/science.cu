// Scientific kernels: n-body, adjoint of a long orbit, graph feature gather, SpMV, Hadamard
// transform, Kaiser window.
#include <cmath>

#include "blind2.h"

namespace {

constexpr int kBodies = 140 * 2048, kSources = 1024;

// Two bodies in each thread share the reads of the tile.
template <int kThreads>
__device__ void accelerate(const float4* body, const float4* source, float4* out) {
  __shared__ float4 tile[kThreads];
  const int i = blockIdx.x * (2 * kThreads) + threadIdx.x;
  const float4 me[2] = {body[i], body[i + kThreads]};
  float3 sum[2] = {};
  for (int first = 0; first < kSources; first += kThreads) {
    tile[threadIdx.x] = source[first + threadIdx.x];
    __syncthreads();
#pragma unroll 16
    for (int k = 0; k < kThreads; ++k) {
      const float4 s = tile[k];
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float dx = s.x - me[j].x, dy = s.y - me[j].y, dz = s.z - me[j].z;
        const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
        const float f = s.w * inverse * inverse * inverse;
        sum[j].x += dx * f;
        sum[j].y += dy * f;
        sum[j].z += dz * f;
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < 2; ++j) out[i + j * kThreads] = make_float4(sum[j].x, sum[j].y, sum[j].z, 0);
}
__global__ void nbody_a(const float4* __restrict__ body, const float4* __restrict__ source,
                        float4* __restrict__ out) {
  accelerate<1024>(body, source, out);
}
__global__ void nbody_b(const float4* __restrict__ body, const float4* __restrict__ source,
                        float4* __restrict__ out) {
  accelerate<64>(body, source, out);
}
struct Nbody : Case {
  Buffer<float> body{random_floats(kBodies * 4, -1, 1, 31)},
      source{random_floats(kSources * 4, -1, 1, 32)};
  Buffer<float> out{kBodies * 4};
  void clear() override { out.clear(); }
  void run(bool fixed) override {
    const float4* b = reinterpret_cast<const float4*>(static_cast<float*>(body));
    const float4* s = reinterpret_cast<const float4*>(static_cast<float*>(source));
    float4* o = reinterpret_cast<float4*>(static_cast<float*>(out));
    if (fixed)
      nbody_b<<<kBodies / 128, 64>>>(b, s, o);
    else
      nbody_a<<<kBodies / 2048, 1024>>>(b, s, o);
  }
  std::vector<float> result(bool) override { return out.as_floats(); }
};
PAIR(Nbody, "nbody", 1e-4);

// The weighted sum over an orbit of a quadratic map: sum of x_k c^k.
constexpr int kOrbits = 132 * 2048 * 4, kSteps = 200;
constexpr float kWeight = 0.97f;

__device__ float moved(float x, float a) {
  x = fmaf(x, fmaf(-x, a, 0.9f), 0.05f);
  return fmaf(x, fmaf(-x, 0.5f, 1.1f), 0.02f);
}
// Keeps the whole orbit, because Horner's rule begins with the last term.
__global__ void __launch_bounds__(128)
    orbit_sum_a(const float* __restrict__ start, float* __restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float orbit[kSteps];
  float x = start[i];
  const float a = 0.5f + 0.25f * x;
#pragma unroll
  for (int k = 0; k < kSteps; ++k) orbit[k] = x = moved(x, a);
  float sum = 0;
#pragma unroll
  for (int k = kSteps - 1; k >= 0; --k) sum = fmaf(sum, kWeight, orbit[k]);
  out[i] = sum;
}
__global__ void __launch_bounds__(128)
    orbit_sum_b(const float* __restrict__ start, float* __restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = start[i];
  const float a = 0.5f + 0.25f * x;
  float sum = 0, weight = 1;
#pragma unroll 8
  for (int k = 0; k < kSteps; ++k) {
    x = moved(x, a);
    sum = fmaf(x, weight, sum);
    weight *= kWeight;
  }
  out[i] = sum;
}
struct OrbitSum : Case {
  Buffer<float> start{random_floats(kOrbits, 0.1f, 0.9f, 33)}, out{kOrbits};
  void clear() override { out.clear(); }
  void run(bool fixed) override {
    if (fixed)
      orbit_sum_b<<<kOrbits / 128, 128>>>(start, out);
    else
      orbit_sum_a<<<kOrbits / 128, 128>>>(start, out);
  }
  std::vector<float> result(bool) override { return out.as_floats(); }
};
PAIR(OrbitSum, "orbit_sum", 1e-3);

// For each edge the sum of its source's eight features. Two lanes read one edge's 32 bytes.
constexpr int kVertices = 1 << 22, kEdges = 1 << 23, kBins = 16;

__device__ void gather_edge(const float4* feature, const int* source, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 f = feature[static_cast<size_t>(source[i / 2]) * 2 + i % 2];
  float sum = f.x + f.y + f.z + f.w;
  sum += __shfl_xor_sync(~0u, sum, 1);
  if (i % 2 == 0) out[i / 2] = sum;
}
__global__ void edge_features_a(const float4* __restrict__ feature, const int* __restrict__ source,
                                float* __restrict__ out) {
  gather_edge(feature, source, out);
}
__global__ void edge_features_b(const float4* __restrict__ feature, const int* __restrict__ source,
                                float* __restrict__ out) {
  gather_edge(feature, source, out);
}
// The repaired graph stores its edges in bins of sources whose features (8 MB) fit in L2.
struct EdgeFeatures : Case {
  Buffer<float> feature{random_floats(size_t{kVertices} * 8, 0, 1, 34)}, out{kEdges};
  std::vector<int> place;
  std::unique_ptr<Buffer<int>> source, binned_source;
  EdgeFeatures() : place(kEdges) {
    Random random(35);
    std::vector<int> edges(kEdges), binned(kEdges);
    int start[kBins + 1] = {};
    for (int& e : edges) {
      e = random.below(kVertices);
      ++start[e / (kVertices / kBins) + 1];
    }
    for (int b = 0; b < kBins; ++b) start[b + 1] += start[b];
    for (int i = 0; i < kEdges; ++i) {
      place[i] = start[edges[i] / (kVertices / kBins)]++;
      binned[place[i]] = edges[i];
    }
    source = std::make_unique<Buffer<int>>(edges);
    binned_source = std::make_unique<Buffer<int>>(binned);
  }
  void clear() override { out.clear(); }
  void run(bool fixed) override {
    const float4* f = reinterpret_cast<const float4*>(static_cast<float*>(feature));
    if (fixed)
      edge_features_b<<<kEdges / 128, 256>>>(f, *binned_source, out);
    else
      edge_features_a<<<kEdges / 128, 256>>>(f, *source, out);
  }
  std::vector<float> result(bool fixed) override {
    std::vector<float> values = out.as_floats();
    if (!fixed) return values;
    std::vector<float> in_order(values.size());
    for (int i = 0; i < kEdges; ++i) in_order[i] = values[place[i]];
    return in_order;
  }
};
PAIR(EdgeFeatures, "edge_features", 1e-5);

// A banded matrix of 128 entries in a row, with one dense row (a constraint) at its end.
constexpr int kRows = 262144, kBand = 128, kDense = 131072, kLong = 4096, kSegment = 1024;

__device__ float row_part(const float* value, const int* column, const float* x, int from, int to,
                          int lane) {
  float sum = 0;
  int k = from + lane;
  for (; k + 96 < to; k += 128) {
    float v[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) v[j] = value[k + 32 * j] * x[column[k + 32 * j]];
    sum += (v[0] + v[1]) + (v[2] + v[3]);
  }
  for (; k < to; k += 32) sum += value[k] * x[column[k]];
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  return sum;
}
__global__ void spmv_a(const int* __restrict__ first, const int* __restrict__ column,
                       const float* __restrict__ value, const float* __restrict__ x,
                       float* __restrict__ y) {
  const int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row > kRows) return;
  const float sum = row_part(value, column, x, first[row], first[row + 1], lane);
  if (lane == 0) y[row] = sum;
}
// Segments of long rows come first, one warp each; y of long rows is zero before.
__global__ void spmv_b(const int* __restrict__ first, const int* __restrict__ column,
                       const float* __restrict__ value, const float* __restrict__ x,
                       float* __restrict__ y, const int2* __restrict__ segment, int segments) {
  const int warp = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp < segments) {
    const int2 s = segment[warp];
    const float sum = row_part(value, column, x, s.y, min(s.y + kSegment, first[s.x + 1]), lane);
    if (lane == 0) atomicAdd(&y[s.x], sum);
    return;
  }
  const int row = warp - segments;
  if (row > kRows) return;
  const int from = first[row], to = first[row + 1];
  if (to - from > kLong) return;
  const float sum = row_part(value, column, x, from, to, lane);
  if (lane == 0) y[row] = sum;
}
struct Spmv : Case {
  static constexpr size_t kEntries = size_t{kRows} * kBand + kDense;
  Buffer<float> value{random_floats(kEntries, 0, 1, 36)}, x{random_floats(kRows, 0, 1, 37)},
      y{kRows + 1};
  std::unique_ptr<Buffer<int>> first, column;
  std::unique_ptr<Buffer<int2>> segment;
  Spmv() {
    std::vector<int> starts(kRows + 2), columns(kEntries);
    std::vector<int2> segments;
    for (int r = 0; r <= kRows; ++r) starts[r] = r * kBand;
    starts[kRows + 1] = static_cast<int>(kEntries);
    for (int r = 0; r < kRows; ++r)
      for (int k = 0; k < kBand; ++k)
        columns[size_t(r) * kBand + k] = std::min(r, kRows - kBand) + k;
    for (int k = 0; k < kDense; ++k) columns[size_t(kRows) * kBand + k] = 2 * k;
    for (int k = 0; k < kDense; k += kSegment)
      segments.push_back(make_int2(kRows, starts[kRows] + k));
    first = std::make_unique<Buffer<int>>(starts);
    column = std::make_unique<Buffer<int>>(columns);
    segment = std::make_unique<Buffer<int2>>(segments);
  }
  void clear() override { y.clear(); }
  void run(bool fixed) override {
    const int segments = static_cast<int>(segment->size());
    if (fixed) {
      CHECK(cudaMemsetAsync(y + kRows, 0, sizeof(float)));
      spmv_b<<<(kRows + 1 + segments + 7) / 8, 256>>>(*first, *column, value, x, y, *segment,
                                                      segments);
    } else {
      spmv_a<<<(kRows + 1 + 7) / 8, 256>>>(*first, *column, value, x, y);
    }
  }
  // The dense row is a thousand times the others: scaled, so that it does not hide their
  // differences.
  std::vector<float> result(bool) override {
    std::vector<float> values = y.as_floats();
    values.back() *= float(kBand) / kDense;
    return values;
  }
};
PAIR(Spmv, "spmv", 1e-4);

// Walsh-Hadamard transform of 1024 points by one warp: 32 across registers, a transpose, 32 more.
template <int kPitch>
__device__ void hadamard_1024(const float* in, float* out, float* tile) {
  const int lane = threadIdx.x % 32;
  float v[32];
#pragma unroll
  for (int k = 0; k < 32; ++k) v[k] = in[k * 32 + lane];
#pragma unroll
  for (int pass = 0; pass < 2; ++pass) {
#pragma unroll
    for (int half = 1; half < 32; half *= 2)
#pragma unroll
      for (int k = 0; k < 32; ++k)
        if (!(k & half)) {
          const float a = v[k], b = v[k + half];
          v[k] = a + b;
          v[k + half] = a - b;
        }
#pragma unroll
    for (int k = 0; k < 32; ++k) tile[k * kPitch + lane] = v[k];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 32; ++k) v[k] = tile[lane * kPitch + k];
    __syncwarp();
  }
#pragma unroll
  for (int k = 0; k < 32; ++k) out[k * 32 + lane] = v[k] * (1.0f / 32);
}
__global__ void hadamard_a(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float tile[4][32 * 32];
  const size_t at = (static_cast<size_t>(blockIdx.x) * 4 + threadIdx.x / 32) * 1024;
  hadamard_1024<32>(in + at, out + at, tile[threadIdx.x / 32]);
}
__global__ void hadamard_b(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float tile[4][32 * 33];
  const size_t at = (static_cast<size_t>(blockIdx.x) * 4 + threadIdx.x / 32) * 1024;
  hadamard_1024<33>(in + at, out + at, tile[threadIdx.x / 32]);
}
struct Hadamard : Case {
  static constexpr size_t kCount = 1 << 25;
  Buffer<float> in{random_floats(kCount, -1, 1, 38)}, out{kCount};
  void clear() override { out.clear(); }
  void run(bool fixed) override {
    if (fixed)
      hadamard_b<<<kCount / 4096, 128>>>(in, out);
    else
      hadamard_a<<<kCount / 4096, 128>>>(in, out);
  }
  std::vector<float> result(bool) override { return out.as_floats(); }
};
PAIR(Hadamard, "hadamard", 1e-5);

// Signals of 8192 samples times a Kaiser window.
constexpr int kSamples = 8192, kSignals = 4096, kTerms = 48;

__host__ __device__ float kaiser(int sample) {
  const float r = (2.0f * sample - (kSamples - 1)) / (kSamples - 1);
  const float quarter = (1 - r * r) * 36.0f;  // (beta / 2)^2, beta = 12
  float term = 1, sum = 1;
#pragma unroll
  for (int k = 1; k <= kTerms; ++k) {
    term *= quarter * (1.0f / (k * k));
    sum += term;
  }
  return sum * 5.2776e-5f;  // 1 / I0(12)
}
__global__ void kaiser_window_a(const float4* __restrict__ in, float4* __restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, at = i % (kSamples / 4) * 4;
  const float4 x = in[i];
  out[i] = make_float4(x.x * kaiser(at), x.y * kaiser(at + 1), x.z * kaiser(at + 2),
                       x.w * kaiser(at + 3));
}
__global__ void kaiser_window_b(const float4* __restrict__ in, const float4* __restrict__ window,
                                float4* __restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 x = in[i], w = window[i % (kSamples / 4)];
  out[i] = make_float4(x.x * w.x, x.y * w.y, x.z * w.z, x.w * w.w);
}
struct KaiserWindow : Case {
  static constexpr size_t kCount = size_t{kSamples} * kSignals;
  Buffer<float> in{random_floats(kCount, -1, 1, 39)}, out{kCount};
  std::unique_ptr<Buffer<float>> window;
  KaiserWindow() {
    std::vector<float> table(kSamples);
    for (int i = 0; i < kSamples; ++i) table[i] = kaiser(i);
    window = std::make_unique<Buffer<float>>(table);
  }
  void clear() override { out.clear(); }
  void run(bool fixed) override {
    const float4* from = reinterpret_cast<const float4*>(static_cast<float*>(in));
    float4* to = reinterpret_cast<float4*>(static_cast<float*>(out));
    if (fixed)
      kaiser_window_b<<<kCount / 1024, 256>>>(
          from, reinterpret_cast<const float4*>(static_cast<float*>(*window)), to);
    else
      kaiser_window_a<<<kCount / 1024, 256>>>(from, to);
  }
  std::vector<float> result(bool) override { return out.as_floats(); }
};
PAIR(KaiserWindow, "kaiser_window", 1e-4);

}  // namespace
