#include "checks.h"
#include "report/scan/kernel_story.h"
#include "report/scan/scan_report.h"
#include "scan/scan_repository.h"
#include "story/source_outlines.h"
#include "story/tell_stories.h"
#include "test_files.h"

namespace fathom {
namespace {

// A repository of a few files, scanned, with the stories of its kernels.
class ExecutionStory : public ::testing::Test {
 protected:
  void file(const std::string& name, std::string_view text) {
    std::filesystem::create_directories((directory_.path() / name).parent_path());
    test::write_file(directory_.path() / name, text);
  }

  std::string kernels(const std::vector<std::string>& parameters = {}) {
    const Repository repository = list_repository(directory_.path(), 1).take();
    const CodeFacts facts = scan_repository(repository, {});
    SourceOutlines sources(repository.root, facts.files);
    StoryContext context;
    context.parameters = Parameters::parse(parameters).take();
    std::string text;
    for (const ReportPage& page : scan_pages({facts, tell_stories(facts, context, &sources)})) {
      if (page.path.starts_with("kernels")) text += page.text;
    }
    return text;
  }

  static void expect(const std::string& text, std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
  }
  static void expect_none(const std::string& text, std::string_view part) {
    EXPECT_EQ(text.find(part), std::string::npos) << part << "\nin\n" << text;
  }

