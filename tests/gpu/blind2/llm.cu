// Transformer kernels, first half: RoPE, top-k, per-row quantisation, paged KV, int4 GEMV.
#include <cuda_fp16.h>

#include <cmath>

#include "blind2.h"

namespace {

std::vector<__half> random_halves(size_t count, float low, float high, uint64_t seed) {
  Random random(seed);
  return tiled<__half>(
      count, [&] { return __float2half(low + (high - low) * (random.next() * 0x1p-32f)); });
}
float to_float(__half x) { return __half2float(x); }

constexpr int kTokens = 8192, kHeads = 32, kDim = 128;

__device__ uint32_t rotated(uint32_t pair, float sine, float cosine) {
  const float2 x = __half22float2(*reinterpret_cast<const __half2*>(&pair));
  const __half2 y = __floats2half2_rn(x.x * cosine - x.y * sine, x.x * sine + x.y * cosine);
  return *reinterpret_cast<const uint32_t*>(&y);
}
// One block for each token; 16 threads for each head, four pairs each.
__global__ void rope_a(const uint4* __restrict__ in, uint4* __restrict__ out) {
  const int token = blockIdx.x, pair = (threadIdx.x % 16) * 4;
  const size_t i = static_cast<size_t>(token) * blockDim.x + threadIdx.x;
  uint4 x = in[i];
  uint32_t* word = reinterpret_cast<uint32_t*>(&x);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float angle = token * powf(10000.0f, -2.0f * (pair + k) / kDim);
    word[k] = rotated(word[k], sinf(angle), cosf(angle));
  }
  out[i] = x;
}
__global__ void rope_b(const uint4* __restrict__ in, const float4* __restrict__ table,
                       uint4* __restrict__ out) {
  const int token = blockIdx.x, pair = (threadIdx.x % 16) * 4;
  const size_t i = static_cast<size_t>(token) * blockDim.x + threadIdx.x;
  uint4 x = in[i];
  const float4 a = table[(token * (kDim / 2) + pair) / 2],
               b = table[(token * (kDim / 2) + pair) / 2 + 1];
  out[i] = make_uint4(rotated(x.x, a.x, a.y), rotated(x.y, a.z, a.w), rotated(x.z, b.x, b.y),
                      rotated(x.w, b.z, b.w));
}
struct Rope : Case {
  static constexpr size_t kCount = size_t{kTokens} * kHeads * kDim;
  Buffer<__half> in{random_halves(kCount, -1, 1, 11)}, out{kCount};
  std::unique_ptr<Buffer<float2>> table;
  Rope() {
    std::vector<float2> sine_cosine(size_t{kTokens} * kDim / 2);
    for (int k = 0; k < kDim / 2; ++k) {
      const float frequency = std::pow(10000.0f, -2.0f * k / kDim);
      for (int t = 0; t < kTokens; ++t)
        sine_cosine[size_t(t) * kDim / 2 + k] =
            make_float2(std::sin(t * frequency), std::cos(t * frequency));
    }
    table = std::make_unique<Buffer<float2>>(sine_cosine);
  }
  void clear() override { out.clear(); }
  void run(bool fixed) override {
    const uint4* from = reinterpret_cast<const uint4*>(static_cast<__half*>(in));
    uint4* to = reinterpret_cast<uint4*>(static_cast<__half*>(out));
    if (fixed)
      rope_b<<<kTokens, kHeads * 16>>>(
          from, reinterpret_cast<const float4*>(static_cast<float2*>(*table)), to);
    else
      rope_a<<<kTokens, kHeads * 16>>>(from, to);
  }
  std::vector<float> result(bool) override { return out.as_floats(to_float); }
};
PAIR(Rope, "rope", 1e-2);

constexpr int kBest = 8, kVocabulary = 131072, kPerThread = 64, kTopRows = 256;

