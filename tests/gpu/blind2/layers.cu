// Transformer kernels, second half: MoE permutation, bias + GELU, cross entropy, softmax, KV
// append, head transpose.
#include <cmath>

#include "blind2.h"

namespace {

constexpr int kTokens = 16384, kHidden = 2048, kExperts = 256;

// Copies each token's row, times its gate, to its place in the expert's batch.
__global__ void moe_permute_a(const float4* __restrict__ in, const int* __restrict__ token,
                              const float* __restrict__ gate, const int* __restrict__ first,
                              float4* __restrict__ out) {
  for (int row = first[blockIdx.x]; row < first[blockIdx.x + 1]; ++row) {
    const float4 x = in[static_cast<size_t>(token[row]) * (kHidden / 4) + threadIdx.x];
    const float g = gate[row];
    out[static_cast<size_t>(row) * (kHidden / 4) + threadIdx.x] =
        make_float4(x.x * g, x.y * g, x.z * g, x.w * g);
  }
}
__global__ void moe_permute_b(const float4* __restrict__ in, const int* __restrict__ token,
                              const float* __restrict__ gate, float4* __restrict__ out) {
  constexpr int kRows = 4;
  const int row = blockIdx.x * kRows;
  float4 x[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r)
    x[r] = in[static_cast<size_t>(token[row + r]) * (kHidden / 4) + threadIdx.x];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const float g = gate[row + r];
    out[static_cast<size_t>(row + r) * (kHidden / 4) + threadIdx.x] =
        make_float4(x[r].x * g, x[r].y * g, x[r].z * g, x[r].w * g);
  }
}
struct MoePermute : Case {
  static constexpr size_t kCount = size_t{kTokens} * kHidden;
  Buffer<float> in{random_floats(kCount, -1, 1, 21)}, gate{random_floats(kTokens, 0, 1, 22)},
      out{kCount};
  std::unique_ptr<Buffer<int>> token, first;
  MoePermute() {
    Random random(23);
    std::vector<int> order(kTokens), start(kExperts + 1, kTokens);
    for (int i = 0; i < kTokens; ++i) order[i] = i;
    for (int i = kTokens - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    double total = 0, so_far = 0;  // popularity falls with the root of the expert's rank
    for (int e = 0; e < kExperts; ++e) total += 1 / std::sqrt(e + 1.0);
    for (int e = 0; e < kExperts; ++e) {
      start[e] = static_cast<int>(so_far / total * kTokens);
      so_far += 1 / std::sqrt(e + 1.0);
    }
    token = std::make_unique<Buffer<int>>(order);
    first = std::make_unique<Buffer<int>>(start);
  }
  void clear() override { out.clear(); }
  void run(bool fixed) override {
    const float4* from = reinterpret_cast<const float4*>(static_cast<float*>(in));
    float4* to = reinterpret_cast<float4*>(static_cast<float*>(out));
    if (fixed)
      moe_permute_b<<<kTokens / 4, kHidden / 4>>>(from, *token, gate, to);
    else
      moe_permute_a<<<kExperts, kHidden / 4>>>(from, *token, gate, *first, to);
  }
  std::vector<float> result(bool) override { return out.as_floats(); }
};
PAIR(MoePermute, "moe_permute", 1e-6);

constexpr size_t kActivations = size_t{8192} * 4096;

__device__ float gelu(float x) { return x / (1.0f + __expf(-1.702f * x)); }
__device__ float4 plus(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__global__ void bias_gelu_a_bias(const float4* __restrict__ in, const float4* __restrict__ bias,
                                 float4* __restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = plus(in[i], bias[i % 1024]);
}
__global__ void bias_gelu_a_gelu(const float4* __restrict__ in, float4* __restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 x = in[i];
  out[i] = make_float4(gelu(x.x), gelu(x.y), gelu(x.z), gelu(x.w));
}
__global__ void bias_gelu_b(const float4* __restrict__ in, const float4* __restrict__ bias,
                            float4* __restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 x = plus(in[i], bias[i % 1024]);
  out[i] = make_float4(gelu(x.x), gelu(x.y), gelu(x.z), gelu(x.w));
}
struct BiasGelu : Case {
  Buffer<float> in{random_floats(kActivations, -2, 2, 24)}, bias{random_floats(4096, -1, 1, 25)};
  Buffer<float> sum{kActivations}, out{kActivations};
  void clear() override { out.clear(); }
  void run(bool fixed) override {
    const float4* from = reinterpret_cast<const float4*>(static_cast<float*>(in));
    const float4* row = reinterpret_cast<const float4*>(static_cast<float*>(bias));
    float4* middle = reinterpret_cast<float4*>(static_cast<float*>(sum));
    float4* to = reinterpret_cast<float4*>(static_cast<float*>(out));
    if (fixed) {
      bias_gelu_b<<<kActivations / 1024, 256>>>(from, row, to);
    } else {
      bias_gelu_a_bias<<<kActivations / 1024, 256>>>(from, row, middle);
      bias_gelu_a_gelu<<<kActivations / 1024, 256>>>(middle, to);
    }
  }
  std::vector<float> result(bool) override { return out.as_floats(); }
};
PAIR(BiasGelu, "bias_gelu", 1e-5);

constexpr int kRows = 96, kVocabulary = 256000, kParts = 50, kPart = kVocabulary / kParts;

// The sum of exp(x - largest) over two disjoint sets.
__device__ float2 joined(float2 a, float2 b) {
  const float largest = fmaxf(a.x, b.x);
  return make_float2(largest, a.y * __expf(a.x - largest) + b.y * __expf(b.x - largest));
}
__device__ float2 joined_over_block(float2 mine) {
  __shared__ float2 of_warp[8];
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    mine = joined(
        mine, make_float2(__shfl_xor_sync(~0u, mine.x, step), __shfl_xor_sync(~0u, mine.y, step)));
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
  __syncthreads();
  mine = of_warp[0];
  for (int w = 1; w < 8; ++w) mine = joined(mine, of_warp[w]);
  return mine;
}
__global__ void cross_entropy_a(const float* __restrict__ logits, const int* __restrict__ label,
                                float* __restrict__ loss) {
  const float* row = logits + static_cast<size_t>(blockIdx.x) * kVocabulary;
  float2 mine = make_float2(-1e30f, 0);
  for (int i = threadIdx.x; i < kVocabulary; i += blockDim.x) {
    const float x = row[i];
    if (x > mine.x) mine = make_float2(x, mine.y * __expf(mine.x - x));
    mine.y += __expf(x - mine.x);
  }
  mine = joined_over_block(mine);
  if (threadIdx.x == 0) loss[blockIdx.x] = mine.x + __logf(mine.y) - row[label[blockIdx.x]];
}
// The last part of a row to finish joins the row's parts.
__global__ void cross_entropy_b(const float* __restrict__ logits, const int* __restrict__ label,
                                float2* __restrict__ part, int* __restrict__ done,
                                float* __restrict__ loss) {
  const int row = blockIdx.y;
  const float* values = logits + static_cast<size_t>(row) * kVocabulary;
  const float4* mine4 = reinterpret_cast<const float4*>(values + blockIdx.x * kPart) + threadIdx.x;
  float4 x[kPart / 1024];
#pragma unroll
  for (int k = 0; k < kPart / 1024; ++k) x[k] = mine4[k * 256];
  float2 mine = make_float2(-1e30f, 0);
#pragma unroll
  for (int k = 0; k < kPart / 1024; ++k)
    mine.x = fmaxf(mine.x, fmaxf(fmaxf(x[k].x, x[k].y), fmaxf(x[k].z, x[k].w)));
#pragma unroll
  for (int k = 0; k < kPart / 1024; ++k)
    mine.y += __expf(x[k].x - mine.x) + __expf(x[k].y - mine.x) + __expf(x[k].z - mine.x) +
              __expf(x[k].w - mine.x);
  mine = joined_over_block(mine);
  if (threadIdx.x != 0) return;
  part[row * kParts + blockIdx.x] = mine;
  __threadfence();
  if (atomicAdd(&done[row], 1) != kParts - 1) return;
  done[row] = 0;
  __threadfence();
  float2 all = make_float2(-1e30f, 0);
#pragma unroll 10
  for (int p = 0; p < kParts; ++p) all = joined(all, __ldcg(&part[row * kParts + p]));
  loss[row] = all.x + __logf(all.y) - values[label[row]];
}
struct CrossEntropy : Case {
  Buffer<float> logits{random_floats(size_t{kRows} * kVocabulary, -8, 8, 26)}, loss{kRows};
  Buffer<float2> part{kRows * kParts};
  Buffer<int> done{kRows};
  std::unique_ptr<Buffer<int>> label;
  CrossEntropy() {
    Random random(27);
    std::vector<int> labels(kRows);
    for (int& l : labels) l = random.below(kVocabulary);
    label = std::make_unique<Buffer<int>>(labels);
  }
  void clear() override { loss.clear(); }
  void run(bool fixed) override {
    if (fixed)
      cross_entropy_b<<<dim3(kParts, kRows), 256>>>(logits, *label, part, done, loss);
    else
      cross_entropy_a<<<kRows, 256>>>(logits, *label, loss);
  }
  std::vector<float> result(bool) override { return loss.as_floats(); }
};
PAIR(CrossEntropy, "cross_entropy", 1e-4);

constexpr int kSoftmaxRows = 4096, kSoftmaxColumns = 8192;

template <class Combine>
__device__ float over_block(float x, Combine combine) {
  __shared__ float of_warp[8];
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x = combine(x, __shfl_xor_sync(~0u, x, step));
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
  __syncthreads();
  x = of_warp[0];
  for (int w = 1; w < 8; ++w) x = combine(x, of_warp[w]);
  __syncthreads();
  return x;
}
__device__ void softmax_row(const float4* in, float4* out) {
  extern __shared__ float4 row[];
  in += static_cast<size_t>(blockIdx.x) * (kSoftmaxColumns / 4);
  out += static_cast<size_t>(blockIdx.x) * (kSoftmaxColumns / 4);
  float largest = -1e30f, sum = 0;
#pragma unroll 4
  for (int i = threadIdx.x; i < kSoftmaxColumns / 4; i += 256) {
    const float4 x = in[i];
    row[i] = x;
    largest = fmaxf(largest, fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w)));
  }
  largest = over_block(largest, [](float a, float b) { return fmaxf(a, b); });
#pragma unroll 4
  for (int i = threadIdx.x; i < kSoftmaxColumns / 4; i += 256) {
    float4 x = row[i];
    x = make_float4(__expf(x.x - largest), __expf(x.y - largest), __expf(x.z - largest),
                    __expf(x.w - largest));
    row[i] = x;
    sum += x.x + x.y + x.z + x.w;
  }
  const float scale = 1.0f / over_block(sum, [](float a, float b) { return a + b; });
#pragma unroll 4
  for (int i = threadIdx.x; i < kSoftmaxColumns / 4; i += 256) {
    const float4 x = row[i];
    out[i] = make_float4(x.x * scale, x.y * scale, x.z * scale, x.w * scale);
  }
}
__global__ void softmax_rows_a(const float4* __restrict__ in, float4* __restrict__ out) {
  softmax_row(in, out);
}
__global__ void softmax_rows_b(const float4* __restrict__ in, float4* __restrict__ out) {
  softmax_row(in, out);
}

