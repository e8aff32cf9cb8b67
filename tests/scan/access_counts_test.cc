// How often code runs and which elements it touches, in forms that hardware counters showed to be
// counted wrongly, each with a near-twin (bench/results/2026-11-16-expected.md).
#include "checks.h"
#include "platform/platform.h"
#include "scan/scan_repository.h"
#include "story/expectation.h"
#include "story/kernel_notes.h"
#include "test_files.h"

namespace fathom {
namespace {

constexpr const char* kCountedKernels = R"(__device__ float twice(float x, int steps) {
  for (int i = 0; i < steps; ++i) x = x * 0.5f + 1;
  return x;
}
__global__ void in_condition(float* out, int steps) {
  if (twice(threadIdx.x, steps) < -1) out[0] = 1;
}
__global__ void by_warps(const float* x, float* out, int rows, int columns) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  float sum = 0;
  for (int c = threadIdx.x % 32; c < columns; c += 32) sum += x[size_t(row) * columns + c];
  if (threadIdx.x % 32 == 0) out[row] = sum;
}
__global__ void eight_each(const float* x, float* out, size_t n) {
  const size_t thread = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  float sum = 0;
  for (size_t i = thread; i < n; i += 8 * threads) {
    for (int j = 0; j < 8; ++j) sum += i + j * threads < n ? x[i + j * threads] : 0;
  }
  out[thread] = sum;
}
__global__ void one_each(const float* x, float* out, size_t n) {
  const size_t thread = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  float sum = 0;
  for (size_t i = thread; i < n; i += size_t(gridDim.x) * blockDim.x) sum += x[i];
  out[thread] = sum;
}
constexpr unsigned kRows = 1u << 21, kOther = 5;
__global__ void chased(const unsigned* rows, float* out, int steps) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned row = thread;
  for (int i = 0; i < steps; ++i) {
    row = rows[row];
  }
  out[thread] = row;
}
__global__ void wrapped(const float* rows, float* out) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  out[thread] = rows[(thread * 251u) & (kRows - 1)];
}
__global__ void own_array(const float* x, float* out, const int* order) {
  int at[4];
  for (int j = 0; j < 4; ++j) at[j] = order[j];
  for (int j = 0; j < 4; ++j) out[threadIdx.x] += x[at[j]];
}
__global__ void wide_by_unknown_step(const half* x, float* out, int n, int rows) {
  float sum = 0;
  for (int g = 0; g * 128 + threadIdx.x * 4 < rows; g++) {
    for (int q = 0; q < 4; ++q) {
      const int at = g * 1024 + threadIdx.x * 32 + q * 8;
      if (at < n) { uint4 v = *((uint4*)(&x[at])); sum += v.x; }
    }
  }
  out[blockIdx.x] = sum;
}
__global__ void wide_through_index(const half* x, const int* order, uint4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = *(const uint4*)&x[order[i]];
}
__global__ void wide_by_vectors(const float* x, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = reinterpret_cast<const float4*>(x)[i];
}
__global__ void stencil(const float* src, float* dst, int nx, int ny) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= nx || y >= ny) return;
  dst[y * nx + x] = src[y * nx + x] + src[(y + 1) * nx + x];
}
__global__ void edges(const float* flux, float* out, int nx, int nz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || k >= nz) return;
  const int here = k * (nx + 1) + i, below = (k + 1) * (nx + 1) + i;
  out[here] = flux[here] - flux[below];
}
__global__ void halves(const float* src, float* dst, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dst[i] = src[i] + src[i + n];
}
__global__ void packed(const float* src, float* dst, int rows, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x, r = blockIdx.y;
  if (i < n && r < rows) dst[r * n + i] = src[r * 2 * n + i] + src[r * 2 * n + n + i];
}
__device__ int lane_id() {
  int lane;
  asm("mov.s32 %0, %laneid;" : "=r"(lane));
  return lane;
}
// Each row holds three parts, of which a warp reads one element of each lane.
__global__ void by_lane(const float* parts, float* out, int rows) {
  const int lane = lane_id(), width = gridDim.x * 32;
  for (int row = threadIdx.x / 32; row < rows; row += blockDim.x / 32) {
    const int at = row * (width * 3) + blockIdx.x * 32 + lane;
    out[at] = parts[at] + parts[at + width];
  }
}
// Two halves of each head by names of their own: no element is read twice.
__global__ void rotated(const float* q, float* out, int dim, int stride, int heads, int size) {
  const int part = dim / 2;
  for (int i = threadIdx.x; i < heads * part; i += blockDim.x) {
    const int base = blockIdx.x * stride + i / part * size;
    const int first = i % part, second = part + i % part;
    out[base + first] = q[base + first] - q[base + second];
  }
}
#define CUDA_KERNEL_LOOP(i, n) \
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
__global__ void by_macro(const float* x, float* out, int n, int rows) {
  CUDA_KERNEL_LOOP(index, n) {
    for (int row = 0; row < rows; ++row) out[index] += x[row * n + index];
  }
}
__global__ void by_typed_macro(const float* x, float* out, size_t n) {
  CUDA_1D_KERNEL_LOOP(size_t, i, n) { out[i] = x[i]; }
}
__global__ void by_another_macro(const float* x, float* out, int n) {
  REPEAT_LOOP(i, n) { out[i] = x[i]; }
}
template <typename scalar_t>
__global__ void by_template_index(const scalar_t* rows, const float* x, float* out) {
  const scalar_t v = rows[blockIdx.x];
  out[blockIdx.x] = x[v];
}
__global__ void twice_each(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float scale = x[i];
  out[i] = scale *
           x[i];
}
// The rows of a block are half as wide as n; there are no more of them than blocks.
__global__ void half_rows(const half2* x, half2* out, int n) {
  const int at = blockIdx.x * n / 2 + threadIdx.x;
  out[at] = x[at];
}
__global__ void rows_of_words(const float* x, float* out) {
  const int at = (blockIdx.x * 128 + threadIdx.x) / 32;
  out[at] = x[at];
}
// How many elements a table says is not how many tables there are.
__global__ void loaded_length(const float* x, float* out, const int* first) {
  const int length = first[blockIdx.x + 1] - first[blockIdx.x];
  for (int i = threadIdx.x; i < length; i += blockDim.x) out[i] = x[i];
}
__global__ void halved(const float* x, float* out, int n) {
  extern __shared__ float parts[];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[blockIdx.x * n + i];
  parts[threadIdx.x] = sum;
  for (int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) parts[threadIdx.x] += parts[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = parts[0];
}
void run(float* a, float* b, const unsigned* u, const int* o) {
  const size_t n = size_t(48) << 20;
  const int count = (int)4096;
  one_each<<<1056, 256>>>(a, b, n);
  in_condition<<<10, 256>>>(a, count);
}
)";