// First stage of top-k: the eight largest logits of each thread's slice, largest first.
__global__ void topk_slices_a(const float* __restrict__ logits, float* __restrict__ best_out) {
  const float* slice = logits + static_cast<size_t>(blockIdx.x) * 256 * kPerThread + threadIdx.x;
  float best[kBest];
  for (int k = 0; k < kBest; ++k) best[k] = -1e30f;
  for (int i = 0; i < kPerThread; ++i) {
    const float v = slice[i * 256];
    if (v <= best[kBest - 1]) continue;
    int at = kBest - 1;
    while (at > 0 && best[at - 1] < v) {
      best[at] = best[at - 1];
      --at;
    }
    best[at] = v;
  }
  for (int k = 0; k < kBest; ++k)
    best_out[(static_cast<size_t>(blockIdx.x) * kBest + k) * 256 + threadIdx.x] = best[k];
}
__global__ void topk_slices_b(const float* __restrict__ logits, float* __restrict__ best_out) {
  const float* slice = logits + static_cast<size_t>(blockIdx.x) * 256 * kPerThread + threadIdx.x;
  float best[kBest];
#pragma unroll
  for (int k = 0; k < kBest; ++k) best[k] = -1e30f;
#pragma unroll 8
  for (int i = 0; i < kPerThread; ++i) {
    float v = slice[i * 256];
#pragma unroll
    for (int k = 0; k < kBest; ++k) {
      const float larger = fmaxf(best[k], v);
      v = fminf(best[k], v);
      best[k] = larger;
    }
  }
#pragma unroll
  for (int k = 0; k < kBest; ++k)
    best_out[(static_cast<size_t>(blockIdx.x) * kBest + k) * 256 + threadIdx.x] = best[k];
}
struct TopkSlices : Case {
  static constexpr size_t kCount = size_t{kTopRows} * kVocabulary;
  Buffer<float> logits{random_floats(kCount, -10, 10, 12)}, best{kCount / kPerThread * kBest};
  void clear() override { best.clear(); }
  void run(bool fixed) override {
    constexpr int kBlocks = kCount / (256 * kPerThread);
    if (fixed)
      topk_slices_b<<<kBlocks, 256>>>(logits, best);
    else
      topk_slices_a<<<kBlocks, 256>>>(logits, best);
  }
  std::vector<float> result(bool) override { return best.as_floats(); }
};
PAIR(TopkSlices, "topk_slices", 0);

constexpr int kQuantRows = 32768, kQuantColumns = 2048;

__device__ int quantised(float x, float inverse) { return __float2int_rn(x * inverse) & 255; }

__global__ void quantise_rows_a(const __half2* __restrict__ in, uint16_t* __restrict__ out,
                                float* __restrict__ scales) {
  __shared__ float largest[1024];
  __shared__ float inverse;
  const size_t i = static_cast<size_t>(blockIdx.x) * 1024 + threadIdx.x;
  const float2 x = __half22float2(in[i]);
  largest[threadIdx.x] = fmaxf(fabsf(x.x), fabsf(x.y));
  __syncthreads();
  for (int step = 512; step > 0; step /= 2) {
    if (threadIdx.x < step)
      largest[threadIdx.x] = fmaxf(largest[threadIdx.x], largest[threadIdx.x + step]);
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    const float scale = fmaxf(largest[0], 1e-6f) / 127.0f;
    scales[blockIdx.x] = scale;
    inverse = 1.0f / scale;
  }
  __syncthreads();
  out[i] = quantised(x.x, inverse) | quantised(x.y, inverse) << 8;
}
__global__ void quantise_rows_b(const uint4* __restrict__ in, uint2* __restrict__ out,
                                float* __restrict__ scales) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  const size_t first = static_cast<size_t>(row) * (kQuantColumns / 8) + lane;
  uint4 x[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) x[k] = in[first + k * 32];
  __half2 most = __float2half2_rn(0);
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const __half2* h = reinterpret_cast<const __half2*>(&x[k]);
#pragma unroll
    for (int j = 0; j < 4; ++j) most = __hmax2(most, __habs2(h[j]));
  }
  float largest = __half2float(__hmax(__low2half(most), __high2half(most)));
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, step));
  const float scale = fmaxf(largest, 1e-6f) / 127.0f, inverse = 1.0f / scale;
  if (lane == 0) scales[row] = scale;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const __half2* h = reinterpret_cast<const __half2*>(&x[k]);
    uint32_t word[2] = {0, 0};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float2 f = __half22float2(h[j]);
      word[j / 2] |= (quantised(f.x, inverse) | quantised(f.y, inverse) << 8) << (16 * (j % 2));
    }
    out[first + k * 32] = make_uint2(word[0], word[1]);
  }
}
struct QuantiseRows : Case {
  static constexpr size_t kCount = size_t{kQuantRows} * kQuantColumns;
  Buffer<__half> in{random_halves(kCount, -3, 3, 13)};
  Buffer<int8_t> out{kCount};
  Buffer<float> scales{kQuantRows};
  void clear() override {
    out.clear();
    scales.clear();
  }
  void run(bool fixed) override {
    if (fixed)
      quantise_rows_b<<<kQuantRows / 4, 128>>>(
          reinterpret_cast<const uint4*>(static_cast<__half*>(in)),
          reinterpret_cast<uint2*>(static_cast<int8_t*>(out)), scales);
    else
      quantise_rows_a<<<kQuantRows, 1024>>>(
          reinterpret_cast<const __half2*>(static_cast<__half*>(in)),
          reinterpret_cast<uint16_t*>(static_cast<int8_t*>(out)), scales);
  }
  std::vector<float> result(bool) override {
    std::vector<float> values = out.as_floats();
    for (const float scale : scales.as_floats()) values.push_back(scale);
    return values;
  }
};
PAIR(QuantiseRows, "quantise_rows", 1.0 / 127);