struct SoftmaxRows : Case {
  static constexpr size_t kCount = size_t{kSoftmaxRows} * kSoftmaxColumns;
  static constexpr int kLongestRow =
      54 * 1024;  // what the faulty launch allows for, whatever the row
  Buffer<float> in{random_floats(kCount, -4, 4, 28)}, out{kCount};
  void clear() override { out.clear(); }
  void run(bool fixed) override {
    const float4* from = reinterpret_cast<const float4*>(static_cast<float*>(in));
    float4* to = reinterpret_cast<float4*>(static_cast<float*>(out));
    const int bytes = (fixed ? kSoftmaxColumns : kLongestRow) * static_cast<int>(sizeof(float));
    CHECK(cudaFuncSetAttribute(fixed ? softmax_rows_b : softmax_rows_a,
                               cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    if (fixed)
      softmax_rows_b<<<kSoftmaxRows, 256, bytes>>>(from, to);
    else
      softmax_rows_a<<<kSoftmaxRows, 256, bytes>>>(from, to);
  }
  std::vector<float> result(bool) override { return out.as_floats(); }
};
PAIR(SoftmaxRows, "softmax_rows", 1e-4);

// Appends each sequence's new keys and values to its slot of the cache.
constexpr int kSequences = 512, kNew = 32768;

__device__ void append(const float4* from, const int* slot, float4* cache, int sequence) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  cache[static_cast<size_t>(slot[sequence]) * (kNew / 4) + i] =
      from[static_cast<size_t>(sequence) * (kNew / 4) + i];
}
__global__ void kv_append_a(const float4* __restrict__ from, const int* __restrict__ slot,
                            float4* __restrict__ cache, int sequence) {
  append(from, slot, cache, sequence);
}
__global__ void kv_append_b(const float4* __restrict__ from, const int* __restrict__ slot,
                            float4* __restrict__ cache) {
  append(from, slot, cache, blockIdx.y);
}
struct KvAppend : Case {
  static constexpr size_t kCount = size_t{kSequences} * kNew;
  Buffer<float> from{random_floats(kCount, -1, 1, 29)}, cache{kCount};
  std::unique_ptr<Buffer<int>> slot;
  KvAppend() {
    std::vector<int> slots(kSequences);
    for (int s = 0; s < kSequences; ++s) slots[s] = (s * 77) % kSequences;
    slot = std::make_unique<Buffer<int>>(slots);
  }
  void clear() override { cache.clear(); }
  void run(bool fixed) override {
    const float4* source = reinterpret_cast<const float4*>(static_cast<float*>(from));
    float4* to = reinterpret_cast<float4*>(static_cast<float*>(cache));
    if (fixed) {
      kv_append_b<<<dim3(kNew / 1024, kSequences), 256>>>(source, *slot, to);
      return;
    }
    for (int s = 0; s < kSequences; ++s) {
      kv_append_a<<<kNew / 1024, 256>>>(source, *slot, to, s);
      CHECK(cudaStreamSynchronize(nullptr));
    }
  }
  std::vector<float> result(bool) override { return cache.as_floats(); }
};
PAIR(KvAppend, "kv_append", 0);

// [batch][head][position][dim] to [batch][position][head][dim].
constexpr int kBatch = 4, kHeads = 32, kPositions = 2048, kDim = 128;

__global__ void head_transpose_a(const float* __restrict__ in, float* __restrict__ out,
                                 long long batches, long long heads, long long positions,
                                 long long dim) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= batches * heads * positions * dim) return;
  const long long d = i % dim;
  const long long h = i / dim % heads;
  const long long p = i / (dim * heads) % positions;
  const long long b = i / (dim * heads * positions);
  out[i] = in[((b * heads + h) * positions + p) * dim + d];
}
__global__ void head_transpose_b(const float4* __restrict__ in, float4* __restrict__ out) {
  const int lane = threadIdx.x, h = threadIdx.y, b = blockIdx.y;
  const int first = blockIdx.x * 4;
  float4 x[4];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    x[k] = in[(static_cast<size_t>(b * kHeads + blockIdx.z * 8 + h) * kPositions + first + k) *
                  (kDim / 4) +
              lane];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    out[(static_cast<size_t>(b * kPositions + first + k) * kHeads + blockIdx.z * 8 + h) *
            (kDim / 4) +
        lane] = x[k];
}
struct HeadTranspose : Case {
  static constexpr size_t kCount = size_t{kBatch} * kHeads * kPositions * kDim;
  Buffer<float> in{random_floats(kCount, -1, 1, 30)}, out{kCount};
  void clear() override { out.clear(); }
  void run(bool fixed) override {
    if (fixed)
      head_transpose_b<<<dim3(kPositions / 4, kBatch, kHeads / 8), dim3(32, 8)>>>(
          reinterpret_cast<const float4*>(static_cast<float*>(in)),
          reinterpret_cast<float4*>(static_cast<float*>(out)));
    else
      head_transpose_a<<<kCount / 256, 256>>>(in, out, kBatch, kHeads, kPositions, kDim);
  }
  std::vector<float> result(bool) override { return out.as_floats(); }
};
PAIR(HeadTranspose, "head_transpose", 0);

}  // namespace
