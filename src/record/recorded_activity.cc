// What CUPTI is asked to record and to call back for.
#include <dlfcn.h>

#include <string_view>

#include "record/recorder.h"

namespace fathom::record {
namespace {

// Calls that start work, move data, wait, or take memory. Of the others there are ten for each
// launch (cudaGetDevice, cudaGetLastError, …), and each would cost as much as one of these.
bool is_worth_recording(std::string_view name) {
  constexpr std::string_view kParts[] = {
      "Launch",   "Memcpy",      "Memset",   "Synchronize",  "WaitEvent",    "EventRecord",
      "Malloc",   "Free",        "MemAlloc", "MemCreate",    "MemMap",       "HostAlloc",
      "Register", "Instantiate", "Prefetch", "BeginCapture", "EndCapture",   "ModuleLoad",
      "Library",  "ExecUpdate",  "Ipc",      "StreamCreate", "EventElapsed", "DeviceReset"};
  for (const std::string_view part : kParts) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

template <typename Visit>
void for_each_call(const cupti::Api& api, uint32_t domain, Visit visit) {
  constexpr uint32_t kMostCalls = 2000, kLastGap = 64;
  uint32_t unknown = 0;
  for (uint32_t id = 1; id < kMostCalls && unknown < kLastGap; ++id) {
    const char* name = nullptr;
    if (api.GetCallbackName(domain, id, &name) != cupti::kSuccess || name == nullptr) {
      ++unknown;
      continue;
    }
    unknown = 0;
    visit(id, name);
  }
}

// Calls that wait; launches where counters or samples are asked for.
void launch_callback(void*, uint32_t domain, uint32_t call, const void* what) {
  Recorder* recorder = Recorder::current();
  if (recorder == nullptr || what == nullptr) return;
  try {
    if (domain == cupti::kResourceDomain) {
      recorder->resource_changed(call, *static_cast<const cupti::ResourceData*>(what));
      return;
    }
    recorder->launch_called(domain, call, *static_cast<const cupti::CallbackData*>(what));
  } catch (...) {
    // The program must not notice.
  }
}

}  // namespace

bool Recorder::subscribe() {
  char holder[128] = {};
  int code = 0;
  if (api_->Subscribe_v2 != nullptr) {
    cupti::SubscriberParams params{sizeof(cupti::SubscriberParams), "Fathom", holder,
                                   sizeof holder};
    code = api_->Subscribe_v2(&subscriber_, launch_callback, nullptr, &params);
  } else {
    code = api_->Subscribe(&subscriber_, launch_callback, nullptr);
  }
  if (code == cupti::kSuccess) return true;
  if (code == cupti::kMultipleSubscribers) {
    note(std::string("another profiler is using CUPTI: ") +
         (holder[0] != '\0' ? holder : "its name is not known"));
    return false;
  }
  const char* text = nullptr;
  if (api_->GetResultString != nullptr) api_->GetResultString(code, &text);
  note("CUPTI refuses to record: " + std::string(text != nullptr ? text : "") + " (error " +
       std::to_string(code) + ")");
  return false;
}

void Recorder::enable_calls(uint32_t domain, int (*enable_call)(uint32_t, uint8_t), uint32_t kind) {
  if (enable_call == nullptr || settings_.all_calls) {
    api_->ActivityEnable(kind);
    return;
  }
  // A running program does not hear of single calls that are switched on, only of those switched
  // off.
  if (settings_.dormant) api_->ActivityEnable(kind);
  for_each_call(*api_, domain, [&](uint32_t id, const char* name) {
    const bool wanted = is_worth_recording(name);
    if (wanted != settings_.dormant) enable_call(id, wanted ? 1 : 0);
  });
}

void Recorder::enable() {
  recording_ = true;
  if (pm_sampler_) {
    pm_sampler_->begin();
    watch_launches(true);
    if (api_->EnableCallback != nullptr)
      api_->EnableCallback(1, subscriber_, cupti::kResourceDomain, cupti::kContextCreated);
  }
  api_->ActivityEnable(cupti::kConcurrentKernel);
  api_->ActivityEnable(cupti::kMemcpy);
  api_->ActivityEnable(cupti::kMemcpyPeer);
  api_->ActivityEnable(cupti::kMemset);
  watch_waits(true);
  api_->ActivityEnable(cupti::kOverhead);
  // NVTX in CUDA 13.0's first CUPTI crashes the program.
  if (api_->version != 130000) api_->ActivityEnable(cupti::kMarker);
  if (!settings_.graph_nodes) api_->ActivityEnable(cupti::kGraphTrace);
  if (settings_.allocations) api_->ActivityEnable(cupti::kMemory2);
  enable_calls(cupti::kRuntimeDomain, api_->ActivityEnableRuntimeApi, cupti::kRuntime);
  enable_calls(cupti::kDriverDomain, api_->ActivityEnableDriverApi, cupti::kDriver);
}

void Recorder::watch_waits(bool on) {
  if (!WaitWatcher::can_watch(*api_)) {
    on ? api_->ActivityEnable(cupti::kSynchronization)
       : api_->ActivityDisable(cupti::kSynchronization);
    return;
  }
  if (!waits_) {
    find_stream_is_capturing();
    waits_ =
        std::make_unique<WaitWatcher>(*api_, [this](void* stream) { return is_capturing(stream); });
    for (const uint32_t domain : {cupti::kRuntimeDomain, cupti::kDriverDomain}) {
      for_each_call(*api_, domain, [&](uint32_t id, const char* name) {
        const std::string plain(plain_call_name(name));
        if (waits_->add(domain, id, plain)) wait_calls_.push_back({domain, id, plain});
      });
    }
  }
  for (const WatchedCall& call : wait_calls_)
    api_->EnableCallback(on ? 1 : 0, subscriber_, call.domain, call.id);
}

void Recorder::find_stream_is_capturing() {
  if (void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD)) {
    stream_is_capturing_ =
        reinterpret_cast<int (*)(void*, int*)>(dlsym(driver, "cuStreamIsCapturing"));
  }
}

void Recorder::enable_counters() {
  if (api_->EnableCallback == nullptr) return;
  CounterPlan plan;
  plan.metrics = settings_.lines_of(kMetricsFile);
  plan.kernels = settings_.lines_of(kKernelsFile);
  plan.replay = settings_.replay;
  counters_ = std::make_unique<CounterCollector>(*api_, std::move(plan), writer_->chunks(),
                                                 [this](const std::string& text) { note(text); });
  find_stream_is_capturing();
  watch_launches(true);
}

void Recorder::watch_launches(bool on) {
  if (api_->EnableCallback == nullptr) return;
  if (launch_calls_.empty()) {
    for (const uint32_t domain : {cupti::kRuntimeDomain, cupti::kDriverDomain}) {
      for_each_call(*api_, domain, [&](uint32_t id, const char* name) {
        const std::string plain(plain_call_name(name));
        if (launches_kernel(plain)) launch_calls_.push_back({domain, id, plain});
      });
    }
  }
  for (const WatchedCall& call : launch_calls_)
    api_->EnableCallback(on ? 1 : 0, subscriber_, call.domain, call.id);
}

void Recorder::enable_pc_sampling() {
  if (api_->EnableCallback == nullptr) return;
  pc_sampler_ =
      std::make_unique<PcSampler>(cupti::pc_sampling_api(api_->library), settings_.pc_period,
                                  [this](const std::string& text) { note(text); });
  pc_sampler_->set_at_exit(register_end_of_sampling);
  for (const uint32_t change : {cupti::kContextCreated, cupti::kContextEnds, cupti::kModuleLoaded})
    api_->EnableCallback(1, subscriber_, cupti::kResourceDomain, change);
}

void Recorder::resource_changed(uint32_t change, const cupti::ResourceData& data) {
  // Its GPU may be one that is not sampled yet.
  if (change == cupti::kContextCreated && pm_sampler_ && recording_) watch_launches(true);
  if (!pc_sampler_) return;
  if (change == cupti::kContextCreated) {
    uint32_t device = 0;
    if (api_->GetDeviceId != nullptr) api_->GetDeviceId(data.context, &device);
    pc_sampler_->context_created(data.context, device);
    watch_launches(true);
  } else if (change == cupti::kContextEnds) {
    pc_sampler_->context_ends(data.context);
  } else if (change == cupti::kModuleLoaded && data.descriptor != nullptr) {
    const auto& module = *static_cast<const cupti::ModuleData*>(data.descriptor);
    pc_sampler_->module_loaded(module.cubin, module.bytes);
  }
}

// Kernels that go into a graph do not run now.
bool Recorder::is_capturing(void* stream) const {
  int status = 0;
  return stream_is_capturing_ != nullptr &&
         (stream_is_capturing_(stream, &status) != 0 || status != 0);
}

void Recorder::launch_called(uint32_t domain, uint32_t id, const cupti::CallbackData& data) {
  if (waits_ && waits_->called(domain, id, data)) return;
  // Launches are watched until all samplers have started: until there is another context.
  bool has_started = true;
  if (pc_sampler_) {
    if (data.site == 0)
      pc_sampler_->launch_begins(data.context);
    else
      has_started = pc_sampler_->launch_ended(data.context);
  }
  if (pm_sampler_ && data.site != 0) {
    uint32_t device = 0;
    const bool is_known =
        api_->GetDeviceId != nullptr && api_->GetDeviceId(data.context, &device) == 0;
    if (is_known && !pm_sampler_->launched(device)) has_started = false;
  }
  const bool samples = (pc_sampler_ || pm_sampler_) && !counters_;
  if (samples && data.site != 0 && has_started) watch_launches(false);
  if (!counters_) return;
  if (data.site != 0) {
    counters_->after();
    if (counters_->finished()) watch_launches(false);
    return;
  }
  for (const WatchedCall& call : launch_calls_) {
    if (call.domain != domain || call.id != id) continue;
    const std::optional<LaunchArguments> launch = launch_arguments(call.name, data.params);
    if (launch && data.symbol != nullptr && !is_capturing(launch->stream))
      counters_->before(data.context, data.symbol, *launch);
    return;
  }
}

void Recorder::disable() {
  if (pm_sampler_) pm_sampler_->end();
  watch_waits(false);
  for (const uint32_t kind : {cupti::kConcurrentKernel, cupti::kMemcpy, cupti::kMemcpyPeer,
                              cupti::kMemset, cupti::kOverhead, cupti::kMarker, cupti::kGraphTrace,
                              cupti::kMemory2, cupti::kRuntime, cupti::kDriver}) {
    api_->ActivityDisable(kind);
  }
  api_->ActivityFlushAll(cupti::kFlushForced);
  recording_ = false;
}

}  // namespace fathom::record
