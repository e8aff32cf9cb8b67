// Where kernels touch arrays: each case is a kernel, and what its accesses come to.
#include <set>

#include "checks.h"
#include "scan/accesses/access_walk.h"
#include "scan/accesses/triton_walk.h"
#include "scan/cpp/cpp_file.h"
#include "scan/scan_repository.h"
#include "test_files.h"

namespace fathom {
namespace {

// The kernels of a file, scanned as a repository of its own.
CodeFacts scan_text(std::string_view text, const char* name = "k.cu") {
  const test::TemporaryDirectory folder;
  test::write_file(folder.path() / name, text);
  Result<CodeFacts> facts = scan_repository(folder.path(), {});
  EXPECT_TRUE(facts.ok());
  return facts.take();
}

KernelFacts kernel_of(std::string_view text, const char* name = "k.cu") {
  const CodeFacts facts = scan_text(text, name);
  if (facts.kernels.empty()) {
    ADD_FAILURE() << "no kernel";
    return {};
  }
  return facts.kernels.back();
}

std::string elements(const KernelFacts& kernel, std::string_view array,
                     AccessKind kind = AccessKind::kRead) {
  for (const ArrayTraffic& traffic : kernel.traffic) {
    if (traffic.array == array && traffic.kind == kind)
      return traffic.elements.empty() ? "unknown" : traffic.elements;
  }
  return "none";
}

std::string times(const KernelFacts& kernel, std::string_view array) {
  for (const ArrayTraffic& traffic : kernel.traffic) {
    if (traffic.array == array && traffic.kind == AccessKind::kRead) return traffic.times;
  }
  return "none";
}

const ArrayAccess& access(const KernelFacts& kernel, std::string_view array,
                          AccessKind kind = AccessKind::kRead) {
  for (const ArrayAccess& one : kernel.accesses) {
    if (one.array == array && one.kind == kind) return one;
  }
  ADD_FAILURE() << array;
  static const ArrayAccess none;
  return none;
}

// "cp.async.cg.shared.global" ends like a reduction in global memory.
TEST(Accesses, CopiesByAssemblyRead) {
  const auto with = [](const std::string& instruction) {
    return kernel_of(
        "__device__ void copy(void* to, const void* from, int p) {\n"
        "  unsigned at = __cvta_generic_to_shared(to);\n"
        "  asm volatile(\"{ @p " +
        instruction +
        " [%0], [%1], 16; }\" :: \"r\"(at), \"l\"(from));\n}\n"
        "__global__ void k(const int4* a) {\n  __shared__ int4 s[128];\n"
        "  copy(&s[threadIdx.x], &a[blockIdx.x * blockDim.x + threadIdx.x], 1);\n}\n");
  };
  EXPECT_NE(elements(with("cp.async.cg.shared.global"), "a"), "none");
  EXPECT_EQ(elements(with("cp.async.cg.shared.global"), "a", AccessKind::kAtomic), "none");
  EXPECT_NE(elements(with("red.global.add.f32"), "a", AccessKind::kAtomic), "none");
}

// A length that all threads read alike is no index; one that each thread reads is.
TEST(Accesses, LengthsInMemoryAreNoGathers) {
  const KernelFacts uniform = kernel_of(
      "__global__ void k(float* x, const int* length) {\n  int n = *length + 1;\n"
      "  for (int t = threadIdx.x; t < n; t += blockDim.x) x[blockIdx.x * n + t] = 1;\n}\n");
  EXPECT_EQ(access(uniform, "x", AccessKind::kWrite).pattern, AccessPattern::kColumnsOfRow);
  const KernelFacts gather = kernel_of(
      "__global__ void k(float* x, const int* ids) {\n  int n = ids[threadIdx.x];\n"
      "  x[n] = 1;\n}\n");
  EXPECT_EQ(access(gather, "x", AccessKind::kWrite).pattern, AccessPattern::kThroughIndex);
}

TEST(Accesses, OneElementPerThreadUpToItsBound) {
  const KernelFacts kernel = kernel_of(
      "__global__ void k(float* out, const half* in, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= n) { return; }\n"
      "  out[i] = 2.0f * __half2float(in[i]);\n}\n");
  EXPECT_EQ(elements(kernel, "in"), "n");
  EXPECT_EQ(elements(kernel, "out", AccessKind::kWrite), "n");
  EXPECT_EQ(access(kernel, "in").element_bytes, 2u);
  EXPECT_EQ(access(kernel, "out", AccessKind::kWrite).element_bytes, 4u);
  EXPECT_EQ(access(kernel, "in").pattern, AccessPattern::kOnePerThread);
  EXPECT_EQ(access(kernel, "in").at.line, 4u);
  EXPECT_EQ(access(kernel, "in").index, "in[i]");
}

TEST(Accesses, WithoutABoundTheGridSays) {
  const KernelFacts kernel = kernel_of(
      "__global__ void k(float* out, const float* in) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  out[i] = in[i];\n}\n");
  EXPECT_EQ(elements(kernel, "in"), "gridDim.x * blockDim.x");
}

TEST(Accesses, ARowByAWarpIsReadTwice) {
  const KernelFacts kernel = kernel_of(
      "#define WARP 32\n"
      "__global__ void k(float* out, const float* in, const float* w, int N, int C) {\n"
      "  int row = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;\n"
      "  int lane = threadIdx.x % WARP;\n"
      "  if (row >= N) return;\n"
      "  const float* x = in + row * C;\n"
      "  float sum = 0.0f;\n"
      "  for (int i = lane; i < C; i += WARP) sum += x[i];\n"
      "  for (int i = lane; i < C; i += WARP) out[row * C + i] = x[i] * sum * w[i];\n}\n");
  EXPECT_EQ(elements(kernel, "in"), "N * C");
  EXPECT_EQ(times(kernel, "in"), "2 * N * C");
  EXPECT_EQ(elements(kernel, "w"), "C");
  EXPECT_EQ(times(kernel, "w"), "N * C");
  EXPECT_EQ(elements(kernel, "out", AccessKind::kWrite), "N * C");
  EXPECT_EQ(access(kernel, "in").pattern, AccessPattern::kColumnsOfRow);
  EXPECT_EQ(kernel.arithmetic, "3 * N * C");
}

TEST(Accesses, ThroughAnIndexAndBesideIt) {
  const KernelFacts kernel = kernel_of(
      "__global__ void k(float* out, const int* ids, const float* table, const float* pos, int B, "
      "int T, int C) {\n"
      "  int idx = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (idx < B * T * C) {\n"
      "    int bt = idx / C; int t = bt % T; int c = idx % C;\n"
      "    int id = ids[bt];\n"
      "    out[idx] = table[id * C + c] + pos[t * C + c];\n  }\n}\n");
  EXPECT_EQ(elements(kernel, "ids"), "B * T");
  EXPECT_EQ(elements(kernel, "table"), "B * T * C");
  EXPECT_EQ(elements(kernel, "pos"), "T * C");
  EXPECT_EQ(access(kernel, "table").pattern, AccessPattern::kThroughIndex);
  EXPECT_NE(access(kernel, "pos").pattern, AccessPattern::kThroughIndex);
}

TEST(Accesses, ATriangleIsHalfOfTheSquare) {
  const KernelFacts kernel = kernel_of(
      "__global__ void k(float* out, const float* in, int N, int T) {\n"
      "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (row >= N * T) return;\n"
      "  int own = row % T;\n"
      "  float sum = 0.0f;\n"
      "  for (int i = 0; i < own; i++) sum += in[row * T + i];\n"
      "  out[row] = sum;\n}\n");
  EXPECT_EQ(elements(kernel, "in"), "N * T * T / 2");
  EXPECT_EQ(access(kernel, "in").pattern, AccessPattern::kStrided);
}

TEST(Accesses, VectorLoadsThroughAHelperCountElements) {
  const KernelFacts kernel = kernel_of(
      "template <class E> struct alignas(16) Pack { static constexpr int size = sizeof(int4) / "
      "sizeof(E); E payload[size]; };\n"
      "typedef Pack<float> p4;\n"
      "template <class E> __device__ Pack<E> load(const E* address) { return "
      "Pack<E>{*reinterpret_cast<const int4*>(address)}; }\n"
      "__global__ void k(float* out, const float* in, int n) {\n"
      "  int i = (blockIdx.x * blockDim.x + threadIdx.x) * p4::size;\n"
      "  if (i >= n) return;\n"
      "  p4 x = load(in + i);\n"
      "  *reinterpret_cast<float4*>(out + i) = make(x);\n}\n");
  EXPECT_EQ(elements(kernel, "in"), "n");
  EXPECT_EQ(access(kernel, "in").access_bytes, 16u);
  EXPECT_EQ(access(kernel, "in").type, "float");
  EXPECT_EQ(access(kernel, "in").at.line, 7u) << "the call, not the cast inside it";
  EXPECT_EQ(elements(kernel, "out", AccessKind::kWrite), "n");
}

TEST(Accesses, AClassIsOneVectorByItsAlignmentAndName) {
  const auto bytes = [](std::string_view head) {
    return access(kernel_of("template <class E> struct " + std::string(head) +
                            " { E payload[4]; };\n"
                            "__global__ void k(float* out, const float* in) {\n"
                            "  out[0] = f(*reinterpret_cast<const Wide128<float>*>(in + 4));\n}\n"),
                  "in")
        .access_bytes;
  };
  EXPECT_EQ(bytes("alignas(16) Wide128"), 16u);
  EXPECT_NE(bytes("Wide128"), 16u) << "its alignment is not said";
  EXPECT_NE(bytes("alignas(16) Wide"), 16u) << "another class";
  EXPECT_NE(bytes("alignas(8) Wide128"), 16u) << "they do not agree";
}

TEST(Accesses, PartsOfAnArrayAddUpAndTheSamePartDoesNot) {
  const KernelFacts apart = kernel_of(
      "__global__ void k(float* q, float* v, const float* in, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) { q[i] = in[i]; v[i] = in[i + n]; }\n}\n");
  EXPECT_EQ(elements(apart, "in"), "2 * n");
  const KernelFacts again = kernel_of(
      "__global__ void k(float* q, float* v, const float* in, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) { q[i] = in[i];\n v[i] = in[i + 1]; }\n}\n");
  EXPECT_EQ(elements(again, "in"), "n");
}

TEST(Accesses, AtomicsAndBroadcasts) {
  const KernelFacts kernel = kernel_of(
      "__global__ void k(float* sum, const float* in, const float* scale, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) atomicAdd(sum, in[i] * scale[0]);\n}\n");
  EXPECT_EQ(elements(kernel, "sum", AccessKind::kAtomic), "1");
  EXPECT_EQ(access(kernel, "scale").pattern, AccessPattern::kSameForAll);
}

TEST(Accesses, SharedMemoryKeepsWhereAWarpMeets) {
  const KernelFacts kernel = kernel_of(
      "__global__ void k(float* out, const float* in) {\n"
      "  __shared__ float tile[32][33];\n"
      "  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];\n"
      "  __syncthreads();\n"
      "  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];\n}\n");
  EXPECT_TRUE(access(kernel, "tile").shared);
  EXPECT_EQ(elements(kernel, "tile"), "none") << "shared memory is no traffic";
}

TEST(Accesses, WhatTheCodeDoesNotBoundIsUnknown) {
  const KernelFacts kernel = kernel_of(
      "__global__ void k(float* out, const float* in, const int* ends) {\n"
      "  int row = blockIdx.x;\n"
      "  float sum = 0.0f;\n"
      "  for (int i = ends[row]; i < ends[row + 1]; i++) sum += in[i];\n"
      "  out[row] = sum;\n}\n");
  EXPECT_EQ(elements(kernel, "in"), "unknown");
  EXPECT_EQ(elements(kernel, "ends"), "gridDim.x");
  EXPECT_TRUE(kernel.arithmetic.empty());
}

// How often `in[0]` is read by a thread of one block of one, for a loop head.
std::string rounds(const std::string& head) {
  return times(
      kernel_of("__global__ void k(float* out, const float* in, int n, int f) {\n  float s = 0;\n"
                "  for (" +
                head + ") s += in[0];\n  out[0] = s;\n}\n"),
      "in");
}

TEST(Accesses, OnlyWhatMultipliesIsCountedAsMultiplying) {
  const std::string once = rounds("int i = 0; i < 1; i++");
  const auto of = [&](const char* count) {
    return once == "1" ? count : std::string(count) + " * " + once;
  };
  const std::pair<const char*, const char*> cases[] = {
      {"int i = 0; i < 1000; i = i + 1", "1000"}, {"int i = 0; i < 1000; i = 4 + i", "250"},
      {"int i = 1000; i > 0; i = i - 1", "1000"}, {"int i = 1; i < 1024; i *= 4", "5"},
      {"int i = 1; i < 1024; i *= 2", "10"},      {"int i = 1; i <= 1024; i *= 2", "11"},
      {"int i = 1; i < 1025; i <<= 1", "11"},     {"int i = 1; i < 1024; i = i << 2", "5"},
      {"int i = 1; i < 1024; i = 2 * i", "10"},   {"int i = 16; i > 0; i >>= 1", "5"},
      {"int i = 16; i > 1; i /= 2", "4"},         {"int i = 81; i != 0; i = i / 3", "5"},
  };
  for (const auto& [head, count] : cases) EXPECT_EQ(rounds(head), of(count)) << head;
}

TEST(Accesses, AStepThatIsNotKnownIsNotCounted) {
  const std::string unknown = rounds("int i = 0; i < 1000; i = next(i)");
  for (const char* head :
       {"int i = 1; i < 1024; i *= f", "int i = 1; i < 1024; i ^= 3", "int i = 1; i < 1024; i = f",
        "int i = 0; i < 1024; i *= 2", "int i = 1; i < 1024; i = f * 2", "int i = 8; i > 0; i /= 1",
        "int i = 2; i < 1000; i %= 7"})
    EXPECT_EQ(rounds(head), unknown) << head;
  EXPECT_EQ(unknown.find_first_of("123456789"), std::string::npos) << unknown;
}

TEST(Accesses, ALaunchSaysWhatItFillsIn) {
  const CodeFacts facts = scan_text(
      "__global__ void k(float* out, int N, int C) { out[blockIdx.x * C + threadIdx.x] = 1.0f; }\n"
      "void run(float* x, int B, int T, int C) {\n"
      "  const int rows = B * T;\n"
      "  k<<<rows, 128>>>(x, rows, C / 2);\n}\n");
  ASSERT_EQ(facts.kernels.size(), 1u);
  ASSERT_EQ(facts.kernels[0].launchers.size(), 1u);
  const KernelLauncher& launcher = facts.kernels[0].launchers[0];
  ASSERT_EQ(launcher.arguments.size(), 3u);
  EXPECT_EQ(launcher.arguments[1].name, "N");
  EXPECT_EQ(launcher.arguments[1].text, "rows");
  EXPECT_EQ(launcher.arguments[2].text, "C / 2");
  ASSERT_FALSE(launcher.argument_values.empty());
  EXPECT_EQ(launcher.argument_values[0].text, "B * T");
}

TEST(Accesses, TwoLaunchesOnOneLineAreTwo) {
  const auto launches = [](std::string_view second) {
    return scan_text(
               "__global__ void k(float* y) { y[threadIdx.x] = 1; }\n"
               "void run(float* y, int n, bool b) { if (b) k<<<n, 32>>>(y); else " +
               std::string(second) + "; }\n")
        .kernels.at(0)
        .launchers.size();
  };
  EXPECT_EQ(launches("k<<<n * 2, 64>>>(y)"), 2u);
  EXPECT_EQ(launches("k<<<n, 32, 1024>>>(y)"), 2u);
  EXPECT_EQ(launches("k<<<n, 32>>>(y)"), 1u) << "nothing tells them apart";
}

KernelAccesses walked(std::string_view text) {
  const python::Tree tree = python::parse(text);
  return walk_triton(tree, tree.child_of_kind(tree.root, python::NodeKind::kFunction));
}

// Pairs at a distance that the host doubles are neighbours in some rounds only.
TEST(Accesses, PairsAtAShiftedDistanceAreNotKnownToBeNeighbours) {
  const KernelFacts sorted = kernel_of(R"(
__global__ void k(int* x, int* y, int stage, int C) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int distance = 1 << stage;
  x[t % distance + (t / distance) * 2 * distance] = 0;
  y[t % C + (t / C) * C] = 0;
}
)");
  EXPECT_EQ(access(sorted, "x", AccessKind::kWrite).pattern, AccessPattern::kUnknown);
  EXPECT_NE(access(sorted, "y", AccessKind::kWrite).pattern, AccessPattern::kUnknown);
}

// A guard that is halved each round is no number of rounds.
TEST(Accesses, AHalvedBoundIsNotItsRound) {
  const KernelFacts reduced = kernel_of(R"(
__global__ void k(float* x, float* y, int n) {
  for (int s = n / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) x[threadIdx.x] = x[threadIdx.x + s];
    y[blockIdx.x] = 0;
  }
}
)");
  EXPECT_EQ(access(reduced, "x", AccessKind::kWrite).elements.find("log2"), std::string::npos);
  EXPECT_NE(access(reduced, "y", AccessKind::kWrite).times.find("log2"), std::string::npos);
}