const CodeFacts& counted_kernels() {
  static const CodeFacts facts = [] {
    const test::TemporaryDirectory directory;
    test::write_file(directory.path() / "a.cu", kCountedKernels);
    return scan_repository(directory.path(), {}).take();
  }();
  return facts;
}

const KernelFacts& counted_kernel(std::string_view name) {
  for (const KernelFacts& kernel : counted_kernels().kernels) {
    if (kernel.name == name) return kernel;
  }
  static const KernelFacts none;
  ADD_FAILURE() << name;
  return none;
}

std::string elements_of(std::string_view kernel, std::string_view array) {
  for (const ArrayTraffic& traffic : counted_kernel(kernel).traffic) {
    if (traffic.array == array) return traffic.elements;
  }
  return "absent";
}

// Through a cast, an index of a step that is not known counts elements, not vectors.
TEST(AccessCounts, WideLoadsThroughACast) {
  const auto read = [](const char* kernel) {
    for (const ArrayTraffic& traffic : counted_kernel(kernel).traffic) {
      if (traffic.array == "x")
        return traffic.elements + " of " + std::to_string(traffic.element_bytes.value_or(0));
    }
    return std::string();
  };
  EXPECT_EQ(read("wide_by_unknown_step"), "n of 2");
  EXPECT_EQ(read("wide_through_index"), "n of 16");
  EXPECT_EQ(read("wide_by_vectors"), "n of 16");
}

TEST(AccessCounts, AConditionRunsOnce) {
  EXPECT_EQ(counted_kernel("in_condition").arithmetic, "2 * gridDim.x * blockDim.x * steps");
}

TEST(AccessCounts, ALoopFromTheLaneOnIsSharedOutOverTheWarp) {
  EXPECT_EQ(counted_kernel("by_warps").arithmetic, "rows * columns");
  EXPECT_EQ(counted_kernel("by_warps").traffic[0].times, "rows * columns");
}

TEST(AccessCounts, AStepOfEightTimesTheThreadsSkipsWhatTheInnerLoopTouches) {
  EXPECT_EQ(elements_of("eight_each", "x"), "n");
  EXPECT_EQ(elements_of("one_each", "x"), "n");
}

TEST(AccessCounts, AnIndexThatIsLoadedInEachRoundDiffersInEachRound) {
  EXPECT_EQ(elements_of("chased", "rows"), "gridDim.x * blockDim.x * steps");
  EXPECT_EQ(counted_kernel("chased").traffic[0].element_bytes, 4u);  // unsigned*
}

TEST(AccessCounts, AWrappedIndexReachesAllOfTheTurn) {
  EXPECT_EQ(elements_of("wrapped", "rows"), "2097152");  // kRows = 1u << 21
}

