// Every rung against the CPU reference on small shapes that are no multiples of any tile, with both
// layouts, GQA, outputs full of NaN and canaries around them. Exits with 77 where there is no GPU.
//   check [--quick] [VERSION...]     --quick: few shapes, for compute-sanitizer
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "../gpu_check.h"
#include "attention.h"
#include "reference.h"

namespace {

using namespace fathom::check;
using fathom::attention::attend_reference;
using fathom::attention::ReferenceShape;

constexpr int kVersions = 11;
constexpr uint16_t kNotANumber = 0x7fff;  // in both 16-bit types
constexpr size_t kMargin = 64;            // canaries before and after the output

float to_float(uint16_t bits, bool bf16) {
  __nv_bfloat16_raw b{bits};
  __half_raw h{bits};
  return bf16 ? __bfloat162float(__nv_bfloat16(b)) : __half2float(__half(h));
}

uint16_t to_bits(float value, bool bf16) {
  if (bf16) return __nv_bfloat16_raw(__float2bfloat16_rn(value)).x;
  return __half_raw(__float2half_rn(value)).x;
}

// A tensor in device memory and its values as (batch, head, row, d).
struct Tensor {
  int64_t batch, heads, rows, dim;
  bool rows_first;  // (B,S,H,D) instead of (B,H,S,D)
  std::vector<float> values;
  uint16_t* device = nullptr;

  size_t size() const { return static_cast<size_t>(batch * heads * rows * dim); }
  FathomTensorStrides strides() const {
    if (rows_first) return {rows * heads * dim, dim, heads * dim};
    return {heads * rows * dim, rows * dim, dim};
  }
  size_t place(size_t index) const {
    const auto d = static_cast<int64_t>(index) % dim,
               row = static_cast<int64_t>(index) / dim % rows,
               head = static_cast<int64_t>(index) / dim / rows % heads,
               entry = static_cast<int64_t>(index) / dim / rows / heads;
    const FathomTensorStrides s = strides();
    return static_cast<size_t>(entry * s.batch + head * s.head + row * s.row + d);
  }
};

Tensor make_input(std::mt19937& random, int64_t batch, int64_t heads, int64_t rows, int64_t dim,
                  bool rows_first, bool bf16) {
  Tensor tensor{batch, heads, rows, dim, rows_first, {}};
  std::normal_distribution<float> normal;
  std::vector<uint16_t> bits(tensor.size());
  tensor.values.resize(tensor.size());
  for (size_t i = 0; i < tensor.size(); ++i) {
    const uint16_t value = to_bits(normal(random), bf16);
    bits[tensor.place(i)] = value;
    tensor.values[i] = to_float(value, bf16);
  }
  require(cudaMalloc(&tensor.device, std::max<size_t>(16, tensor.size() * 2)), "cudaMalloc");
  require(cudaMemcpy(tensor.device, bits.data(), bits.size() * 2, cudaMemcpyHostToDevice), "copy");
  return tensor;
}

struct Case {
  int64_t batch, query_heads, key_heads, query_length, key_length;
  bool rows_first;
};

constexpr Case kCases[] = {
    {1, 2, 1, 129, 129, true},   {2, 2, 2, 77, 77, false},   {1, 1, 1, 1, 1, false},
    {2, 4, 2, 1, 300, true},     {1, 2, 2, 300, 64, false},  {1, 4, 1, 257, 513, true},
    {1, 1, 1, 1000, 1000, true}, {1, 2, 1, 5, 0, false},     {3, 2, 2, 0, 9, false},
    {2, 3, 3, 128, 128, false},  {1, 1, 1, 600, 600, false}, {7, 6, 3, 65, 191, true},
};
constexpr int kQuickCases = 4;

// ‖out − reference‖ / ‖reference‖, or infinity where a canary is gone or an element is not a
// number.
double run_case(const Case& c, int64_t dim, bool causal, bool bf16, int version, void* workspace,
                std::mt19937& random) {
  const Tensor q =
      make_input(random, c.batch, c.query_heads, c.query_length, dim, c.rows_first, bf16);
  const Tensor k = make_input(random, c.batch, c.key_heads, c.key_length, dim, c.rows_first, bf16);
  const Tensor v = make_input(random, c.batch, c.key_heads, c.key_length, dim, c.rows_first, bf16);
  std::vector<uint16_t> out(q.size() + 2 * kMargin, kNotANumber);
  uint16_t* o = nullptr;
  require(cudaMalloc(&o, out.size() * 2), "cudaMalloc");
  require(cudaMemcpy(o, out.data(), out.size() * 2, cudaMemcpyHostToDevice), "copy");

  FathomAttention a{};
  a.q = q.device, a.k = k.device, a.v = v.device, a.o = o + kMargin;
  a.q_strides = a.o_strides = q.strides();
  a.k_strides = a.v_strides = k.strides();
  a.batch = static_cast<int>(c.batch), a.query_heads = static_cast<int>(c.query_heads);
  a.key_heads = static_cast<int>(c.key_heads);
  a.query_length = static_cast<int>(c.query_length), a.key_length = static_cast<int>(c.key_length);
  a.head_dim = static_cast<int>(dim), a.causal = causal;
  a.element_type = bf16 ? FATHOM_BFLOAT16 : FATHOM_FLOAT16;
  a.scale = 1.0f / std::sqrt(static_cast<float>(dim));
  a.version = version, a.workspace = workspace;
  const int error = fathom_flash_attention_forward(&a);
  if (error != 0) std::fprintf(stderr, "check: %s\n", fathom_flash_attention_error(error));
  require(cudaDeviceSynchronize(), "the kernel");
  require(cudaMemcpy(out.data(), o, out.size() * 2, cudaMemcpyDeviceToHost), "copy");
  for (void* memory : {static_cast<void*>(q.device), static_cast<void*>(k.device),
                       static_cast<void*>(v.device), static_cast<void*>(o)}) {
    require(cudaFree(memory), "cudaFree");
  }

  for (size_t i = 0; i < kMargin; ++i) {
    if (out[i] != kNotANumber || out[out.size() - 1 - i] != kNotANumber) return INFINITY;
  }
  const std::vector<double> expected =
      attend_reference({c.batch, c.query_heads, c.key_heads, c.query_length, c.key_length, dim,
                        causal, double{a.scale}},
                       q.values, k.values, v.values);
  double difference = 0.0, norm = 0.0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double got = double{to_float(out[kMargin + q.place(i)], bf16)};
    difference += (got - expected[i]) * (got - expected[i]);
    norm += expected[i] * expected[i];
  }
  if (norm == 0.0) return std::sqrt(difference);
  const double relative = std::sqrt(difference / norm);
  return std::isnan(relative) ? INFINITY : relative;
}