// A page is one token's vector of 128 bytes. Its first word links to the sequence's next page.
constexpr int kSequences = 132 * 64, kPages = 128;

__global__ void __launch_bounds__(256, 8)
    gather_pages_a(const uint32_t* __restrict__ pool, const int* __restrict__ head,
                   float* __restrict__ out) {
  const int sequence = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  int page = head[sequence];
  float sum = 0;
  while (page >= 0) {
    const uint32_t word = pool[static_cast<size_t>(page) * 32 + lane];
    if (lane > 0) sum += __uint_as_float(word);
    page = static_cast<int>(__shfl_sync(~0u, word, 0));
  }
  out[sequence * 32 + lane] = sum;
}
__global__ void __launch_bounds__(256, 8)
    gather_pages_b(const uint32_t* __restrict__ pool, const int* __restrict__ table,
                   float* __restrict__ out) {
  const int sequence = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int first = 0; first < kPages; first += 32) {
    const int mine = table[sequence * kPages + first + lane];
#pragma unroll 8
    for (int k = 0; k < 32; ++k) {
      const int page = __shfl_sync(~0u, mine, k);
      const uint32_t word = pool[static_cast<size_t>(page) * 32 + lane];
      if (lane > 0) sum += __uint_as_float(word);
    }
  }
  out[sequence * 32 + lane] = sum;
}
struct GatherPages : Case {
  static constexpr size_t kAll = size_t{kSequences} * kPages;
  std::unique_ptr<Buffer<uint32_t>> pool;
  std::unique_ptr<Buffer<int>> head, table;
  Buffer<float> out{size_t{kSequences} * 32};
  GatherPages() {
    std::vector<float> values = random_floats(kAll * 32, 0, 1, 14);
    std::vector<int> order(kAll), heads(kSequences);
    for (size_t i = 0; i < kAll; ++i) order[i] = static_cast<int>(i);
    Random random(15);
    for (size_t i = kAll - 1; i > 0; --i) std::swap(order[i], order[random.below(uint32_t(i + 1))]);
    std::vector<uint32_t> words(kAll * 32);
    std::memcpy(words.data(), values.data(), words.size() * 4);
    for (size_t i = 0; i < kAll; ++i)
      words[size_t(order[i]) * 32] = (i + 1) % kPages ? uint32_t(order[i + 1]) : ~0u;
    for (int s = 0; s < kSequences; ++s) heads[s] = order[size_t(s) * kPages];
    pool = std::make_unique<Buffer<uint32_t>>(words);
    head = std::make_unique<Buffer<int>>(heads);
    table = std::make_unique<Buffer<int>>(order);
  }
  void clear() override { out.clear(); }
  void run(bool fixed) override {
    if (fixed)
      gather_pages_b<<<kSequences / 8, 256>>>(*pool, *table, out);
    else
      gather_pages_a<<<kSequences / 8, 256>>>(*pool, *head, out);
  }
  std::vector<float> result(bool) override { return out.as_floats(); }
};
PAIR(GatherPages, "gather_pages", 1e-5);

// y = W x, W in int4 with a scale for each 128 weights. A word holds eight weights.
constexpr int kOut = 28672, kIn = 8192, kGroup = 128, kRowsOfWarp = 4;