// No more elements than accesses: 10 × 256 threads of 2 Mi rows.
TEST(AccessCounts, AWrappedIndexTouchesNoMoreElementsThanAccesses) {
  KernelLauncher launcher;
  launcher.grid = "10";
  launcher.block = "256";
  const Expectation expected =
      expect_of(counted_kernel("wrapped"), {&launcher, nullptr, {}}, Parameters(), nullptr);
  ASSERT_TRUE(expected.traffic.size() > 1 && expected.traffic[1].known());
  EXPECT_EQ(*expected.traffic[1].low, 10 * 256 * 4);
}

TEST(AccessCounts, WhatAThreadsOwnArrayHoldsIsNotFollowed) {
  EXPECT_EQ(elements_of("own_array", "x"), "");
  EXPECT_EQ(elements_of("own_array", "order"), "4");
}

TEST(AccessCounts, RowsThatOtherThreadsReachCountOnce) {
  EXPECT_EQ(elements_of("stencil", "src"), "nx * ny");
  EXPECT_EQ(elements_of("edges", "flux"), "nx * nz");
  EXPECT_EQ(elements_of("halves", "src"), "2 * n");
  EXPECT_EQ(elements_of("packed", "src"), "2 * rows * n");
  EXPECT_EQ(elements_of("rotated", "q"), "gridDim.x * dim * heads");
  EXPECT_EQ(elements_of("rotated", "out"), "gridDim.x * dim * heads / 2");
}

TEST(AccessCounts, LoopsByMacrosCoverTheirRange) {
  EXPECT_EQ(elements_of("by_macro", "x"), "n * rows");
  EXPECT_EQ(elements_of("by_macro", "out"), "n");
  EXPECT_EQ(elements_of("by_typed_macro", "x"), "n");
  EXPECT_EQ(elements_of("by_another_macro", "x"), "");
}

TEST(AccessCounts, AnIndexOfATemplatesTypeIsNotTheSameForAll) {
  EXPECT_EQ(elements_of("by_template_index", "x"), "");
  EXPECT_EQ(elements_of("by_template_index", "rows"), "gridDim.x");
}

// Of src[i] and src[n + i] no element is read again; of x[i] twice all are.
TEST(AccessCounts, HalvesAreNotReadAgain) {
  const auto is_read_again = [](std::string_view name) {
    const KernelFacts& kernel = counted_kernel(name);
    for (const KernelNote& note :
         notes_on(kernel, expect_of(kernel, Parameters(), nullptr), Parameters(), nullptr)) {
      if (note.text.find("is read 2 times") != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_FALSE(is_read_again("rotated"));
  EXPECT_FALSE(is_read_again("halves"));
  EXPECT_TRUE(is_read_again("twice_each"));
}

TEST(AccessCounts, ALaneByAssemblyIsOneOfAWarp) {
  EXPECT_EQ(elements_of("by_lane", "parts"), "64 * gridDim.x * rows");
}

TEST(AccessCounts, AQuotientHasNoMoreValuesThanWhatIsDivided) {
  EXPECT_EQ(elements_of("half_rows", "x"), "gridDim.x * blockDim.x");
  EXPECT_EQ(elements_of("rows_of_words", "x"), "gridDim.x * blockDim.x / 32");
}

TEST(AccessCounts, ALoadedLengthIsNotCounted) {
  EXPECT_EQ(elements_of("loaded_length", "x"), "");
  EXPECT_EQ(elements_of("loaded_length", "first"), "gridDim.x");
}

// How many threads of a reduction are left in each round is not counted, so its time has no upper
// end; that of a loop that is counted has one.
TEST(AccessCounts, AnAccessThatIsNotCountedLeavesTheTimeOpen) {
  const Platform& h200 = *Platforms::built_in().find("h200").value();
  const auto time_of = [&](std::string_view kernel, const char* sizes) {
    KernelLauncher launcher;
    launcher.grid = "1056";
    launcher.block = "256";
    const Expectation expected = expect_of(counted_kernel(kernel), {&launcher, nullptr, {}},
                                           Parameters::parse({sizes}).value(), &h200);
    for (const Estimate& one : expected.counters) {
      if (one.quantity == Quantity::kTime) return one;
    }
    ADD_FAILURE() << kernel;
    return Estimate();
  };
  EXPECT_TRUE(time_of("halved", "n=65536").low.has_value());
  EXPECT_FALSE(time_of("halved", "n=65536").high.has_value());
  EXPECT_TRUE(time_of("one_each", "n=65536").high.has_value());
}

// size_t(48) << 20 and (int)4096.
TEST(AccessCounts, CastsOfConstantsAreFollowed) {
  const Expectation each = expect_of(counted_kernel("one_each"), Parameters(), nullptr);
  ASSERT_TRUE(each.traffic[1].known());
  EXPECT_EQ(*each.traffic[1].low, 4.0 * (48 << 20));
  const Expectation other = expect_of(counted_kernel("in_condition"), Parameters(), nullptr);
  ASSERT_TRUE(other.traffic[0].known());
  EXPECT_EQ(*other.traffic[0].low, 2.0 * 10 * 256 * 4096);
}

}  // namespace
}  // namespace fathom
