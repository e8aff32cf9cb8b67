// What a kernel reads and writes through references, each form with a near-twin.
#include <set>

#include "checks.h"
#include "scan/scan_repository.h"
#include "test_files.h"

namespace fathom {
namespace {

constexpr const char* kReferences = R"(struct Rank { int base; int offsets[4]; void set(int); };
__global__ void encode(const int* counts, Rank* ranks, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  auto& rank = ranks[i];
  rank.base = counts[i];
  for (int k = 0; k < 4; ++k) rank.offsets[k] = counts[i + k];
}
__global__ void fill(float* slots, float value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float& slot = *(slots + i);
  slot = value;
}
__global__ void add_to(float* sums, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float& sum = sums[i];
  sum += in[i];
}
__global__ void only_read(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float& value = in[i];
  out[i] = value;
}
__global__ void own(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float local[2] = {0, 1};
  float& one = local[1];
  one = 2;
  if (i < n) out[i] = local[0];
}
__global__ void each(Rank* ranks, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  auto& rank = ranks[i];
  for (auto& offset : rank.offsets) offset = 0;
}
__global__ void copies(Rank* ranks, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  auto& rank = ranks[i];
  for (auto offset : rank.offsets) offset = 0;
  out[i] = rank.base;
}
__global__ void by_method(Rank* ranks, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  auto& rank = ranks[i];
  rank.set(i);
}
)";

const KernelFacts& kernel(std::string_view name) {
  static const CodeFacts facts = [] {
    const test::TemporaryDirectory directory;
    test::write_file(directory.path() / "a.cu", kReferences);
    Result<CodeFacts> read = scan_repository(directory.path(), {});
    EXPECT_TRUE(read.ok());
    return read.ok() ? std::move(read).value() : CodeFacts();
  }();
  static const KernelFacts none;
  for (const KernelFacts& one : facts.kernels) {
    if (one.name == name) return one;
  }
  ADD_FAILURE() << "no kernel " << name;
  return none;
}

std::set<std::string> accessed(std::string_view name, AccessKind kind) {
  std::set<std::string> out;
  for (const ArrayAccess& access : kernel(name).accesses) {
    if (access.kind == kind) out.insert(access.array);
  }
  return out;
}
using Arrays = std::set<std::string>;

TEST(References, WhatIsAssignedIsWritten) {
  EXPECT_EQ(accessed("fill", AccessKind::kWrite), Arrays{"slots"});
  EXPECT_EQ(accessed("fill", AccessKind::kRead), Arrays{});
  EXPECT_EQ(accessed("add_to", AccessKind::kWrite), Arrays{"sums"});
  EXPECT_EQ(accessed("add_to", AccessKind::kRead), (Arrays{"in", "sums"}));
}

TEST(References, PartsOfAnObjectAreItsArray) {
  EXPECT_EQ(accessed("encode", AccessKind::kWrite), Arrays{"ranks"});
  EXPECT_EQ(accessed("encode", AccessKind::kRead), Arrays{"counts"});
}

TEST(References, ConstantOnesAreRead) {
  EXPECT_EQ(accessed("only_read", AccessKind::kRead), Arrays{"in"});
  EXPECT_EQ(accessed("only_read", AccessKind::kWrite), Arrays{"out"});
}

TEST(References, OfTheThreadsOwnVariablesAreNoMemory) {
  EXPECT_EQ(accessed("own", AccessKind::kWrite), Arrays{"out"});
  EXPECT_EQ(accessed("own", AccessKind::kRead), Arrays{});
}

TEST(References, ElementsOfALoopAreThemselvesOrCopies) {
  EXPECT_EQ(accessed("each", AccessKind::kWrite), Arrays{"ranks"});
  EXPECT_EQ(accessed("copies", AccessKind::kWrite), Arrays{"out"});
}

// A method may write, which cannot be counted.
TEST(References, MethodsLeaveTheTotalsOpen) {
  EXPECT_FALSE(kernel("by_method").unresolved.empty());
  EXPECT_TRUE(kernel("fill").unresolved.empty());
}

}  // namespace
}  // namespace fathom
