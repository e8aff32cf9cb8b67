// The α-β model by hand, and the communicator with a NCCL of two ranks that lives in this file.
#include <cstring>
#include <vector>

#include "checks.h"
#include "collective_model.h"
#include "communicator.h"

namespace fathom::nccl {
namespace {

constexpr Link kLink{5e-6, 100e9};

TEST(CollectiveModel, BusFactorByHand) {
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kAllReduce, 2), 1.0);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kAllReduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kAllGather, 2), 0.5);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kAllGather, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kAllReduce, 1), 0.0);
}

TEST(CollectiveModel, TwoGpusHaveEqualAlgorithmAndBusBandwidth) {
  // 2 steps of 5 µs, and 100 MB once over 100 GB/s: 1 ms.
  const auto e = expect(Collective::kAllReduce, Algorithm::kRing, 2, 100'000'000, kLink);
  ASSERT_TRUE(e);
  EXPECT_DOUBLE_EQ(e->seconds, 1.010e-3);
  EXPECT_NEAR(*e->algorithm_bandwidth, 99.0099e9, 1e6);
  EXPECT_DOUBLE_EQ(*e->algorithm_bandwidth, *e->bus_bandwidth);
}

TEST(CollectiveModel, EightGpusByHand) {
  // Ring: 14 steps = 70 µs, 1.75 × 80 MB / 100 GB/s = 1400 µs.
  const auto ring = expect(Collective::kAllReduce, Algorithm::kRing, 8, 80'000'000, kLink);
  EXPECT_DOUBLE_EQ(ring->seconds, 1.470e-3);
  EXPECT_DOUBLE_EQ(*ring->bus_bandwidth, 80e6 / 1.470e-3 * 1.75);
  // Tree: 6 steps = 30 µs, 2 × 80 MB / 100 GB/s = 1600 µs.
  EXPECT_DOUBLE_EQ(expect(Collective::kAllReduce, Algorithm::kTree, 8, 80'000'000, kLink)->seconds,
                   1.630e-3);
  // All-gather of 80 MB in all: 7 steps = 35 µs, 0.875 × 800 µs.
  EXPECT_DOUBLE_EQ(expect(Collective::kAllGather, Algorithm::kRing, 8, 80'000'000, kLink)->seconds,
                   735e-6);
  EXPECT_EQ(expect_best(Collective::kAllReduce, 8, 80'000'000, kLink)->algorithm, Algorithm::kRing);
  EXPECT_EQ(expect_best(Collective::kAllReduce, 8, 8'000, kLink)->algorithm, Algorithm::kTree);
}

TEST(CollectiveModel, RingAndTreeMeetWhereTheModelSays) {
  // 8 steps of 5 µs less against a quarter of the bytes more: 16 MB.
  EXPECT_DOUBLE_EQ(tree_wins_up_to_bytes(8, kLink), 16e6);
  EXPECT_DOUBLE_EQ(expect(Collective::kAllReduce, Algorithm::kRing, 8, 16'000'000, kLink)->seconds,
                   expect(Collective::kAllReduce, Algorithm::kTree, 8, 16'000'000, kLink)->seconds);
  EXPECT_DOUBLE_EQ(tree_wins_up_to_bytes(2, kLink), 0.0);
  EXPECT_DOUBLE_EQ(tree_wins_up_to_bytes(1, kLink), 0.0);
}

TEST(CollectiveModel, OneGpuNeedsNoLinkAndLessThanOneIsUnknown) {
  const auto one = expect(Collective::kAllReduce, Algorithm::kRing, 1, 1000, kLink);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->seconds, 0.0);
  EXPECT_FALSE(one->bus_bandwidth);
  EXPECT_FALSE(expect(Collective::kAllReduce, Algorithm::kRing, 0, 1000, kLink));
  EXPECT_FALSE(expect(Collective::kAllGather, Algorithm::kTree, 8, 1000, kLink));
  EXPECT_FALSE(expect(Collective::kAllReduce, Algorithm::kRing, 8, 1000, Link{5e-6, 0.0}));
}

TEST(CollectiveModel, StagingPaysWhileCopiesAreCheaperThanWhatTheySave) {
  // 2 µs at 4 TB/s: 8 MB of traffic, four times the message.
  EXPECT_DOUBLE_EQ(staging_pays_up_to_bytes(2e-6, 4e12), 2e6);
  EXPECT_DOUBLE_EQ(staging_pays_up_to_bytes(-1.0, 4e12), 0.0);
}

// Two ranks with the same input on host memory: sums are twice it, gathers repeat it.
struct FakeNccl {
  int fail_with = 0, async = 0, destroyed = 0, aborted = 0, freed = 0, windows = 0;
  bool refuse_window = false;
  const void* last_input = nullptr;
};
FakeNccl fake;

int copy_now(void* to, const void* from, size_t bytes, void*) {
  std::memcpy(to, from, bytes);
  return 0;
}

NcclApi fake_api() {
  NcclApi api;
  api.init_rank = [](CommHandle* comm, int, UniqueId, int) {
    *comm = reinterpret_cast<CommHandle>(&fake);
    return fake.fail_with;
  };
  api.destroy = [](CommHandle) { return ++fake.destroyed, 0; };
  api.abort = [](CommHandle) { return ++fake.aborted, 0; };
  api.async_error = [](CommHandle, int* state) { return *state = fake.async, 0; };
  api.error_text = [](int) { return "it broke"; };
  api.all_reduce = [](const void* in, void* out, size_t count, int, int, CommHandle, void*) {
    fake.last_input = in;
    for (size_t i = 0; i < count; ++i) {
      static_cast<int32_t*>(out)[i] = 2 * static_cast<const int32_t*>(in)[i];
    }
    return fake.fail_with;
  };
  api.all_gather = [](const void* in, void* out, size_t count, int, CommHandle, void*) {
    fake.last_input = in;
    for (size_t rank = 0; rank < 2; ++rank) {
      std::memcpy(static_cast<int32_t*>(out) + rank * count, in, count * 4);
    }
    return fake.fail_with;
  };
  api.memory_allocate = [](void** memory, size_t bytes) {
    *memory = new char[bytes];
    return 0;
  };
  api.memory_free = [](void* memory) {
    delete[] static_cast<char*>(memory);
    return ++fake.freed, 0;
  };
  api.window_register = [](CommHandle, void*, size_t, WindowHandle* window, int) {
    if (fake.refuse_window) return 0;
    *window = &fake;
    return ++fake.windows, 0;
  };
  api.window_deregister = [](CommHandle, WindowHandle) { return --fake.windows, 0; };
  return api;
}

struct CommunicatorTest : testing::Test {
  CommunicatorTest() { fake = {}; }
  std::unique_ptr<Communicator> create(const NcclApi& api = fake_api()) {
    return Communicator::create(api, copy_now, options, error);
  }
  CommunicatorOptions options{2, 0, {}, 64, 32};
  std::string error;
};

TEST_F(CommunicatorTest, SmallMessagesGoThroughTheBufferAndLargeOnesDoNot) {
  const auto communicator = create();
  ASSERT_NE(communicator, nullptr) << error;
  const std::vector<int32_t> in{1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<int32_t> out(9, -1);
  ASSERT_TRUE(communicator->all_reduce(in.data(), out.data(), 8, kInt32, kSum, nullptr));
  EXPECT_EQ(communicator->last_strategy(), Strategy::kStaged);
  EXPECT_NE(fake.last_input, in.data());
  EXPECT_EQ(out, (std::vector<int32_t>{2, 4, 6, 8, 10, 12, 14, 16, -1}));
  ASSERT_TRUE(communicator->all_reduce(in.data(), out.data(), 9, kInt32, kSum, nullptr));
  EXPECT_EQ(communicator->last_strategy(), Strategy::kDirect);
  EXPECT_EQ(fake.last_input, in.data());
  EXPECT_EQ(out[8], 18);
}

TEST_F(CommunicatorTest, AGatherCountsItsWholeOutput) {
  const auto communicator = create();
  const std::vector<int32_t> in{1, 2, 3, 4, 5};
  std::vector<int32_t> out(10, -1);
  ASSERT_TRUE(communicator->all_gather(in.data(), out.data(), 4, kInt32, nullptr));
  EXPECT_EQ(communicator->last_strategy(), Strategy::kStaged);
  EXPECT_EQ(out, (std::vector<int32_t>{1, 2, 3, 4, 1, 2, 3, 4, -1, -1}));
  ASSERT_TRUE(communicator->all_gather(in.data(), out.data(), 5, kInt32, nullptr));
  EXPECT_EQ(communicator->last_strategy(), Strategy::kDirect);
}

TEST_F(CommunicatorTest, WithoutAWindowEverythingIsDirect) {
  std::vector<int32_t> data{1, 2};
  fake.refuse_window = true;
  auto communicator = create();
  ASSERT_TRUE(communicator->all_reduce(data.data(), data.data(), 2, kInt32, kSum, nullptr));
  EXPECT_EQ(communicator->last_strategy(), Strategy::kDirect);
  NcclApi old = fake_api();
  old.window_register = nullptr;
  communicator = create(old);
  EXPECT_FALSE(communicator->registered());
  ASSERT_TRUE(communicator->all_reduce(data.data(), data.data(), 0, kInt32, kSum, nullptr));
}

TEST_F(CommunicatorTest, WhatCannotBeStagedIsRefused) {
  const auto communicator = create();
  std::vector<int32_t> data(17);
  const Strategy staged = Strategy::kStaged;
  EXPECT_FALSE(
      communicator->all_reduce(data.data(), data.data(), 17, kInt32, kSum, nullptr, &staged));
  EXPECT_EQ(communicator->error(), "68 bytes cannot be staged: the buffer has 64");
}

TEST_F(CommunicatorTest, AFailureStaysAndTheCommunicatorIsAborted) {
  auto communicator = create();
  std::vector<int32_t> data(4);
  fake.fail_with = 3;
  EXPECT_FALSE(communicator->all_reduce(data.data(), data.data(), 4, kInt32, kSum, nullptr));
  EXPECT_EQ(communicator->error(), "ncclAllReduce: it broke");
  fake.fail_with = 0;
  EXPECT_FALSE(communicator->all_gather(data.data(), data.data(), 1, kInt32, nullptr));
  EXPECT_FALSE(communicator->healthy());
  communicator.reset();
  EXPECT_EQ(fake.aborted, 1);
  EXPECT_EQ(fake.destroyed, 0);
  EXPECT_EQ(fake.freed, 1);
}

TEST_F(CommunicatorTest, LaterFailuresAreFoundAndGoodEndsAreClean) {
  auto communicator = create();
  fake.async = kInProgress;
  EXPECT_TRUE(communicator->healthy());
  communicator.reset();
  EXPECT_EQ(fake.destroyed, 1);
  EXPECT_EQ(fake.windows, 0);
  communicator = create();
  fake.async = 6;
  EXPECT_FALSE(communicator->healthy());
  EXPECT_EQ(communicator->error(), "NCCL found later: it broke");
}

TEST_F(CommunicatorTest, NoCommunicatorWhereItCannotBeginOrTheTypeIsUnknown) {
  auto communicator = create();
  int32_t word = 0;
  EXPECT_FALSE(communicator->all_reduce(&word, &word, 1, 77, kSum, nullptr));
  fake.fail_with = 2;
  EXPECT_EQ(create(), nullptr);
  EXPECT_EQ(error, "ncclCommInitRank: it broke");
}

TEST(NcclApi, SaysWhatIsMissing) {
  NcclApi api;
  std::string error;
  EXPECT_FALSE(load_nccl("/nowhere/libnccl.so.2", api, error));
  EXPECT_NE(error.find("/nowhere/libnccl.so.2"), std::string::npos);
  EXPECT_FALSE(load_nccl("libc.so.6", api, error));  // a library, but not NCCL
  EXPECT_EQ(error, "ncclGetVersion is not in this NCCL: 2.19 or newer is needed");
}

}  // namespace
}  // namespace fathom::nccl
