// Well-made kernels of different limits. Their results are compared with the host's.
#include <cmath>

#include "blind2.h"

namespace {

constexpr int kSamples = 1000;

// a = b + s c: DRAM bandwidth.
__global__ void clean_triad(const float4* __restrict__ b, const float4* __restrict__ c,
                            float4* __restrict__ a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 x = b[i], y = c[i];
  a[i] = make_float4(x.x + 1.5f * y.x, x.y + 1.5f * y.y, x.z + 1.5f * y.z, x.w + 1.5f * y.w);
}
struct CleanTriad : Case {
  static constexpr size_t kCount = 1 << 25;
  std::vector<float> host_b = random_floats(kCount, 0, 1, 61),
                     host_c = random_floats(kCount, 0, 1, 62);
  Buffer<float> b{host_b}, c{host_c}, a{kCount};
  void run(bool) override {
    clean_triad<<<kCount / 1024, 256>>>(reinterpret_cast<const float4*>(static_cast<float*>(b)),
                                        reinterpret_cast<const float4*>(static_cast<float*>(c)),
                                        reinterpret_cast<float4*>(static_cast<float*>(a)));
  }
  std::vector<float> result(bool fixed) override {
    if (fixed) return a.download();
    std::vector<float> values(kCount);
    for (size_t i = 0; i < kCount; ++i) values[i] = host_b[i] + 1.5f * host_c[i];
    return values;
  }
};
CLEAN(CleanTriad, "clean_triad", 1e-5);

// A polynomial of degree 128, four arguments in each thread: FP32 multiply-adds.
__host__ __device__ float polynomial(float x) {
  float y = 0;
#pragma unroll 32
  for (int k = 0; k < 128; ++k) y = fmaf(y, x, 0.37f);
  return y;
}
__global__ void clean_polynomial(const float4* __restrict__ in, float4* __restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 x = in[i];
  float4 y = make_float4(0, 0, 0, 0);
#pragma unroll 32
  for (int k = 0; k < 128; ++k) {
    y.x = fmaf(y.x, x.x, 0.37f);
    y.y = fmaf(y.y, x.y, 0.37f);
    y.z = fmaf(y.z, x.z, 0.37f);
    y.w = fmaf(y.w, x.w, 0.37f);
  }
  out[i] = y;
}
struct CleanPolynomial : Case {
  static constexpr size_t kCount = 1 << 24;
  std::vector<float> host = random_floats(kCount, -0.9f, 0.9f, 63);
  Buffer<float> in{host}, out{kCount};
  void run(bool) override {
    clean_polynomial<<<kCount / 1024, 256>>>(
        reinterpret_cast<const float4*>(static_cast<float*>(in)),
        reinterpret_cast<float4*>(static_cast<float*>(out)));
  }
  std::vector<float> result(bool fixed) override {
    std::vector<float> values, all = fixed ? out.download() : std::vector<float>();
    for (size_t i = 0; i < kCount; i += kCount / kSamples)
      values.push_back(fixed ? all[i] : polynomial(host[i]));
    return values;
  }
};
CLEAN(CleanPolynomial, "clean_polynomial", 1e-4);

// Embedding bags: the sum of 64 rows of 128 bytes out of a table of 16 MB, which stays in L2.
constexpr int kBags = 131072, kBag = 64, kEntries = 131072;

__global__ void clean_bags(const float* __restrict__ table, const int* __restrict__ id,
                           float* __restrict__ out) {
  const int bag = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  float sum = 0;
#pragma unroll
  for (int half = 0; half < kBag; half += 32) {
    const int mine = id[bag * kBag + half + lane];
#pragma unroll
    for (int k = 0; k < 32; k += 8) {
      float v[8];
#pragma unroll
      for (int j = 0; j < 8; ++j) v[j] = table[__shfl_sync(~0u, mine, k + j) * 32 + lane];
      sum += ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
    }
  }
  out[bag * 32 + lane] = sum;
}
struct CleanBags : Case {
  std::vector<float> host_table = random_floats(size_t{kEntries} * 32, 0, 1, 64);
  std::vector<int> host_id;
  Buffer<float> table{host_table}, out{size_t{kBags} * 32};
  std::unique_ptr<Buffer<int>> id;
  CleanBags() {
    Random random(65);
    host_id =
        tiled<int>(size_t{kBags} * kBag, [&] { return static_cast<int>(random.below(kEntries)); });
    id = std::make_unique<Buffer<int>>(host_id);
  }
  void run(bool) override { clean_bags<<<kBags / 8, 256>>>(table, *id, out); }
  std::vector<float> result(bool fixed) override {
    std::vector<float> values, all = fixed ? out.download() : std::vector<float>();
    for (int s = 0; s < kSamples; ++s) {
      const int bag = s * 131, lane = s % 32;
      float sum = 0;
      if (!fixed)
        for (int k = 0; k < kBag; ++k)
          sum += host_table[size_t(host_id[size_t(bag) * kBag + k]) * 32 + lane];
      values.push_back(fixed ? all[size_t(bag) * 32 + lane] : sum);
    }
    return values;
  }
};
CLEAN(CleanBags, "clean_bags", 1e-5);

// Sums of 128 neighbouring groups of four in a ring of 1024: shared-memory bandwidth, no bank
// conflicts.
constexpr int kRing = 1024, kReach = 128;

__global__ void __launch_bounds__(256, 6)
    clean_rings(const float4* __restrict__ in, float* __restrict__ out) {
  __shared__ float4 ring[kRing / 4];
  const int i = blockIdx.x * (kRing / 4) + threadIdx.x;
  ring[threadIdx.x] = in[i];
  __syncthreads();
  float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 16
  for (int k = 0; k < kReach; ++k) {
    const float4 v = ring[(threadIdx.x + k) % (kRing / 4)];
    sum.x += v.x;
    sum.y += v.y;
    sum.z = fmaxf(sum.z, v.z);
    sum.w += v.w;
  }
  out[i] = sum.x + sum.y + sum.z + sum.w;
}
struct CleanRings : Case {
  static constexpr size_t kCount = 1 << 24;
  std::vector<float> host = random_floats(kCount, 0, 1, 66);
  Buffer<float> in{host}, out{kCount / 4};
  void run(bool) override {
    clean_rings<<<kCount / kRing, 256>>>(reinterpret_cast<const float4*>(static_cast<float*>(in)),
                                         out);
  }
  std::vector<float> result(bool fixed) override {
    std::vector<float> values, all = fixed ? out.download() : std::vector<float>();
    for (size_t s = 0; s < kSamples; ++s) {
      const size_t i = s * 4099, ring = i / 256 * kRing;
      float sum = 0, largest = 0;
      for (int k = 0; k < kReach && !fixed; ++k) {
        const float* v = &host[ring + (i % 256 + k) % 256 * 4];
        sum += v[0] + v[1] + v[3];
        largest = std::fmax(largest, v[2]);
      }
      values.push_back(fixed ? all[i] : sum + largest);
    }
    return values;
  }
};
CLEAN(CleanRings, "clean_rings", 1e-4);

// Counts of 4 million bins: atomics in L2, spread over 16 MB.
constexpr size_t kKeys = 1 << 24, kBins = 1 << 22;

__global__ void clean_counts(const uint4* __restrict__ key, uint32_t* __restrict__ count) {
  const uint4 k = key[blockIdx.x * blockDim.x + threadIdx.x];
  atomicAdd(&count[k.x % kBins], 1u);
  atomicAdd(&count[k.y % kBins], 1u);
  atomicAdd(&count[k.z % kBins], 1u);
  atomicAdd(&count[k.w % kBins], 1u);
}
struct CleanCounts : Case {
  std::vector<uint32_t> host;
  std::unique_ptr<Buffer<uint32_t>> key;
  Buffer<uint32_t> count{kBins};
  CleanCounts() : host(kKeys) {
    Random random(67);  // not tiled: repeated keys would meet
    for (uint32_t& k : host) k = random.next();
    key = std::make_unique<Buffer<uint32_t>>(host);
  }
  void run(bool) override {
    count.clear();
    clean_counts<<<kKeys / 1024, 256>>>(
        reinterpret_cast<const uint4*>(static_cast<uint32_t*>(*key)), count);
  }
  std::vector<float> result(bool fixed) override {
    if (fixed) return count.as_floats();
    std::vector<float> values(kBins);
    for (const uint32_t k : host) values[k % kBins] += 1;
    return values;
  }
};
CLEAN(CleanCounts, "clean_counts", 0);

}  // namespace