__device__ void reduce_rows(float (&sum)[kRowsOfWarp], float* y, int row, int lane) {
#pragma unroll
  for (int r = 0; r < kRowsOfWarp; ++r) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) sum[r] += __shfl_xor_sync(~0u, sum[r], step);
    if (lane == 0) y[row + r] = sum[r];
  }
}
__global__ void int4_gemv_a(const uint32_t* __restrict__ w, const __half* __restrict__ scales,
                            const uint4* __restrict__ x, float* __restrict__ y) {
  const int row = (blockIdx.x * 4 + threadIdx.x / 32) * kRowsOfWarp, lane = threadIdx.x % 32;
  float sum[kRowsOfWarp] = {};
#pragma unroll 2
  for (int word = lane; word < kIn / 8; word += 32) {
    const uint4 input = x[word];
    const __half* in = reinterpret_cast<const __half*>(&input);
#pragma unroll
    for (int r = 0; r < kRowsOfWarp; ++r) {
      const uint32_t packed = w[static_cast<size_t>(row + r) * (kIn / 8) + word];
      const __half scale = scales[(row + r) * (kIn / kGroup) + word * 8 / kGroup];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const int8_t q = static_cast<int8_t>(((packed >> (4 * j)) & 15) - 8);
        const __half weight = __hmul(__int2half_rn(q), scale);
        sum[r] += __half2float(weight) * __half2float(in[j]);
      }
    }
  }
  reduce_rows(sum, y, row, lane);
}
// The input is stored as pairs (0,4) (1,5) (2,6) (3,7): the order in which two nibbles of a word
// become a half2.
__global__ void int4_gemv_b(const uint32_t* __restrict__ w, const __half* __restrict__ scales,
                            const uint4* __restrict__ x_pairs, float* __restrict__ y) {
  const int row = (blockIdx.x * 4 + threadIdx.x / 32) * kRowsOfWarp, lane = threadIdx.x % 32;
  const __half2 bias = __float2half2_rn(1032.0f);
  float sum[kRowsOfWarp] = {};
#pragma unroll 2
  for (int word = lane; word < kIn / 8; word += 32) {
    const uint4 input = x_pairs[word];
    const __half2* in = reinterpret_cast<const __half2*>(&input);
#pragma unroll
    for (int r = 0; r < kRowsOfWarp; ++r) {
      const uint32_t packed = w[static_cast<size_t>(row + r) * (kIn / 8) + word];
      const float scale = __half2float(scales[(row + r) * (kIn / kGroup) + word * 8 / kGroup]);
      __half2 dot = __float2half2_rn(0);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const uint32_t bits = ((packed >> (4 * j)) & 0x000f000fu) | 0x64006400u;  // 1024 + nibble
        dot = __hfma2(__hsub2(*reinterpret_cast<const __half2*>(&bits), bias), in[j], dot);
      }
      const float2 two = __half22float2(dot);
      sum[r] = fmaf(two.x + two.y, scale, sum[r]);
    }
  }
  reduce_rows(sum, y, row, lane);
}
struct Int4Gemv : Case {
  Buffer<uint32_t> w{random_words(size_t{kOut} * kIn / 8, 16)};
  Buffer<__half> scales{random_halves(size_t{kOut} * kIn / kGroup, 0.01f, 0.02f, 17)};
  std::unique_ptr<Buffer<__half>> x, x_pairs;
  Buffer<float> y{kOut};
  Int4Gemv() {
    const std::vector<__half> in = random_halves(kIn, -1, 1, 18);
    std::vector<__half> pairs(kIn);
    for (int i = 0; i < kIn; i += 8)
      for (int j = 0; j < 4; ++j) {
        pairs[i + 2 * j] = in[i + j];
        pairs[i + 2 * j + 1] = in[i + j + 4];
      }
    x = std::make_unique<Buffer<__half>>(in);
    x_pairs = std::make_unique<Buffer<__half>>(pairs);
  }
  void clear() override { y.clear(); }
  void run(bool fixed) override {
    const __half* input = fixed ? *x_pairs : *x;
    const uint4* in = reinterpret_cast<const uint4*>(input);
    if (fixed)
      int4_gemv_b<<<kOut / (4 * kRowsOfWarp), 128>>>(w, scales, in, y);
    else
      int4_gemv_a<<<kOut / (4 * kRowsOfWarp), 128>>>(w, scales, in, y);
  }
  std::vector<float> result(bool) override { return y.as_floats(); }
};
PAIR(Int4Gemv, "int4_gemv", 1e-2);

}  // namespace