 private:
  test::TemporaryDirectory directory_;
};

constexpr std::string_view kSum =
    "constexpr int kThreads = 128;\n"                                                   // 1
    "__device__ float warp_sum(float x) {\n"                                            // 2
    "  for (int o = 16; o > 0; o /= 2) x += __shfl_xor_sync(0xffffffff, x, o);\n"       // 3
    "  return x;\n"                                                                     // 4
    "}\n"                                                                               // 5
    "__global__ void row_sum(float* out, const float* in, const int* rows, int n) {\n"  // 6
    "  __shared__ float part[4];\n"                                                     // 7
    "  if (blockIdx.x >= n) return;\n"                                                  // 8
    "  const int row = rows[blockIdx.x];\n"                                             // 9
    "  float sum = 0;\n"                                                                // 10
    "  for (int i = threadIdx.x; i < 64; i += kThreads) {\n"                            // 11
    "    const float v = in[row * 64 + i];\n"                                           // 12
    "    sum += v * v;\n"                                                               // 13
    "  }\n"                                                                             // 14
    "  sum = warp_sum(sum);\n"                                                          // 15
    "  part[threadIdx.x / 32] = sum;\n"                                                 // 16
    "  __syncthreads();\n"                                                              // 17
    "  if (threadIdx.x == 0) out[blockIdx.x] = part[0] + part[1];\n"                    // 18
    "}\n"                                                                               // 19
    "void run(float* out, const float* in, const int* rows, int n, bool wide) {\n"      // 20
    "  assert(n > 0);\n"                                                                // 21
    "  if (wide) throw 1;\n"                                                            // 22
    "  const int blocks = n;\n"                                                         // 23
    "  row_sum<<<blocks, kThreads>>>(out, in, rows, n);\n"                              // 24
    "  CUDA_CHECK(cudaGetLastError());\n"                                               // 25
    "}\n"                                                                               // 26
    "void forward(float* o, const float* i, const int* r, int layers) {\n"              // 27
    "  for (int layer = 0; layer < layers; ++layer) run(o, i, r, 8, false);\n"          // 28
    "}\n";

TEST_F(ExecutionStory, FollowsTheKernelsOwnStatements) {
  file("csrc/sum.cu", kSum);
  const std::string text = kernels();
  expect(text, "declares shared memory `__shared__ float part[4]` `sum.cu:7`");
  expect(text, "exits if `blockIdx.x >= n` `sum.cu:8`");
  expect(text, "reads global memory `const int row = rows[blockIdx.x]` `sum.cu:9`");
  expect(text, "loop: `for (int i = threadIdx.x; i < 64; i += kThreads)` `sum.cu:11`");
  expect(text,
         "   1. reads global memory `const float v = in[row * 64 + i]` `sum.cu:12`, read "
         "through the index `row`");
  expect(text, "   2. accumulates: `sum += v * v` `sum.cu:13`");
  expect(text, "writes shared memory `part[threadIdx.x / 32] = sum` `sum.cu:16`");
  expect(text, "synchronises the block `__syncthreads()` `sum.cu:17`");
  expect(text, "if `threadIdx.x == 0` `sum.cu:18`");
  expect(text,
         "reads shared memory and writes global memory `out[blockIdx.x] = part[0] + part[1]` "
         "`sum.cu:18`");
}

TEST_F(ExecutionStory, OpensWhatTheKernelCalls) {
  file("csrc/sum.cu", kSum);
  const std::string text = kernels();
  expect(text, "calls `sum = warp_sum(sum)` `sum.cu:15`, defined at `sum.cu:2`");
  expect(text, "   1. loop: `for (int o = 16; o > 0; o /= 2)` `sum.cu:3`");
  expect(text, "      1. sums across the warp `x += __shfl_xor_sync(0xffffffff, x, o)` `sum.cu:3`");
}

TEST_F(ExecutionStory, TellsChecksLaunchAndHowOften) {
  file("csrc/sum.cu", kSum);
  const std::string text = kernels({"n=40"});
  expect(text, "checks `assert(n > 0)` `sum.cu:21`");
  expect(text, "fails if `wide` `sum.cu:22`, `throw 1`");
  expect(text, "launches `row_sum` `sum.cu:24`, via `<<<>>>`");
  expect(text, "grid `n` = 40 (derived), block `128`");
  expect(text, "`CUDA_CHECK(cudaGetLastError())` `sum.cu:25`, its error code is checked");
  expect(text, "called by `C++ forward` `csrc/sum.cu:28`");
  expect(text, "once per layer: `for (int layer = 0; layer < layers; ++layer)` `csrc/sum.cu:28`");
  expect(text, "On the critical path or overlapped: unknown from the code");
}

TEST_F(ExecutionStory, WhatIsNotMemoryIsNotSaidToBe) {
  file("csrc/a.cu",
       "__global__ void k(float* out, int n) {\n"
       "  float acc[4] = {};\n"
       "  const int half = n / 2;\n"
       "  acc[0] = half;\n"
       "  const int c = acc[1];\n"
       "}\n"
       "void run(float* o) { k<<<1, 32>>>(o, 4); }\n");
  const std::string text = kernels();
  expect_none(text, "reads global memory");
  expect_none(text, "reads shared memory");
  expect_none(text, "writes global memory");
  expect_none(text, "writes shared memory");
  expect_none(text, "an address");
}

// An element that is handed on by value is a number; a reference to it is memory.
TEST_F(ExecutionStory, AnElementByValueIsNoAddress) {
  file("sum.cu",
       "__device__ void add(float* value, float one) { *value = *value + one; }\n"  // 1
       "__device__ void twice(float& place) { place = place * 2; }\n"               // 2
       "__global__ void k(const float* in, float* out, unsigned base) {\n"          // 3
       "  float sum = 0;\n"                                                         // 4
       "  add(&sum, in[threadIdx.x]);\n"                                            // 5
       "  unsigned found = base;\n"                                                 // 6
       "  const float* row = in + base;\n"                                          // 7
       "  found = upper_bound(row, row + 4, sum) - row;\n"                          // 8
       "  found = found - 1;\n"                                                     // 9
       "  out[found] = sum;\n"                                                      // 10
       "}\n"                                                                        // 11
       "void run(float* x) { k<<<1, 32>>>(x, x, 0); }\n");
  const std::string text = kernels();
  expect(text, "reads global memory `add(&sum, in[threadIdx.x])`");
  expect_none(text, "memory `*value");
  expect_none(text, "address in global memory: `found");
  expect(text, "writes global memory `out[found] = sum`");
}

// pos.x(i) = v writes where the method says; a call alone does not.
TEST_F(ExecutionStory, AssignmentsThroughAReturnedReference) {
  file("move.cu",
       "struct Points { float* x_; __device__ float& x(int i) const { return x_[i]; } };\n"
       "__global__ void k(Points to, float dt, int n) {\n"
       "  int i = threadIdx.x;\n"
       "  to.x(i) = dt;\n"
       "  float d = (dt + 1) * (dt);\n"
       "  to.x(i + 1) = d;\n"
       "}\n"
       "void run(Points p) { k<<<1, 32>>>(p, 1, 4); }\n");
  const std::string text = kernels();
  expect(text, "assigns through the returned reference: `to.x(i) = dt`");
  expect(text, "assigns through the returned reference: `to.x(i + 1) = d`");
  expect(text, "computes `float d = (dt + 1) * (dt)`");
}

TEST_F(ExecutionStory, TritonFollowsItsPython) {
  file("k/rows.py",
       "import triton\n"
       "import triton.language as tl\n"
       "\n"
       "@triton.jit\n"
       "def rows_kernel(x_ptr, idx_ptr, out_ptr, n, BLOCK: tl.constexpr, SCALE: tl.constexpr):\n"
       "    pid = tl.program_id(0)\n"
       "    if pid >= n:\n"
       "        return\n"
       "    row = tl.load(idx_ptr + pid)\n"
       "    offs = tl.arange(0, BLOCK)\n"
       "    acc = tl.zeros((BLOCK,), dtype=tl.float32)\n"
       "    for k in range(0, n):\n"
       "        acc += tl.load(x_ptr + row * n + offs, mask=offs < n)\n"
       "    if SCALE:\n"
       "        acc = acc * 2\n"
       "    tl.store(out_ptr + pid * n + offs, acc, mask=offs < n)\n"
       "\n"
       "def rows(x, idx, out):\n"
       "    assert x.is_contiguous()\n"
       "    n = x.shape[0]\n"
       "    if n % 2 == 0:\n"
       "        block = 64\n"
       "    else:\n"
       "        block = 32\n"
       "    rows_kernel[(n,)](x, idx, out, n, BLOCK=block, SCALE=True)\n");
  const std::string text = kernels();
  expect(text, "checks `assert x.is_contiguous()` `rows.py:19`");
  expect(text, "selects `block = 64` `rows.py:21-24`, if `n % 2 == 0`, else `block = 32`");
  expect(text, "computes its global index: `pid = tl.program_id(0)` `rows.py:6`");
  expect(text, "exits if `pid >= n` `rows.py:7-8`");
  expect(text, "reads global memory `row = tl.load(idx_ptr + pid)` `rows.py:9`");
  expect(text, "loop: `for k in range(0, n)` `rows.py:12`");
  expect(text, "`rows.py:13`, through the index `row` (likely), masked");
  expect(text, "compiled only if `SCALE` `rows.py:14`");
  expect(text, "writes global memory `tl.store(out_ptr + pid * n + offs, acc, mask=offs < n)`");
}

TEST_F(ExecutionStory, LongKernelsSayWhatIsLeftOut) {
  std::string code = "__global__ void k(float* p) {\n";
  for (int i = 0; i < 90; ++i) code += "  p[" + std::to_string(i) + "] = 1;\n  __syncthreads();\n";
  code += "}\nvoid run(float* p) { k<<<1, 1>>>(p); }\n";
  file("csrc/long.cu", code);
  const std::string text = kernels();
  expect(text, "140 more steps are omitted; see `csrc/long.cu:1-182`.");
}

TEST_F(ExecutionStory, HostileNestingIsToldUpToADepth) {
  std::string code = "__global__ void k(float* p) {\n";
  for (int i = 0; i < 20000; ++i) code += "if (p) {";
  code += "p[0] = 1;";
  for (int i = 0; i < 20000; ++i) code += "}";
  code += "\n}\nvoid run(float* p) { k<<<1, 1>>>(p); }\n";
  file("csrc/deep.cu", code);
  expect(kernels(), "the code inside is nested too deeply to show");
}

}  // namespace
}  // namespace fathom
