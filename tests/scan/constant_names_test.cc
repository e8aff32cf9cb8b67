// Which constant, type or template argument a name in device code stands for, each with a
// near-twin.
#include "checks.h"
#include "scan/scan_repository.h"
#include "test_files.h"

namespace fathom {
namespace {

const CodeFacts& named_constants() {
  static const CodeFacts facts = [] {
    const test::TemporaryDirectory directory;
    test::write_file(directory.path() / "tile.cuh", R"(#pragma once
constexpr int kTile = 4;
struct Traits { static constexpr int kWide = 16; };
template <int kSteps> __device__ float sum_of(const float* x) {
  float sum = 0;
  for (int j = 0; j < kSteps; ++j) sum += x[j];
  return sum;
}
)");
    test::write_file(directory.path() / "wide.cu", R"(constexpr int kTile = 8, kSteps = 9;
constexpr int BLOCK = 256;
using value_t = double;
__global__ void of_itself(const float* x, float* out) {
  float sum = 0;
  for (int j = 0; j < kTile; ++j) sum += x[j];
  out[0] = sum;
}
void run(float* x) { of_itself<<<1, 1>>>(x, x); }
)");
    test::write_file(directory.path() / "kernels.cu", R"(#include "tile.cuh"
__global__ void of_header(const float* x, float* out) {
  float sum = 0;
  for (int j = 0; j < kTile; ++j) sum += x[j];
  out[0] = sum;
}
template <int BLOCK, typename value_t> __global__ void of_two_launches(const value_t* x, float* out) {
  float sum = 0;
  for (int j = 0; j < BLOCK; ++j) sum += x[j];
  out[0] = sum;
}
template <int BLOCK> __global__ void of_one_launch(const float* x, float* out) {
  float sum = 0;
  for (int j = 0; j < BLOCK; ++j) sum += x[j];
  out[0] = sum;
}
template <int BLOCK> __global__ void of_parameter(const float* x, float* out) {
  float sum = 0;
  for (int j = 0; j < BLOCK; ++j) sum += x[j];
  out[0] = sum;
}
__global__ void of_caller(const float* x, float* out, int n) {
  const int kWide = n / 2;
  out[0] = sum_of<kWide>(x);
}
__global__ void of_number(const float* x, float* out, int n) { out[0] = sum_of<12>(x); }
template <int BLOCK> void hand_on(float* x) { of_parameter<BLOCK><<<1, BLOCK>>>(x, x); }
void run(float* x) {
  constexpr int kThreads = 32;
  of_header<<<1, 1>>>(x, x);
  of_two_launches<64, float><<<1, 64>>>(x, x);
  of_two_launches<512, float><<<1, 512>>>(x, x);
  of_one_launch<kThreads * 2><<<1, 64>>>(x, x);
  hand_on<128>(x);
  of_caller<<<1, 1>>>(x, x, 8);
  of_number<<<1, 1>>>(x, x, 8);
}
)");
    return scan_repository(directory.path(), {}).take();
  }();
  return facts;
}

const ArrayTraffic& read_by(std::string_view name) {
  for (const KernelFacts& kernel : named_constants().kernels) {
    if (kernel.name != name) continue;
    for (const ArrayTraffic& traffic : kernel.traffic) {
      if (traffic.array == "x") return traffic;
    }
  }
  static const ArrayTraffic none;
  ADD_FAILURE() << name;
  return none;
}

TEST(ConstantNames, AConstantIsTheOneThatTheFileSees) {
  EXPECT_EQ(read_by("of_header").elements, "4");
  EXPECT_EQ(read_by("of_itself").elements, "8");
}

TEST(ConstantNames, ATemplateParameterIsWhatAllLaunchesGive) {
  EXPECT_EQ(read_by("of_one_launch").elements, "64");
  EXPECT_EQ(read_by("of_two_launches").elements, "BLOCK");
  EXPECT_EQ(read_by("of_parameter").elements, "BLOCK");
}

TEST(ConstantNames, ATypeOfATemplateHasNoSizeByItsName) {
  EXPECT_EQ(read_by("of_two_launches").element_bytes, std::nullopt);
  EXPECT_EQ(read_by("of_one_launch").element_bytes, 4u);
}

TEST(ConstantNames, WhatACallerComputedIsNoConstantOfTheSameName) {
  EXPECT_EQ(read_by("of_caller").elements, "n / 2");
  EXPECT_EQ(read_by("of_number").elements, "12");
}

}  // namespace
}  // namespace fathom