// memcpy_async reads one end and writes the other; a function of that name of the code's own with
// one pointer is not known to.
TEST(Accesses, AsynchronousCopiesMoveMemory) {
  const KernelFacts copied = kernel_of(R"(
__global__ void k(const float* in, float* out) {
  __shared__ float tile[128];
  cuda::memcpy_async(&tile[threadIdx.x], &in[blockIdx.x * 128 + threadIdx.x], 4, ready);
  out[threadIdx.x] = tile[threadIdx.x];
}
)");
  EXPECT_EQ(access(copied, "in").kind, AccessKind::kRead);
  EXPECT_TRUE(access(copied, "tile", AccessKind::kWrite).shared);
}

// What lies in registers is no traffic, whatever it is cast to.
TEST(Accesses, AnArrayOfTheThreadsOwnIsNoTraffic) {
  const KernelFacts packed = kernel_of(R"(
template <typename T>
__global__ void k(const T* in, T* out) {
  T mine[8];
  *(float4*)(&mine[0]) = *(float4*)(in + threadIdx.x * 8);
  *(float4*)(out + threadIdx.x * 8) = *(float4*)(&mine[0]);
}
)");
  std::set<std::string> arrays;
  for (const ArrayAccess& one : packed.accesses) arrays.insert(one.array);
  EXPECT_EQ(arrays, (std::set<std::string>{"in", "out"}));
}

