// Ranges of expectations: what tests decide, what cannot be resolved, where a pointer comes from.
#include "checks.h"
#include "scan/scan_repository.h"
#include "story/expectation.h"
#include "test_files.h"

namespace fathom {
namespace {

CodeFacts scanned_code(std::string_view text, const char* file) {
  const test::TemporaryDirectory folder;
  test::write_file(folder.path() / file, text);
  return scan_repository(folder.path(), {}).take();
}

// What is expected of the last kernel of a file.
Expectation expected_of(std::string_view text, const std::vector<std::string>& given,
                        const char* file = "k.cu") {
  const CodeFacts facts = scanned_code(text, file);
  const Result<Parameters> parameters = Parameters::parse(given);
  if (facts.kernels.empty() || !parameters.ok()) {
    ADD_FAILURE() << (facts.kernels.empty() ? "no kernel" : parameters.error().message);
    return {};
  }
  Expectation out = expect_of(facts.kernels.back(), parameters.value(),
                              Platforms::built_in().find("h200").value());
  if (out.launch) out.launch->launcher = nullptr;
  return out;
}

// "4096", "0 to 4096", "at least 4096", "unknown".
std::string amount(const Expectation& expected, Quantity quantity) {
  for (const auto* list : {&expected.traffic, &expected.counters}) {
    for (const Estimate& one : *list) {
      if (one.quantity != quantity) continue;
      const auto text = [](double value) { return std::to_string(static_cast<int64_t>(value)); };
      if (one.at_least()) return "at least " + text(*one.low);
      if (!one.known()) return "unknown";
      return *one.low == *one.high ? text(*one.low) : text(*one.low) + " to " + text(*one.high);
    }
  }
  return "none";
}
std::string read_bytes(const Expectation& expected) {
  return amount(expected, Quantity::kBytesRead);
}
std::string written_bytes(const Expectation& expected) {
  return amount(expected, Quantity::kBytesWritten);
}

constexpr const char* kResidual = R"(
template <bool HAS_RESIDUAL>
__global__ void add(float* y, const float* x, const float* r, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  if constexpr (HAS_RESIDUAL) v += r[i];
  y[i] = v;
}
)";

TEST(ExpectedRanges, AFlagWidensUpwardsUntilItIsGiven) {
  EXPECT_EQ(read_bytes(expected_of(kResidual, {"n=1024"})), "4096 to 8192");
  EXPECT_EQ(read_bytes(expected_of(kResidual, {"n=1024", "HAS_RESIDUAL=0"})), "4096");
  EXPECT_EQ(read_bytes(expected_of(kResidual, {"n=1024", "HAS_RESIDUAL=true"})), "8192");
  EXPECT_EQ(expected_of(kResidual, {"n=1024"}).flags, std::vector<std::string>{"HAS_RESIDUAL"});
  EXPECT_EQ(written_bytes(expected_of(kResidual, {"n=1024"})), "4096");
}

TEST(ExpectedRanges, APointerThatIsTestedIsAFlag) {
  const char* code =
      "__global__ void k(float* y, const float* x, const float* bias, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = x[i] + (bias != nullptr ? bias[i] : 0.0f);\n}\n";
  EXPECT_EQ(read_bytes(expected_of(code, {"n=1024"})), "4096 to 8192");
  EXPECT_EQ(read_bytes(expected_of(code, {"n=1024", "bias=0"})), "4096");
  // The launch gives none.
  EXPECT_EQ(
      read_bytes(expected_of(std::string(code) + "void f(float* y, float* x, int n) { k<<<n / 256, "
                                                 "256>>>(y, x, nullptr, n); }\n",
                             {"n=1024"})),
      "4096");
}

TEST(ExpectedRanges, WhatMemoryDecidesIsNoFlag) {
  const char* code =
      "__global__ void k(float* y, const float* x, const int* keep, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= n) return;\n"
      "  if (keep[i] == 0) return;\n"
      "  y[i] = x[i];\n}\n";
  const Expectation expected = expected_of(code, {"n=1024"});
  EXPECT_EQ(read_bytes(expected), "4096 to 8192");
  EXPECT_EQ(written_bytes(expected), "0 to 4096");
  EXPECT_TRUE(expected.flags.empty());
}

// Twin: both branches write the same elements, so all are written.
TEST(ExpectedRanges, WhatBothBranchesWriteIsWritten) {
  const char* code =
      "__global__ void k(float* y, const float* x, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= n) return;\n"
      "  if (x[i] > 0) { y[i] = x[i]; } else { y[i] = 0; }\n}\n";
  EXPECT_EQ(written_bytes(expected_of(code, {"n=1024"})), "4096");
}

TEST(ExpectedRanges, ALoopThatMayBreakIsAtMostItsBound) {
  const char* code =
      "__global__ void k(int* y, const int* x, int n) {\n"
      "  int best = 0;\n"
      "  for (int i = 0; i < n; ++i) { if (x[i] < 0) break; best = x[i]; }\n"
      "  y[0] = best;\n}\n";
  EXPECT_EQ(read_bytes(expected_of(code, {"n=1024"})), "0 to 4096");
  const char* whole =
      "__global__ void k(int* y, const int* x, int n) {\n"
      "  int best = 0;\n"
      "  for (int i = 0; i < n; ++i) { best = x[i]; }\n"
      "  y[0] = best;\n}\n";
  EXPECT_EQ(read_bytes(expected_of(whole, {"n=1024"})), "4096");
}

// i + j * threads < n is the edge of the array, and x > 0 that of a stencil; x[i] > 0 is none.
TEST(ExpectedRanges, TheEdgeOfAnArrayIsNoTest) {
  const char* code =
      "__global__ void k(float* y, const float* x, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;\n"
      "  float sum = 0;\n"
      "  for (int j = 0; j < 4; ++j) sum += i + j * threads < n ? x[i + j * threads] : 0;\n"
      "  if (i > 0) y[i] = sum;\n}\n";
  const Expectation expected = expected_of(code, {"n=1024", "gridDim.x=1", "blockDim.x=256"});
  EXPECT_EQ(read_bytes(expected), "4096");
  EXPECT_EQ(written_bytes(expected), "1024");
}

TEST(ExpectedRanges, CasesOfASwitchAreTested) {
  const char* code =
      "__global__ void k(float* y, const float* x, int n, int mode) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= n) return;\n"
      "  switch (mode) { case 0: y[i] = x[i]; break; default: break; }\n}\n";
  EXPECT_EQ(written_bytes(expected_of(code, {"n=1024"})), "0 to 4096");
}

TEST(ExpectedRanges, APointerHandedOnMakesItAtLeast) {
  const char* code =
      "__global__ void k(float* y, const float* x, const float* z, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= n) return;\n"
      "  y[i] = x[i] + elsewhere(z, i);\n}\n";
  const Expectation expected = expected_of(code, {"n=1024", "gridDim.x=4", "blockDim.x=256"});
  EXPECT_EQ(read_bytes(expected), "at least 4096");
  EXPECT_TRUE(amount(expected, Quantity::kTime).starts_with("at least "));
  ASSERT_EQ(expected.open_ends.size(), 1u);
  EXPECT_EQ(expected.open_ends[0].kind, OpenEnd::Kind::kUnresolvedAccess);
  // Twin: a number handed on reads nothing.
  const std::string twin =
      "__global__ void k(float* y, const float* x, const float* z, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= n) return;\n"
      "  y[i] = x[i] + elsewhere(n, i);\n}\n";
  EXPECT_EQ(read_bytes(expected_of(twin, {"n=1024"})), "4096");
}

TEST(ExpectedRanges, APointerThatMovesInALoopReadsNewElements) {
  const char* code =
      "__global__ void k(float* y, const float* x, int n, int stride) {\n"
      "  float sum = 0;\n"
      "  const float* p = x + threadIdx.x;\n"
      "  for (int i = 0; i < n; ++i) { sum += *p; p += stride; }\n"
      "  y[threadIdx.x] = sum;\n}\n";
  EXPECT_EQ(read_bytes(expected_of(code, {"n=64", "stride=32", "blockDim.x=32", "gridDim.x=1"})),
            "8192");
}

TEST(ExpectedRanges, AClampedIndexIsAtMostItsBound) {
  const char* code =
      "__global__ void k(float* y, const float* x, int n) {\n"
      "  for (int i = threadIdx.x; i < n; i += blockDim.x) {\n"
      "    for (int u = 0; u < 8; ++u) y[i] += x[min(n - 1, i + u)];\n  }\n}\n";
  const std::string read =
      read_bytes(expected_of(code, {"n=1024", "gridDim.x=1", "blockDim.x=32"}));
  EXPECT_EQ(read, "4096 to 8192");  // y for sure, x at most n
}

constexpr const char* kTritonRows = R"(
import triton, triton.language as tl
@triton.jit
def rows(X, Y, B, N, stride, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_base = X + row * stride
    c = tl.arange(0, BLOCK)
    x = tl.load(x_base + c, mask=c < N)
    if HAS_BIAS:
        x += tl.load(B + c, mask=c < N)
    tl.store(Y + row * stride + c, x, mask=c < N)
def f(x, y, b):
    M, N = x.shape
    grid = lambda meta: (triton.cdiv(M, meta["ROWS"]),)
    rows[grid](x, y, b, N, x.stride(0), HAS_BIAS=b is not None, BLOCK=4096)
)";

TEST(ExpectedRanges, ADerivedPointerIsItsTensor) {
  const std::vector<std::string> sizes = {"M=8192", "N=4096", "ROWS=1", "dtype=bf16"};
  std::vector<std::string> without = sizes;
  without.emplace_back("HAS_BIAS=0");
  EXPECT_EQ(read_bytes(expected_of(kTritonRows, without, "k.py")), "67108864");
  EXPECT_EQ(written_bytes(expected_of(kTritonRows, without, "k.py")), "67108864");
  EXPECT_EQ(read_bytes(expected_of(kTritonRows, sizes, "k.py")), "67108864 to 67117056");
}

TEST(ExpectedRanges, AGridThatIsALambdaIsEvaluated) {
  const Expectation expected =
      expected_of(kTritonRows, {"M=8192", "N=4096", "ROWS=4", "dtype=bf16"}, "k.py");
  ASSERT_TRUE(expected.launch && expected.launch->blocks);
  EXPECT_EQ(*expected.launch->blocks, 2048);
  EXPECT_FALSE(expected_of(kTritonRows, {"M=8192", "N=4096"}, "k.py").launch->blocks);
}

TEST(ExpectedRanges, AMaskThatMemoryDecidesWidens) {
  const char* code = R"(
import triton, triton.language as tl
@triton.jit
def k(X, Y, index, N, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bound = offs < N
    i = tl.load(index + offs, mask=bound)
    x = tl.load(X + offs, mask=bound & (i >= 0))
    tl.store(Y + offs, x, mask=bound)
def f(x, y, i, n):
    k[(n // 128,)](x, y, i, n, BLOCK=128)
)";
  const Expectation expected = expected_of(code, {"n=1024", "dtype=fp32"}, "k.py");
  EXPECT_EQ(read_bytes(expected), "4096 to 8192");
  EXPECT_EQ(written_bytes(expected), "4096");
}

TEST(ExpectedRanges, ABlockPointerIsNotCounted) {
  const char* code = R"(
import triton, triton.language as tl
@triton.jit
def k(X, Y, N, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.make_block_ptr(X, (N,), (1,), (0,), (BLOCK,), (0,))
    tl.store(Y + offs, tl.load(tile), mask=offs < N)
def f(x, y, n):
    k[(n // 128,)](x, y, n, BLOCK=128)
)";
  EXPECT_EQ(written_bytes(expected_of(code, {"n=1024", "dtype=fp32"}, "k.py")), "at least 4096");
}

TEST(ExpectedRanges, AGridThatALoopCountsIsUnknown) {
  const char* code =
      "__global__ void mt(int* p) { p[blockIdx.x] = 1; }\n"
      "void go(int* p, int n) {\n  int blocks = 0;\n  for (int i = 0; i < n; i++) {\n"
      "    blocks++;\n    if (blocks == 320) { mt<<<blocks, 512>>>(p); blocks = 0; }\n  }\n}\n";
  const Expectation expected = expected_of(code, {});
  ASSERT_TRUE(expected.launch);
  EXPECT_FALSE(expected.launch->blocks);
  // Twin: set once.
  const Expectation once = expected_of(
      "__global__ void mt(int* p) { p[blockIdx.x] = 1; }\n"
      "void go(int* p, int n) {\n  int blocks = 320;\n  for (int i = 0; i < n; i++) {\n"
      "    mt<<<blocks, 512>>>(p);\n  }\n}\n",
      {});
  ASSERT_TRUE(once.launch && once.launch->blocks);
  EXPECT_EQ(*once.launch->blocks, 320);
}

TEST(ExpectedRanges, TheLaunchSitesNamesAreParameters) {
  const CodeFacts facts = scanned_code(
      "__global__ void k(float* y, const float* x, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = x[i];\n}\n"
      "void f(float* y, float* x, int pixels) { k<<<(pixels + 255) / 256, 256>>>(y, x, pixels); "
      "}\n",
      "k.cu");
  const Parameters parameters = Parameters::parse({"pixels=1024", "pixles=3"}).take();
  EXPECT_EQ(parameters.unused_in(facts), std::vector<std::string>{"pixles"});
  EXPECT_EQ(read_bytes(expected_of(
                "__global__ void k(float* y, const float* x, int n) {\n"
                "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = x[i];\n}\n"
                "void f(float* y, float* x, int pixels) { k<<<(pixels + 255) / 256, 256>>>(y, x, "
                "pixels); }\n",
                {"pixels=1024"})),
            "4096");
}

TEST(ExpectedRanges, ADim3ThatIsSetByItsMembersIsFollowed) {
  const Expectation expected = expected_of(
      "__global__ void k(float* y) { y[blockIdx.x] = 1; }\n"
      "void f(float* y, int rows) {\n  dim3 grid, block;\n  grid.x = rows;\n  grid.y = 2;\n"
      "  block.x = 128;\n  k<<<grid, block>>>(y);\n}\n",
      {"rows=64"});
  ASSERT_TRUE(expected.launch && expected.launch->blocks && expected.launch->threads);
  EXPECT_EQ(*expected.launch->blocks, 128);
  EXPECT_EQ(*expected.launch->threads, 128);
}

TEST(ExpectedRanges, WhatIsSetOnTheWayIsWritten) {
  const char* code =
      "__global__ void k(float* m, unsigned* steps, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  float a = m[i] = 0.5f * m[i];\n  unsigned s = ++steps[i];\n}\n";
  EXPECT_EQ(written_bytes(expected_of(code, {"n=1024"})), "8192");
}

TEST(ExpectedRanges, WhatACollectiveOfCubMovesIsNotCounted) {
  const char* code =
      "__global__ void k(float* out, const float* in, const float* code, int n) {\n"
      "  typedef cub::BlockLoad<float, 128, 4> Load;\n"
      "  __shared__ typename Load::TempStorage storage;\n  float v[4];\n"
      "  Load(storage).Load(in + blockIdx.x * 512, v);\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) out[i] = v[0] * code[i];\n}\n";
  EXPECT_EQ(read_bytes(expected_of(code, {"n=1024"})), "at least 4096");
}

// One thread for a row: its loads wait for one another.
TEST(ExpectedRanges, ARowOfOneThreadTakesItsRounds) {
  const char* code =
      "__global__ void k(float* y, const float* x, int rows, int n) {\n"
      "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (row >= rows) return;\n"
      "  float sum = 0;\n"
      "  for (int i = 0; i < n; ++i) sum += x[row * n + i];\n"
      "  y[row] = sum;\n}\n";
  const Expectation expected =
      expected_of(code, {"rows=1024", "n=65536", "gridDim.x=32", "blockDim.x=32"});
  EXPECT_EQ(expected.side, Bottleneck::kLatency);
  double low = 0, memory = 0;
  for (const Estimate& one : expected.counters) {
    if (one.quantity == Quantity::kTime) low = *one.low;
    if (one.name == "memory time") memory = *one.low;
  }
  EXPECT_GT(low, 5 * memory);
}

TEST(ExpectedRanges, ZeroIsAFlagAndNoSize) {
  EXPECT_TRUE(Parameters::parse({"HAS_BIAS=0"}).ok());
  EXPECT_TRUE(Parameters::parse({"CAUSAL=False"}).ok());
  EXPECT_FALSE(Parameters::parse({"batch=0"}).ok());
  EXPECT_FALSE(Parameters::parse({"HAS_BIAS=-1"}).ok());
}

}  // namespace
}  // namespace fathom
