// What the steps of a kernel's story say, told from code that libraries and branches are in.
#include "checks.h"
#include "scan/scan_repository.h"
#include "story/source_outlines.h"
#include "story/tell_stories.h"
#include "test_files.h"

namespace fathom {
namespace {

void add_lines(const std::vector<StoryStep>& steps, size_t depth, std::string& out) {
  const WordTable& words = WordTable::built_in();
  for (const StoryStep& step : steps) {
    out += std::string(2 * depth, ' ') + words.text(step.words);
    for (const std::string& code : step.code) out += " `" + code + "`";
    for (const StepRemark& remark : step.remarks) {
      const std::string said = words.text(remark.words);
      if (!said.empty()) out += " [" + said + "]";
    }
    out += "\n";
    add_lines(step.inside, depth + 1, out);
  }
}

// The story of the last kernel of a file: what it does on the GPU, or how it is launched.
std::string told(std::string_view code, const char* file = "k.cu", bool launch = false) {
  const test::TemporaryDirectory folder;
  test::write_file(folder.path() / file, code);
  const CodeFacts facts = scan_repository(folder.path(), {}).take();
  SourceOutlines sources(folder.path(), facts.files);
  const Stories stories = tell_stories(facts, StoryContext(), &sources);
  std::string out;
  if (stories.kernels.empty()) return "no kernel";
  const Story& story = stories.kernels.back().story;
  if (launch) {
    add_lines(story.launch.steps, 0, out);
  } else if (story.body) {
    add_lines(story.body->steps, 0, out);
  }
  return out;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(StorySteps, CollectivesOfCubSayWhatTheyDo) {
  const std::string story = told(R"(
template <typename T, int THREADS>
__global__ void k(const T* in, T* out, int n) {
  typedef cub::BlockLoad<T, THREADS, 4, cub::BLOCK_LOAD_TRANSPOSE> Load;
  using Reduce = cub::BlockReduce<T, THREADS>;
  typedef cub::BlockScan<T, THREADS> Scan;
  __shared__ typename Load::TempStorage a;
  __shared__ typename Reduce::TempStorage b;
  __shared__ typename Scan::TempStorage c;
  T values[4];
  Load(a).Load(in + blockIdx.x * 4 * THREADS, values);
  T sum = Reduce(b).Sum(values);
  T most = Reduce(b).Reduce(values[0], cub::Max());
  Scan(c).ExclusiveSum(values, values);
  T warp = cub::WarpReduce<T>(d).Sum(sum);
  cub::BlockStore<T, THREADS, 4>(e).Store(out + blockIdx.x * 4 * THREADS, values);
}
)");
  EXPECT_TRUE(has(story, "loads a tile of global memory with the block `Load(a)")) << story;
  EXPECT_TRUE(has(story, "sums across the block `T sum")) << story;
  EXPECT_TRUE(has(story, "reduces across the block `T most")) << story;
  EXPECT_TRUE(has(story, "scans across the block (prefix sums) `Scan(c)")) << story;
  EXPECT_TRUE(has(story, "sums across the warp `T warp")) << story;
  EXPECT_TRUE(has(story, "stores a tile to global memory with the block")) << story;
  EXPECT_FALSE(has(story, "reads shared memory")) << story;
  // Storage of several collectives is one step.
  EXPECT_TRUE(has(story, "TempStorage a` `__shared__ typename Reduce::TempStorage b`")) << story;
}

// Twin: a class of the code's own with such a method.
// asm("ld.global …") reads; a pointer that is moved by a number in memory stays in its memory.
TEST(StorySteps, AssemblyAndMovedPointers) {
  const std::string story = told(R"(
__global__ void k(float* out, const float* in, const int* at, int n) {
  float x;
  unsigned y;
  asm volatile("ld.global.L1::no_allocate.f32 %0, [%1];" : "=f"(x) : "l"(in + threadIdx.x));
  asm volatile("mov.u32 %0, %laneid;" : "=r"(y));
  out += n + *at;
  out[threadIdx.x] = x;
}
void run(float* out, float* in, int* at) { k<<<1, 32>>>(out, in, at, 4); }
)");
  EXPECT_TRUE(has(story, "reads global memory `asm volatile(\"ld.global")) << story;
  EXPECT_FALSE(has(story, "reads global memory `asm volatile(\"mov")) << story;
  EXPECT_TRUE(has(story, "writes global memory `out[threadIdx.x] = x`")) << story;
}

TEST(StorySteps, AnotherClassWithSuchAMethodIsNoCollective) {
  const std::string story = told(R"(
__global__ void k(float* out, Stats stats) {
  float sum = stats.Sum(out[threadIdx.x]);
  out[threadIdx.x] = sum;
}
)");
  EXPECT_FALSE(has(story, "across the")) << story;
}

TEST(StorySteps, CooperativeGroupsSayWhatTheyDo) {
  const std::string story = told(R"(
namespace cg = cooperative_groups;
__global__ void k(float* out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  auto tile = cg::tiled_partition<16>(block);
  float v = out[threadIdx.x];
  v = cg::reduce(warp, v, cg::plus<float>{});
  float other = tile.shfl_down(v, 1);
  tile.sync();
  out[threadIdx.x] = v + other;
}
)");
  EXPECT_TRUE(has(story, "sums across the thread group `v = cg::reduce")) << story;
  EXPECT_TRUE(has(story, "exchanges values across the thread group `float other")) << story;
  EXPECT_TRUE(has(story, "synchronises the thread group `tile.sync()`")) << story;
}

TEST(StorySteps, ABreakOfACaseEndsNoLoop) {
  const std::string story = told(R"(
__global__ void k(float* y, const float* x, int n, int mode) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    switch (mode) {
      case 0:
      case 1:
        y[i] = x[i];
        break;
      default:
        if (x[i] < 0) break;
        y[i] = 0;
    }
    if (y[i] > 4) break;
  }
}
)");
  EXPECT_TRUE(has(story, "for `case 0` `case 1`")) << story;
  EXPECT_TRUE(has(story, "exits the switch if `x[i] < 0`")) << story;
  EXPECT_TRUE(has(story, "exits the loop if `y[i] > 4`")) << story;
  EXPECT_FALSE(has(story, "exits the loop `break`")) << story;
}

TEST(StorySteps, ALoopThatIsKeptRolledIsNotUnrolled) {
  const std::string story = told(R"(
__global__ void k(float* y, const float* x) {
#pragma unroll 1
  for (int i = 0; i < 4; ++i) y[i] = x[i];
#pragma unroll 4
  for (int j = 0; j < 4; ++j) y[j] = x[j];
#pragma nounroll
  for (int l = 0; l < 4; ++l) y[l] = x[l];
}
)");
  EXPECT_TRUE(has(story, "`for (int j = 0; j < 4; ++j)` [unrolled]")) << story;
  EXPECT_TRUE(has(story, "`for (int i = 0; i < 4; ++i)`\n")) << story;
  EXPECT_TRUE(has(story, "`for (int l = 0; l < 4; ++l)`\n")) << story;
}

TEST(StorySteps, ThreadsThatEndAfterAStatementAreSaidTo) {
  const std::string story = told(R"(
__global__ void k(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (x[i] < 0) {
    y[i] = 0;
    return;
  }
  if (x[i] > 1) {
    y[i] = 1;
  }
  y[i] = x[i];
}
)");
  EXPECT_TRUE(has(story, "if `x[i] < 0` [the condition reads global memory] [then exits]"))
      << story;
  EXPECT_TRUE(has(story, "if `x[i] > 1` [the condition reads global memory]\n")) << story;
}

TEST(StorySteps, ATestOfTemplateParametersIsAChoiceOfTheCompiler) {
  const std::string story = told(R"(
template <int KIND, bool kCausal>
__global__ void k(float* y, const float* x, int kind) {
  if (KIND == GENERAL) y[0] = x[0];
  if (kCausal) y[1] = x[1];
  if (kind == GENERAL) y[2] = x[2];
}
)");
  EXPECT_TRUE(has(story, "compiled only if `KIND == GENERAL`")) << story;
  EXPECT_TRUE(has(story, "compiled only if `kCausal`")) << story;
  EXPECT_TRUE(has(story, "\nif `kind == GENERAL`") || story.starts_with("if `kind")) << story;
}

TEST(StorySteps, AMemberOfSharedMemoryIsReadAndNoAddress) {
  const std::string story = told(R"(
__global__ void k(float* y) {
  __shared__ State state;
  int count = 0;
  if (threadIdx.x == 0) state.count = 4;
  __syncthreads();
  count = state.count;
  y[threadIdx.x] = count;
}
)");
  EXPECT_TRUE(has(story, "writes shared memory `state.count = 4`")) << story;
  EXPECT_TRUE(has(story, "reads shared memory `count = state.count`")) << story;
}

// A number in shared memory is read and written by its name; a barrier is not.
TEST(StorySteps, NumbersInSharedMemoryAreReadAndWritten) {
  const std::string story = told(R"(
__global__ void k(const float* in, float* out, float sum) {
  __shared__ float largest;
  __shared__ cuda::barrier<cuda::thread_scope_block> ready;
  auto ready_ptr = &ready;
  if (threadIdx.x == 0) largest = in[blockIdx.x];
  if (threadIdx.x == 0) largest = fmaxf(largest, sum);
  fill_rows(in, (*ready_ptr));
  (*ready_ptr).arrive_and_wait();
  float scale = 127.0f / fmaxf(largest, 1.0f);
  float mine = 2.0f * sum;
  use(&largest);
  out[threadIdx.x] = scale * mine;
}
)");
  EXPECT_TRUE(has(story, "reads global memory and writes shared memory `largest")) << story;
  EXPECT_TRUE(has(story, "updates shared memory `largest = fmaxf(largest, sum)`")) << story;
  EXPECT_TRUE(has(story, "reads shared memory `float scale")) << story;
  EXPECT_TRUE(has(story, "computes `float mine")) << story;
  EXPECT_TRUE(has(story, "calls `fill_rows(in, (*ready_ptr))`")) << story;
  EXPECT_TRUE(has(story, "uses an mbarrier in shared memory `(*ready_ptr).arrive_and_wait()`"))
      << story;
  EXPECT_TRUE(has(story, "calls `use(&largest)`")) << story;
}

// What stands behind a comma is a declaration of its own, and no target.
TEST(StorySteps, DeclarationsBehindACommaRead) {
  const std::string story = told(R"(
__global__ void k(const int* rows, int* out, int v) {
  int first = rows[v], last = rows[v + 1];
  int chained = out[v] = first;
  out[last] = first + min(first, chained);
}
)");
  EXPECT_TRUE(has(story, "reads global memory `int first = rows[v], last = rows[v + 1]`")) << story;
  EXPECT_TRUE(has(story, "writes global memory `int chained = out[v] = first`")) << story;
}

// A function of the code's own that reduces says so by its name, where it does what that takes.
TEST(StorySteps, ReductionsOfTheCodesOwnAreSaid) {
  const std::string story = told(R"(
template <int N>
__device__ float warp_reduce_max(float x) {
  for (int i = N / 2; i > 0; i /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, i));
  return x;
}
template <int METHOD>
__device__ float block_reduce(float x) {
  __shared__ float parts[32];
  x = warp_reduce_max<32>(x);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  return warp_reduce_max<32>(parts[threadIdx.x % 32]);
}
__device__ float reduced_rate(float x) { return x * 0.5f; }
__global__ void k(const float* in, float* out) {
  float x = in[threadIdx.x];
  float most = warp_reduce_max<32>(x);
  float all = block_reduce<SUM>(x);
  float rate = reduced_rate(x);
  out[threadIdx.x] = most + all + rate;
}
)");
  EXPECT_TRUE(has(story, "across the warp `float most")) << story;
  EXPECT_TRUE(has(story, "sums across the block `float all")) << story;
  EXPECT_TRUE(has(story, "computes `float rate")) << story;
}

