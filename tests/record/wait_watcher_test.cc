#include "record/wait_watcher.h"

#include "checks.h"

namespace fathom::record {
namespace {

constexpr uint32_t kRecordId = 10, kWaitEventId = 11, kEventSyncId = 12, kStreamSyncId = 13,
                   kDeviceSyncId = 14;

void* handle(uintptr_t number) { return reinterpret_cast<void*>(number); }

// A CUPTI whose clock ticks, and whose streams are numbered by their handles.
class WaitWatcherTest : public testing::Test {
 protected:
  WaitWatcherTest() {
    api_.GetTimestamp = [](uint64_t* time) {
      *time = ++clock_;
      return 0;
    };
    api_.GetStreamIdEx = [](void*, void* stream, uint8_t per_thread, uint32_t* id) {
      *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(stream)) + 100 * per_thread;
      return 0;
    };
    for (const uint32_t domain : {cupti::kRuntimeDomain, cupti::kDriverDomain}) {
      const std::string api = domain == cupti::kRuntimeDomain ? "cuda" : "cu";
      EXPECT_TRUE(watcher_.add(domain, kRecordId, api + "EventRecord"));
      EXPECT_TRUE(watcher_.add(domain, kWaitEventId, api + "StreamWaitEvent"));
      EXPECT_TRUE(watcher_.add(domain, kEventSyncId, api + "EventSynchronize"));
      EXPECT_TRUE(watcher_.add(domain, kStreamSyncId, api + "StreamSynchronize_ptsz"));
    }
    EXPECT_TRUE(watcher_.add(cupti::kRuntimeDomain, kDeviceSyncId, "cudaDeviceSynchronize"));
    EXPECT_FALSE(watcher_.add(cupti::kRuntimeDomain, 15, "cudaLaunchKernel"));
  }

  void site(uint32_t site, uint32_t id, std::vector<void*> params, uint32_t correlation,
            uint32_t domain = cupti::kRuntimeDomain) {
    cupti::CallbackData data = {};
    data.site = site;
    data.params = params.data();
    data.context = this;
    data.context_id = 1;
    data.kept = &kept_[domain == cupti::kDriverDomain];
    data.correlation = correlation;
    EXPECT_TRUE(watcher_.called(domain, id, data));
  }
  void call(uint32_t id, std::vector<void*> params, uint32_t correlation) {
    site(0, id, params, correlation);
    site(1, id, std::move(params), correlation);
  }

  static inline uint64_t clock_ = 0;
  cupti::Api api_;
  uint64_t kept_[2] = {};
  void* capturing_ = nullptr;
  WaitWatcher watcher_{
      api_, [this](void* stream) { return capturing_ != nullptr && stream == capturing_; }};
};

TEST_F(WaitWatcherTest, AWaitForAnEventNamesTheCallThatRecordedIt) {
  call(kRecordId, {handle(70), handle(1)}, 5);
  call(kRecordId, {handle(70), handle(2)}, 6);  // the last one counts
  call(kWaitEventId, {handle(3), handle(70), nullptr}, 7);
  call(kEventSyncId, {handle(70)}, 8);
  call(kEventSyncId, {handle(71)}, 9);  // recorded before the recording began
  const std::vector<capture::Wait> waits = watcher_.take();
  ASSERT_EQ(waits.size(), 3u);
  EXPECT_EQ(waits[0].kind, 2u);
  EXPECT_EQ(waits[0].stream, 3u);
  EXPECT_EQ(waits[0].record, 6u);
  EXPECT_EQ(waits[0].event, 2u);
  EXPECT_EQ(waits[0].correlation, 7u);
  EXPECT_LT(waits[0].start, waits[0].end);
  EXPECT_EQ(waits[1].kind, 1u);
  EXPECT_EQ(waits[1].stream, 2u);  // that of the event
  EXPECT_EQ(waits[2].record, 0u);
  EXPECT_EQ(waits[2].stream, UINT32_MAX);
  EXPECT_TRUE(watcher_.take().empty());
}

TEST_F(WaitWatcherTest, ACallOfTheDriverInsideOfTheRuntimesIsTheSameWait) {
  site(0, kStreamSyncId, {handle(4)}, 1);
  site(0, kStreamSyncId, {handle(4)}, 2, cupti::kDriverDomain);
  site(1, kStreamSyncId, {handle(4)}, 2, cupti::kDriverDomain);
  site(1, kStreamSyncId, {handle(4)}, 1);
  site(0, kStreamSyncId, {handle(4)}, 3, cupti::kDriverDomain);
  site(1, kStreamSyncId, {handle(4)}, 3, cupti::kDriverDomain);
  const std::vector<capture::Wait> waits = watcher_.take();
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0].correlation, 1u);
  EXPECT_EQ(waits[0].stream, 104u);  // the thread's own default stream has another number
  EXPECT_EQ(waits[1].correlation, 3u);
}

TEST_F(WaitWatcherTest, WhatIsCapturedIntoAGraphDoesNotWait) {
  capturing_ = handle(1);
  call(kRecordId, {handle(70), handle(1)}, 5);
  call(kWaitEventId, {handle(1), handle(70), nullptr}, 6);
  EXPECT_TRUE(watcher_.take().empty());
  call(kWaitEventId, {handle(2), handle(70), nullptr}, 7);
  ASSERT_EQ(watcher_.take().size(), 1u);
}

TEST_F(WaitWatcherTest, OtherCallsAreLeftToOthers) {
  cupti::CallbackData data = {};
  EXPECT_FALSE(watcher_.called(cupti::kRuntimeDomain, 15, data));
  EXPECT_FALSE(watcher_.called(cupti::kDriverDomain, 1'000'000, data));
  call(kDeviceSyncId, {}, 4);
  const std::vector<capture::Wait> waits = watcher_.take();
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].kind, 4u);
}

TEST(WaitCalls, AreToldByName) {
  EXPECT_EQ(wait_call("cuCtxSynchronize_v2"), WaitCall::kContext);
  EXPECT_EQ(wait_call("cudaEventRecordWithFlags_ptsz"), WaitCall::kRecord);
  EXPECT_EQ(wait_call("cudaStreamWaitEvent_ptsz"), WaitCall::kStreamForEvent);
  EXPECT_EQ(wait_call("cudaEventRecordXYZ"), WaitCall::kNone);
  EXPECT_EQ(wait_call("cuStreamWaitValue32"), WaitCall::kNone);
}

}  // namespace
}  // namespace fathom::record
