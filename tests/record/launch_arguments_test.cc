#include "record/launch_arguments.h"

#include "checks.h"

namespace fathom::record {
namespace {

TEST(LaunchArguments, OfTheFourWaysToLaunch) {
  struct {
    const void* function;
    uint32_t grid[3] = {1, 2, 3}, block[3] = {4, 5, 6};
    void** arguments;
    size_t shared = 7;
    void* stream = reinterpret_cast<void*>(8);
  } runtime{};
  const auto plain = launch_arguments("cudaLaunchKernel", &runtime);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->grid[2], 3u);
  EXPECT_EQ(plain->block[0], 4u);
  EXPECT_EQ(plain->dynamic_shared, 7u);
  EXPECT_EQ(plain->stream, reinterpret_cast<void*>(8));

  struct {
    uint32_t grid[3] = {9, 1, 1}, block[3] = {32, 1, 1};
    uint32_t shared = 16;
    void* stream = nullptr;
  } config{};
  struct {
    const void* config;
  } driver{&config};
  const auto extended = launch_arguments("cuLaunchKernelEx_ptsz", &driver);
  ASSERT_TRUE(extended);
  EXPECT_EQ(extended->grid[0], 9u);
  EXPECT_EQ(extended->dynamic_shared, 16u);

  EXPECT_FALSE(launch_arguments("cudaMemcpy", &runtime));
  EXPECT_FALSE(launch_arguments("cudaLaunchKernel", nullptr));
  EXPECT_TRUE(launches_kernel("cuLaunchKernel_ptsz"));
  EXPECT_FALSE(launches_kernel("cuLaunchHostFunc"));
}

}  // namespace
}  // namespace fathom::record