// What a launch fills in holds for that launch, and is no default.
TEST(StorySteps, TemplateArgumentsOfTheLaunchAreNoDefaults) {
  const std::string story = told(R"(
template <bool kScaled = false, bool kBiased = true>
__global__ void k(float* out) {
  if constexpr (kScaled) out[threadIdx.x] *= 2.0f;
  if constexpr (!kBiased) out[threadIdx.x] += 1.0f;
}
void run(float* out) { k<true, true><<<1, 32>>>(out); }
)");
  EXPECT_TRUE(has(story, "`kScaled` [on at this launch:]")) << story;
  EXPECT_TRUE(has(story, "`!kBiased` [off at this launch:]")) << story;
  EXPECT_FALSE(has(story, "by default")) << story;
}

TEST(StorySteps, NamesOfArraysAndChecksAreWhole) {
  const std::string story = told(R"(
template <int ROWS, int COLS>
__global__ void k(float* out) {
  static_assert((ROWS * 4) % COLS == 0, "a first long message that says what is wrong with it");
  static_assert((ROWS * 8) % COLS == 0, "a second long message that says what is wrong with it");
  static_assert((ROWS * 16) % COLS == 0, "a third long message that says what is wrong with it");
  auto block = cooperative_groups::this_thread_block();
  float sums[ROWS * COLS] = {0.0f};
  float left[ROWS] = {0.0f};
  float right[COLS * 2] = {0.0f};
  int from = 0, to = 1;
  int half = ROWS / 2;
  int step = 0;
  step += 1;
  sums[0] += left[0] * right[0];
  out[threadIdx.x] = sums[0];
}
)");
  EXPECT_TRUE(has(story, "`sums` `left` `right`")) << story;
  EXPECT_FALSE(has(story, "COLS]`")) << story;
  EXPECT_TRUE(has(story, "checks at compile time: `static_assert((ROWS * 4) % COLS == 0")) << story;
  EXPECT_TRUE(has(story, "names its group of threads: `auto block")) << story;
  EXPECT_TRUE(has(story, "accumulates: `sums[0] += left[0] * right[0]`")) << story;
  EXPECT_FALSE(has(story, "accumulates: `step")) << story;
}

