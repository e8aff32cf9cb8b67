#include "session/code/gpu_state.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>

#include "base/nvml_calls.h"

namespace fathom {

struct GpuState::Calls {
  void* library = nullptr;
  nvml::Device device = nullptr;
  nvml::DeviceClock *clock = nullptr, *temperature = nullptr;
};

GpuState::GpuState() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return;
  const auto get = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
  };
  nvml::Call* begin = nullptr;
  int (*open)(unsigned, nvml::Device*) = nullptr;
  auto calls = std::make_unique<Calls>();
  get("nvmlInit_v2", begin);
  get("nvmlDeviceGetHandleByIndex_v2", open);
  get("nvmlDeviceGetClockInfo", calls->clock);
  get("nvmlDeviceGetTemperature", calls->temperature);
  if (begin == nullptr || open == nullptr || begin() != 0 || open(0, &calls->device) != 0) return;
  calls->library = library;
  calls_ = std::move(calls);
}

GpuState::~GpuState() { stop(); }

void GpuState::look() {
  unsigned value = 0;
  const auto raise = [&](std::optional<double>& highest) {
    highest = std::max(highest.value_or(0), static_cast<double>(value));
  };
  if (calls_->clock != nullptr && calls_->clock(calls_->device, nvml::kSmClock, &value) == 0)
    raise(highest_.clock_mhz);
  constexpr int kGpuSensor = 0;
  if (calls_->temperature != nullptr &&
      calls_->temperature(calls_->device, kGpuSensor, &value) == 0)
    raise(highest_.temperature);
}

void GpuState::start() {
  if (calls_ == nullptr) return;
  highest_ = {};
  ends_ = false;
  watcher_.start([this] {
    while (!ends_) {
      look();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
}

GpuState::Reading GpuState::stop() {
  if (watcher_.size() == 0) return {};
  ends_ = true;
  watcher_.join();
  return highest_;
}

}  // namespace fathom
