#include "platform/occupancy.h"

#include "checks.h"

#ifdef FATHOM_CUDA_OCCUPANCY
#include <cuda_occupancy.h>
#endif

#include <array>
#include <random>

namespace fathom {
namespace {

Occupancy occupancy_of(std::string_view capability, const BlockResources& block) {
  return theoretical_occupancy(*sm_limits(capability), block).value_or(Occupancy{});
}

TEST(Occupancy, NamesWhatLimitsIt) {
  // Checked by hand: 204 registers are 26 × 256 of a warp, two warps in each part of 16,384.
  const Occupancy registers = occupancy_of("9.0", {256, 204, 0});
  EXPECT_EQ(registers.warps, 8);
  EXPECT_EQ(registers.limiter, OccupancyLimiter::kRegisters);
  const Occupancy shared = occupancy_of("9.0", {256, 14, 100 << 10});
  EXPECT_EQ(shared.blocks, 2);
  EXPECT_EQ(shared.limiter, OccupancyLimiter::kShared);
  const Occupancy small = occupancy_of("9.0", {32, 13, 0});
  EXPECT_EQ(small.percent, 50);
  EXPECT_EQ(small.limiter, OccupancyLimiter::kBlockSize);
  // The near-twin of each.
  EXPECT_EQ(occupancy_of("9.0", {256, 32, 0}).limiter, OccupancyLimiter::kNone);
  EXPECT_EQ(occupancy_of("9.0", {256, 32, 27 << 10}).limiter, OccupancyLimiter::kNone);
  EXPECT_EQ(occupancy_of("9.0", {64, 32, 0}).limiter, OccupancyLimiter::kNone);
  // 1,024 threads do not divide a multiprocessor of 1,536.
  EXPECT_EQ(occupancy_of("8.6", {1024, 32, 0}).limiter, OccupancyLimiter::kBlockSize);
}

TEST(Occupancy, IsUnknownForWhatCannotRun) {
  const SmLimits& limits = *sm_limits("9.0");
  EXPECT_EQ(sm_limits("3.5"), nullptr);
  EXPECT_EQ(sm_limits("gfx942"), nullptr);
  EXPECT_FALSE(theoretical_occupancy(limits, {0, 32, 0}));
  EXPECT_FALSE(theoretical_occupancy(limits, {1025, 32, 0}));
  EXPECT_FALSE(theoretical_occupancy(limits, {1024, 128, 0}));
  EXPECT_FALSE(theoretical_occupancy(limits, {256, 32, 228 << 10}));
  EXPECT_FALSE(theoretical_occupancy(limits, {256, 32, INT64_MAX}));
  EXPECT_FALSE(theoretical_occupancy(limits, {256, INT64_MAX, 0}));
}

#ifdef FATHOM_CUDA_OCCUPANCY
struct Device {
  const char* capability;
  int major, minor, threads, shared_kb, reserved;
};
// cudaGetDeviceProperties of such a device.
cudaOccDeviceProp properties_of(const Device& device) {
  cudaOccDeviceProp out;
  out.computeMajor = device.major;
  out.computeMinor = device.minor;
  out.maxThreadsPerBlock = 1024;
  out.maxThreadsPerMultiprocessor = device.threads;
  out.regsPerBlock = out.regsPerMultiprocessor = 65536;
  out.warpSize = 32;
  out.sharedMemPerBlock = 48 << 10;
  out.sharedMemPerMultiprocessor = static_cast<size_t>(device.shared_kb) << 10;
  out.sharedMemPerBlockOptin = out.sharedMemPerMultiprocessor - device.reserved;
  out.reservedSharedMemPerBlock = device.reserved;
  out.numSms = 100;
  return out;
}

TEST(Occupancy, IsThatOfTheToolkitsCalculator) {
  const std::array devices{
      Device{"7.0", 7, 0, 2048, 96, 0},       Device{"7.5", 7, 5, 1024, 64, 0},
      Device{"8.0", 8, 0, 2048, 164, 1024},   Device{"8.6", 8, 6, 1536, 100, 1024},
      Device{"8.7", 8, 7, 1536, 164, 1024},   Device{"8.9", 8, 9, 1536, 100, 1024},
      Device{"9.0", 9, 0, 2048, 228, 1024},   Device{"10.0", 10, 0, 2048, 228, 1024},
      Device{"10.3", 10, 3, 2048, 228, 1024}, Device{"11.0", 11, 0, 1536, 228, 1024},
      Device{"12.0", 12, 0, 1536, 100, 1024}, Device{"12.1", 12, 1, 1536, 100, 1024}};
  std::mt19937 random(7);
  for (const Device& device : devices) {
    const SmLimits& limits = *sm_limits(device.capability);
    const cudaOccDeviceProp properties = properties_of(device);
    for (int i = 0; i < 4000; ++i) {
      const int threads = 1 + static_cast<int>(random() % 1024);
      const int registers = 1 + static_cast<int>(random() % 255);
      const int fixed = static_cast<int>(random() % (48 << 10));
      const int dynamic = random() % 2 == 0 ? 0 : static_cast<int>(random() % (200 << 10));
      cudaOccFuncAttributes attributes;
      attributes.maxThreadsPerBlock = 1024;
      attributes.numRegs = registers;
      attributes.sharedSizeBytes = fixed;
      attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
      attributes.maxDynamicSharedSizeBytes = dynamic;
      attributes.numBlockBarriers = 1;
      const cudaOccDeviceState state;
      cudaOccResult theirs;
      const auto error = cudaOccMaxActiveBlocksPerMultiprocessor(&theirs, &properties, &attributes,
                                                                 &state, threads, dynamic);
      const auto ours = theoretical_occupancy(limits, {threads, registers, fixed + dynamic});
      const int blocks = error == CUDA_OCC_SUCCESS ? theirs.activeBlocksPerMultiprocessor : 0;
      ASSERT_EQ(ours ? ours->blocks : 0, blocks)
          << device.capability << ": " << threads << " threads, " << registers << " registers, "
          << fixed << " + " << dynamic << " B";
      if (!ours || ours->limiter == OccupancyLimiter::kNone) continue;
      const unsigned factor = ours->limiter == OccupancyLimiter::kRegisters ? OCC_LIMIT_REGISTERS
                              : ours->limiter == OccupancyLimiter::kShared
                                  ? OCC_LIMIT_SHARED_MEMORY
                                  : OCC_LIMIT_WARPS | OCC_LIMIT_BLOCKS;
      ASSERT_NE(theirs.limitingFactors & factor, 0u) << device.capability;
    }
  }
}
#endif

}  // namespace
}  // namespace fathom
