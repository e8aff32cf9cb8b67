#include "record/wait_watcher.h"

#include <utility>

namespace fathom::record {
namespace {

constexpr uint32_t kNoStream = UINT32_MAX;  // as in CUPTI's records
constexpr size_t kMostEvents = 1 << 16, kMostWaits = 1 << 20, kMostCallNumbers = 4096;

// As in CUPTI's generated_cuda_meta.h and generated_cuda_runtime_api_meta.h.
struct StreamAndEvent {
  void* stream;
  void* event;
};
struct EventAndStream {
  void* event;
  void* stream;
};

// Calls of the runtime call the driver, which is no second wait. CUDA's calls of these kinds do not
// contain each other otherwise, so a flag is enough; and should a callback be switched on or off
// within a call, the next one sets it right.
thread_local bool in_runtime = false;

template <typename Params>
Params params_of(const cupti::CallbackData& data) {
  return data.params != nullptr ? *static_cast<const Params*>(data.params) : Params{};
}
void* only_param(const cupti::CallbackData& data) { return params_of<void*>(data); }

}  // namespace

WaitCall wait_call(std::string_view call) {
  for (const std::string_view ending : {"_v2", "_ptsz", "_ptds"})
    if (call.ends_with(ending)) call.remove_suffix(ending.size());
  for (const std::string_view api : {"cuda", "cu"}) {
    if (!call.starts_with(api)) continue;
    call.remove_prefix(api.size());
    break;
  }
  if (call == "EventSynchronize") return WaitCall::kEvent;
  if (call == "StreamWaitEvent") return WaitCall::kStreamForEvent;
  if (call == "StreamSynchronize") return WaitCall::kStream;
  if (call == "DeviceSynchronize" || call == "CtxSynchronize") return WaitCall::kContext;
  if (call == "EventRecord" || call == "EventRecordWithFlags") return WaitCall::kRecord;
  return WaitCall::kNone;
}

WaitWatcher::WaitWatcher(const cupti::Api& api, std::function<bool(void*)> is_capturing)
    : api_(api), is_capturing_(std::move(is_capturing)) {}

bool WaitWatcher::add(uint32_t domain, uint32_t id, std::string_view name) {
  const WaitCall call = wait_call(name);
  if (call == WaitCall::kNone || id >= kMostCallNumbers) return false;
  std::vector<Watched>& calls = calls_[domain == cupti::kDriverDomain ? 1 : 0];
  if (calls.size() <= id) calls.resize(id + 1);
  calls[id] = {call, name.ends_with("_ptsz") || name.ends_with("_ptds")};
  return true;
}

uint32_t WaitWatcher::stream_id(void* context, void* stream, bool per_thread) const {
  uint32_t id = 0;
  if (context != nullptr) api_.GetStreamIdEx(context, stream, per_thread ? 1 : 0, &id);
  return id;
}

bool WaitWatcher::called(uint32_t domain, uint32_t id, const cupti::CallbackData& data) {
  const bool is_driver = domain == cupti::kDriverDomain;
  const std::vector<Watched>& calls = calls_[is_driver ? 1 : 0];
  if (id >= calls.size() || calls[id].call == WaitCall::kNone) return false;
  if (is_driver && in_runtime) return true;
  const bool is_before = data.site == 0;
  if (!is_driver) in_runtime = is_before;
  if (is_before)
    before(calls[id], data);
  else
    after(calls[id], data);
  return true;
}

void WaitWatcher::before(const Watched& watched, const cupti::CallbackData& data) {
  if (watched.call == WaitCall::kRecord) {
    const auto given = params_of<EventAndStream>(data);
    if (is_capturing_(given.stream)) return;
    const Recorded recorded = {data.correlation,
                               stream_id(data.context, given.stream, watched.per_thread)};
    const std::lock_guard lock(mutex_);
    if (events_.size() >= kMostEvents) events_.clear();
    events_[given.event] = recorded;
    return;
  }
  if (data.kept != nullptr && api_.GetTimestamp(data.kept) != cupti::kSuccess) *data.kept = 0;
}

void WaitWatcher::after(const Watched& watched, const cupti::CallbackData& data) {
  if (watched.call == WaitCall::kRecord || data.kept == nullptr || *data.kept == 0) return;
  capture::Wait wait = {};
  wait.start = *data.kept;
  if (api_.GetTimestamp(&wait.end) != cupti::kSuccess) return;
  wait.correlation = data.correlation;
  wait.context = data.context_id;
  wait.kind = static_cast<uint32_t>(watched.call);
  wait.stream = kNoStream;
  void* event = nullptr;
  if (watched.call == WaitCall::kStreamForEvent) {
    const auto given = params_of<StreamAndEvent>(data);
    if (is_capturing_(given.stream)) return;
    event = given.event;
    wait.stream = stream_id(data.context, given.stream, watched.per_thread);
  } else if (watched.call == WaitCall::kStream) {
    wait.stream = stream_id(data.context, only_param(data), watched.per_thread);
  } else if (watched.call == WaitCall::kEvent) {
    event = only_param(data);
  }
  const std::lock_guard lock(mutex_);
  if (const auto recorded = events_.find(event); event != nullptr && recorded != events_.end()) {
    wait.event = recorded->second.stream;
    wait.record = recorded->second.correlation;
    // A host's wait for an event lies on the event's stream.
    if (watched.call == WaitCall::kEvent) wait.stream = wait.event;
  }
  if (waits_.size() < kMostWaits) waits_.push_back(wait);
}

std::vector<capture::Wait> WaitWatcher::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(waits_, {});
}

}  // namespace fathom::record