TEST(StorySteps, SizesOfALaunchAreNoCalls) {
  const std::string story = told(R"(
__global__ void k(float* out) { out[threadIdx.x] = 0; }
void run(float* out, int n) {
  Timer timer(out);
  dim3 grid(n / 32, 2);
  prepare(out);
  k<<<grid, 32>>>(out);
}
)",
                                 "k.cu", true);
  EXPECT_TRUE(has(story, "constructs `Timer timer(out)`")) << story;
  EXPECT_TRUE(has(story, "computes a launch parameter: `dim3 grid(n / 32, 2)`")) << story;
  EXPECT_TRUE(has(story, "calls `prepare(out)`")) << story;
}

TEST(StorySteps, AnAddressIsNotRead) {
  const std::string story = told(R"(
__global__ void k(float* out, const float* in, unsigned mask, const unsigned* bits) {
  __shared__ float tile[128];
  float* mine = (float*)&tile[threadIdx.x];
  const float* row = &(in[blockIdx.x * 128]);
  *reinterpret_cast<float4*>(&reinterpret_cast<float*>(out)[4 * threadIdx.x]) = make_float4(1, 2, 3, 4);
  unsigned kept = mask & bits[threadIdx.x];
}
)");
  EXPECT_TRUE(has(story, "computes an address in shared memory: `float* mine")) << story;
  EXPECT_TRUE(has(story, "computes an address in global memory: `const float* row")) << story;
  EXPECT_TRUE(has(story, "writes global memory `*reinterpret_cast<float4*>")) << story;
  EXPECT_TRUE(has(story, "reads global memory `unsigned kept")) << story;
}

