#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/format.h"
#include "record/cupti_api.h"

namespace fathom::record {

// A call that waits, or that records an event which others wait for. The numbers are those of
// capture::Wait::kind.
enum class WaitCall : uint8_t {
  kNone = 0,
  kEvent = 1,
  kStreamForEvent = 2,
  kStream = 3,
  kContext = 4,
  kRecord = 5
};

// By the call's name without the version.
WaitCall wait_call(std::string_view call);

// Who waits for what, from callbacks around the calls that wait. CUPTI's own records of waits cost
// every launch 0.6 µs on an H200, and do not tell which call recorded the event.
class WaitWatcher {
 public:
  // `is_capturing`: what the stream is given goes into a graph, and nothing waits now.
  WaitWatcher(const cupti::Api& api, std::function<bool(void* stream)> is_capturing);
  // Without these functions of CUPTI there are no waits to be had this way.
  static bool can_watch(const cupti::Api& api) {
    return api.EnableCallback != nullptr && api.GetTimestamp != nullptr &&
           api.GetStreamIdEx != nullptr;
  }

  // Whether a call is worth a callback.
  bool add(uint32_t domain, uint32_t id, std::string_view name);
  // In the thread that calls. False: the call is none of those that were added.
  bool called(uint32_t domain, uint32_t id, const cupti::CallbackData& data);
  // What has waited since the last time.
  std::vector<capture::Wait> take();

 private:
  struct Watched {
    WaitCall call = WaitCall::kNone;
    bool per_thread = false;  // its default stream is the thread's
  };
  struct Recorded {
    uint32_t correlation, stream;
  };
  void before(const Watched& watched, const cupti::CallbackData& data);
  void after(const Watched& watched, const cupti::CallbackData& data);
  uint32_t stream_id(void* context, void* stream, bool per_thread) const;

  const cupti::Api& api_;
  const std::function<bool(void*)> is_capturing_;
  std::vector<Watched> calls_[2];  // by CUPTI's number: runtime, driver

  std::mutex mutex_;
  std::unordered_map<void*, Recorded> events_;  // the last call that recorded each
  std::vector<capture::Wait> waits_;
};

}  // namespace fathom::record