// A loaded index and the thread that loaded it are no two dimensions.
TEST(Accesses, AGatherTakesOneElementPerAccess) {
  const KernelFacts scattered = kernel_of(R"(
__global__ void k(const float* x, const long* index, float* out, int E, int K, int N, int numel) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int b = t / (E * K);
  int c = t % K;
  if (t < numel) {
    long at = index[t];
    out[b * N * K + at * K + c] = x[t];
  }
}
)");
  EXPECT_EQ(access(scattered, "out", AccessKind::kWrite).elements, "numel");
  EXPECT_EQ(access(scattered, "x").elements, "numel");
}

TEST(TritonAccesses, MasksAndLoopsSayHowMuch) {
  const KernelAccesses found = walked(
      "@triton.jit\n"
      "def sum_rows(in_ptr, out_ptr, stride, tokens, topk, hidden, BLOCK: tl.constexpr):\n"
      "    token = tl.program_id(0)\n"
      "    offs = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)\n"
      "    mask = offs < hidden\n"
      "    acc = tl.zeros((BLOCK,), dtype=tl.float32)\n"
      "    for i in range(0, topk):\n"
      "        acc += tl.load(in_ptr + token * topk * stride + i * stride + offs, mask=mask)\n"
      "    tl.store(out_ptr + token * hidden + offs, acc, mask=mask)\n");
  ASSERT_EQ(found.accesses.size(), 2u);
  EXPECT_EQ(found.accesses[0].array, "in_ptr");
  EXPECT_EQ(found.accesses[0].elements, "gridDim.x * topk * hidden");
  EXPECT_EQ(found.accesses[0].at.line, 8u);
  EXPECT_EQ(found.accesses[1].array, "out_ptr");
  EXPECT_EQ(found.accesses[1].elements, "gridDim.x * hidden");
  EXPECT_EQ(found.accesses[1].kind, AccessKind::kWrite);
}