TEST(StorySteps, TensorsAreMemoryAndTheirSizesAreNot) {
  const std::string story = told(R"(
__global__ void k(Tensor<float, 2, true> in, Tensor<float, 1, true> out, Metric metric) {
  int rows = in.getSize(0);
  auto row = in[blockIdx.x].data();
  Metric best = metric.zero();
  float v = in[blockIdx.x][threadIdx.x];
  out[threadIdx.x] = v;
}
)");
  EXPECT_TRUE(has(story, "computes `int rows = in.getSize(0)`")) << story;
  EXPECT_TRUE(has(story, "reads global memory `float v")) << story;
  EXPECT_TRUE(has(story, "writes global memory `out[threadIdx.x] = v`")) << story;
  EXPECT_FALSE(has(story, "reads global memory `auto row")) << story;
  EXPECT_FALSE(has(story, "global memory: `Metric best")) << story;
}

TEST(StorySteps, WhatIsSetOnTheWayIsWritten) {
  const std::string story = told(R"(
__global__ void k(float* m, const float* g, unsigned* steps, float* y) {
  int i = threadIdx.x;
  float a = m[i] = 0.5f * m[i] + g[i];
  unsigned s = ++steps[i];
  y[i] = a / s;
}
)");
  EXPECT_TRUE(has(story, "updates global memory `float a = m[i]")) << story;
  EXPECT_TRUE(has(story, "updates global memory `unsigned s = ++steps[i]`")) << story;
  EXPECT_TRUE(has(story, "computes its position in the block: `int i = threadIdx.x`")) << story;
}

