// One rung of the ladder, chosen when it is compiled, on the shape that it is timed with:
//   nvcc -DFATHOM_VERSION=3 time.cu v3_no_conflicts.cu tensor_map.cu reference.cc
//   time [--length S] [--dim D] [--causal]   microseconds of a call, by CUDA events around a graph
//   time --check …                           its error on sampled rows; exits with 1 where wrong
//   time --launches N …                      N plain launches, for a profiler
// Exits with 77 where there is no GPU. suite.toml has the commands.
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "../gpu_time.h"
#include "launch.h"
#include "reference.h"

#ifndef FATHOM_VERSION
#error "choose a rung: -DFATHOM_VERSION=0 to 10"
#endif
#define FATHOM_JOINED(a, b) a##b
#define FATHOM_LAUNCH(version) FATHOM_JOINED(launch_v, version)

namespace {

using namespace fathom::check;
using fathom::attention::attend_reference;

constexpr int kTokens = 16384, kHeads = 16;  // as bench-gpu has them: batch = tokens / length
constexpr int kSampledRows = 64;
constexpr double kErrorLimit = 8e-4;  // rounding of P and of the result, twice over

// Nearly normal numbers, the same in each run.
__global__ void fill(__half* out, size_t count, uint32_t seed) {
  const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
  if (i >= count) return;
  uint64_t state = (i + 1) * 0x9e3779b97f4a7c15ULL + seed;
  float sum = 0.0f;
  for (int n = 0; n < 4; ++n) {
    state = (state ^ (state >> 31)) * 0xbf58476d1ce4e5b9ULL;
    sum += static_cast<float>(state >> 40) * 0x1p-24f;
  }
  out[i] = __float2half_rn((sum - 2.0f) * 1.7320508f);
}

struct Wanted {
  int length = 2048, dim = 128, launches = 0;
  bool causal = false, check = false;
};

Wanted read_arguments(int count, char** arguments) {
  Wanted wanted;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i];
    const int value = i + 1 < count ? std::atoi(arguments[i + 1]) : 0;
    if (word == "--length") wanted.length = value, ++i;
    if (word == "--dim") wanted.dim = value, ++i;
    if (word == "--launches") wanted.launches = value, ++i;
    if (word == "--causal") wanted.causal = true;
    if (word == "--check") wanted.check = true;
  }
  const bool known = wanted.length > 0 && wanted.length <= kTokens &&
                     (wanted.dim == 64 || wanted.dim == 128) && wanted.launches >= 0;
  if (known) return wanted;
  std::fputs("time: --length 1 to 16384, --dim 64 or 128, --launches 0 or more\n", stderr);
  std::exit(2);
}

struct Run {
  FathomAttention attention{};
  __half *q = nullptr, *k = nullptr, *v = nullptr, *o = nullptr;
  size_t count = 0;

  explicit Run(const Wanted& wanted) {
    const int batch = kTokens / wanted.length;
    count = static_cast<size_t>(batch) * kHeads * static_cast<size_t>(wanted.length) *
            static_cast<size_t>(wanted.dim);
    uint32_t seed = 1;
    for (__half** tensor : {&q, &k, &v, &o}) {
      require(cudaMalloc(tensor, count * sizeof(__half)), "cudaMalloc");
      fill<<<static_cast<unsigned>((count + 255) / 256), 256>>>(*tensor, count, seed++);
    }
    // Not a number: what the kernel leaves out shows.
    require(cudaMemset(o, 0xff, count * sizeof(__half)), "cudaMemset");
    attention.q = q, attention.k = k, attention.v = v, attention.o = o;
    const int64_t row = wanted.dim, head = row * wanted.length, entry = head * kHeads;
    attention.q_strides = attention.k_strides = attention.v_strides =
        attention.o_strides = {entry, head, row};
    attention.batch = batch, attention.query_heads = attention.key_heads = kHeads;
    attention.query_length = attention.key_length = wanted.length;
    attention.head_dim = wanted.dim, attention.causal = wanted.causal;
    attention.element_type = FATHOM_FLOAT16;
    attention.scale = 1.0f / std::sqrt(static_cast<float>(wanted.dim));
    require(cudaMalloc(&attention.workspace, 8), "cudaMalloc");
    require(cudaMemset(attention.workspace, 0, 8), "cudaMemset");
    require(cudaDeviceSynchronize(), "the inputs");
  }

  void launch(cudaStream_t stream) {
    attention.stream = stream;
    require(fathom::attention::FATHOM_LAUNCH(FATHOM_VERSION)(attention), "the launch");
  }
};

std::vector<float> read_rows(const __half* from, size_t count) {
  std::vector<__half> half(count);
  require(cudaMemcpy(half.data(), from, count * sizeof(__half), cudaMemcpyDeviceToHost), "copy");
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = __half2float(half[i]);
  return values;
}

// ‖out − reference‖ / ‖reference‖ over rows that are spread over all heads.
int check(Run& run, const Wanted& wanted) {
  run.launch(nullptr);
  require(cudaDeviceSynchronize(), "the kernel");
  const auto length = static_cast<size_t>(wanted.length), dim = static_cast<size_t>(wanted.dim);
  const size_t heads = run.count / (length * dim);
  double difference = 0.0, norm = 0.0;
  for (size_t n = 0; n < kSampledRows; ++n) {
    const size_t head = n * 7919 % heads, row = (n * 104729 + length - 1) % length;
    const size_t keys = wanted.causal ? row + 1 : length;
    const size_t at = (head * length + row) * dim;
    const std::vector<double> expected = attend_reference(
        {1, 1, 1, 1, static_cast<int64_t>(keys), static_cast<int64_t>(dim), false,
         double{run.attention.scale}},
        read_rows(run.q + at, dim), read_rows(run.k + head * length * dim, keys * dim),
        read_rows(run.v + head * length * dim, keys * dim));
    const std::vector<float> got = read_rows(run.o + at, dim);
    for (size_t i = 0; i < dim; ++i) {
      difference += (double{got[i]} - expected[i]) * (double{got[i]} - expected[i]);
      norm += expected[i] * expected[i];
    }
  }
  const double error = std::sqrt(difference / norm);
  const bool right = error <= kErrorLimit;  // false for what is not a number
  std::printf("error = %.3e (limit %.1e): %s\n", error, kErrorLimit, right ? "right" : "wrong");
  return right ? 0 : 1;
}

void measure(Run& run) {
  GpuTimer timer;
  const auto launch = [&](int64_t) { run.launch(timer.stream()); };
  launch(0);
  const double once = timer.timed([&] { launch(0); });
  timer.print_median(std::clamp(static_cast<int>(1500.0 / std::max(once, 1.0)), 1, 20), launch,
                     [] {});
}

}  // namespace

int main(int count, char** arguments) {
  const Wanted wanted = read_arguments(count, arguments);
  if (!has_gpu()) return kSkipped;
  Run run(wanted);
  if (wanted.check) return check(run, wanted);
  for (int i = 0; i < wanted.launches; ++i) run.launch(nullptr);
  require(cudaDeviceSynchronize(), "the kernel");
  if (wanted.launches == 0) measure(run);
  return 0;
}