// Masks are mostly written in brackets; one joined by | cuts nothing off.
TEST(TritonAccesses, MasksInBracketsSayHowMuch) {
  const auto tile = [](const std::string& mask) {
    return walked(
        "@triton.jit\n"
        "def copy(x_ptr, y_ptr, M, N, s0, BM: tl.constexpr, BN: tl.constexpr):\n"
        "    m = tl.program_id(0) * BM + tl.arange(0, BM)\n"
        "    n = tl.program_id(1) * BN + tl.arange(0, BN)\n"
        "    mask = " +
        mask +
        "\n"
        "    x = tl.load((m[:, None] * s0) + x_ptr + n[None, :], mask=mask)\n"
        "    tl.store(y_ptr + m[:, None] * s0 + n[None, :], x, mask=mask)\n");
  };
  const KernelAccesses both = tile("(m[:, None] < M) & (n[None, :] < N)");
  ASSERT_EQ(both.accesses.size(), 2u);
  EXPECT_EQ(both.accesses[0].array, "x_ptr");
  EXPECT_EQ(both.accesses[0].elements, "M * N");
  EXPECT_FALSE(both.accesses[0].conditional);
  const KernelAccesses either = tile("(m[:, None] < M) | (n[None, :] < N)");
  ASSERT_EQ(either.accesses.size(), 2u);
  EXPECT_EQ(either.accesses[0].elements, "gridDim.x * BM * BN * gridDim.y");
  EXPECT_TRUE(either.accesses[0].conditional);
}

TEST(TritonAccesses, AnIndexFromMemoryIsSaid) {
  const KernelAccesses found = walked(
      "@triton.jit\n"
      "def gather(table, ids, out, D: tl.constexpr):\n"
      "    row = tl.program_id(0)\n"
      "    id = tl.load(ids + row)\n"
      "    offs = tl.arange(0, D)\n"
      "    tl.store(out + row * D + offs, tl.load(table + id * D + offs))\n");
  ASSERT_EQ(found.accesses.size(), 3u);
  EXPECT_EQ(found.accesses[0].pattern, AccessPattern::kOnePerProgram);
  EXPECT_EQ(found.accesses[1].array, "table");
  EXPECT_EQ(found.accesses[1].pattern, AccessPattern::kThroughIndex);
  EXPECT_EQ(found.accesses[1].elements, "gridDim.x * D");
}

}  // namespace
}  // namespace fathom