// Rounding of P and of the result, twice over.
double limit(bool bf16) { return bf16 ? 6e-3 : 8e-4; }

int check_version(int version, bool quick, void* workspace, std::mt19937& random) {
  int wrong = 0, run = 0;
  double worst = 0.0;
  const int cases = quick ? kQuickCases : static_cast<int>(std::size(kCases));
  for (const int64_t dim : {64, 128}) {
    for (const bool causal : {false, true}) {
      for (const bool bf16 : {false, true}) {
        if (quick && bf16) continue;
        for (int i = 0; i < cases; ++i) {
          const double error = run_case(kCases[i], dim, causal, bf16, version,
                                        i % 2 == 0 ? workspace : nullptr, random);
          ++run;
          worst = std::max(worst, error / limit(bf16));
          if (error <= limit(bf16)) continue;
          ++wrong;
          std::printf("v%d case %d dim %d causal %d bf16 %d: error %.2e\n", version, i,
                      static_cast<int>(dim), causal, bf16, error);
        }
      }
    }
  }
  std::printf("v%d: %d cases, %d wrong, largest error %.2f of the limit\n", version, run, wrong,
              worst);
  return wrong;
}

}  // namespace

int main(int count, char** arguments) {
  if (!has_gpu()) return kSkipped;
  const LadderArguments wanted(count, arguments, kVersions);
  auto random = fresh_random<std::mt19937>();
  void* workspace = nullptr;
  require(cudaMalloc(&workspace, 8), "cudaMalloc");
  require(cudaMemset(workspace, 0, 8), "cudaMemset");
  int wrong = 0;
  for (const int version : wanted.versions)
    wrong += check_version(version, wanted.quick, workspace, random);
  unsigned left[2] = {1, 1};
  require(cudaMemcpy(left, workspace, 8, cudaMemcpyDeviceToHost), "copy");
  if (left[0] != 0 || left[1] != 0) {
    std::puts("the workspace was not left as it was found");
    ++wrong;
  }
  return wrong == 0 ? 0 : 1;
}