TEST(StorySteps, APythonFunctionMayLaunchSeveralKernels) {
  const std::string story = told(R"(
import triton, triton.language as tl
@triton.jit
def first(X, N, B: tl.constexpr):
    tl.store(X + tl.arange(0, B), 0.0)
@triton.jit
def second(X, N, B: tl.constexpr):
    tl.store(X + tl.arange(0, B), 1.0)
def run(x):
    assert x.is_cuda
    assert x.dim() == 1
    first[(1,)](x, 4, B=4)
    second[(1,)](x, 4, B=4)
)",
                                 "k.py", true);
  EXPECT_TRUE(has(story, "launches another kernel: `first`")) << story;
  EXPECT_TRUE(has(story, "launches `second[(1,)]")) << story;
  EXPECT_TRUE(has(story, "checks `assert x.is_cuda` `assert x.dim() == 1`")) << story;
}

TEST(StorySteps, ATileThatIsScannedIsNotReduced) {
  const std::string story = told(R"(
import triton, triton.language as tl
@triton.jit
def k(X, Y, N, B: tl.constexpr):
    x = tl.load(X + tl.arange(0, B))
    s = tl.cumsum(x, axis=0)
    for i in tl.static_range(4):
        s = tl.associative_scan(s, 0, combine)
    tl.store(Y + tl.arange(0, B), tl.sum(s))
def run(x, y):
    k[(1,)](x, y, 4, B=4)
)",
                                 "k.py");
  EXPECT_TRUE(has(story, "scans a tile (prefix combination) `s = tl.cumsum")) << story;
  EXPECT_TRUE(has(story, "[unrolled at compile time]")) << story;
  EXPECT_TRUE(has(story, "reduces a tile")) << story;
}

StoryStep step_of(Phrase phrase, std::vector<StoryStep> inside = {}) {
  StoryStep out;
  out.words = phrase;
  out.inside = std::move(inside);
  return out;
}

TEST(StorySteps, ShorteningKeepsWhatMatters) {
  std::vector<StoryStep> steps;
  for (int i = 0; i < 10; ++i) {
    steps.push_back(step_of(Phrase::kComputes));
    steps.push_back(step_of(Phrase::kRepeats, {step_of(Phrase::kComputes), step_of(Phrase::kChecks),
                                               step_of(Phrase::kReadsGlobal)}));
  }
  EXPECT_EQ(shorten(steps, 20), 30u);
  ASSERT_EQ(steps.size(), 10u);
  for (const StoryStep& step : steps) {
    ASSERT_EQ(step.inside.size(), 1u);
    EXPECT_TRUE(step.inside[0].words.is(Phrase::kReadsGlobal));
    ASSERT_EQ(step.remarks.size(), 1u);
    EXPECT_EQ(step.remarks[0].words.list[0].count, 2u);
  }
}

TEST(StorySteps, NoStepIsLeftOutAlone) {
  std::vector<StoryStep> steps;
  for (int i = 0; i < 6; ++i)
    steps.push_back(step_of(Phrase::kRepeats, {step_of(Phrase::kReadsGlobal)}));
  EXPECT_EQ(shorten(steps, 10), 0u);
  EXPECT_EQ(count_steps(steps), 12u);
  // Very many of them are cut all the same.
  for (int i = 0; i < 100; ++i)
    steps.push_back(step_of(Phrase::kRepeats, {step_of(Phrase::kReadsGlobal)}));
  EXPECT_GT(shorten(steps, 10), 100u);
  EXPECT_LE(count_steps(steps), 13u);
}

}  // namespace
}  // namespace fathom
