#include "record/gpu_monitor.h"

#include <algorithm>

namespace fathom::record {

using capture::GpuNumber;

bool GpuMonitor::begin() {
  if (state_ != State::kNew) return state_ == State::kWorks;
  if (!api_.whole()) api_ = load_();
  int count = 0;
  if (!api_.whole()) {
    state_ = State::kAbsent;
    return false;
  }
  // Fails until the program has initialized CUDA.
  if (api_.CudaDeviceGetCount(&count) != 0 || count <= 0) return false;
  state_ = api_.Init() == 0 ? State::kWorks : State::kAbsent;
  gpus_.resize(static_cast<size_t>(std::min(count, kMostDevices)));
  return state_ == State::kWorks;
}

// By its place on the bus: NVML counts all GPUs, CUDA those of CUDA_VISIBLE_DEVICES.
void GpuMonitor::open(int device, Gpu& gpu) {
  gpu.in_use = true;
  char bus[64] = {};
  if (api_.CudaDeviceGetPciBusId(bus, sizeof bus - 1, device) != 0) return;
  if (api_.DeviceGetHandleByPciBusId(bus, &gpu.handle) != 0) gpu.handle = nullptr;
}

std::optional<double> GpuMonitor::power(Gpu& gpu) {
  // From Ampere on the other function gives the mean of a second.
  constexpr uint32_t kInstantPower = 186, kUnsigned = 1;
  if (gpu.has_instant_power && api_.DeviceGetFieldValues != nullptr) {
    NvmlField field = {};
    field.field = kInstantPower;
    if (api_.DeviceGetFieldValues(gpu.handle, 1, &field) == 0 && field.result == 0 &&
        field.type == kUnsigned) {
      return field.unsigned_number / 1000.0;
    }
    gpu.has_instant_power = false;
  }
  unsigned milliwatts = 0;
  if (api_.DeviceGetPowerUsage == nullptr || api_.DeviceGetPowerUsage(gpu.handle, &milliwatts) != 0)
    return std::nullopt;
  return milliwatts / 1000.0;
}

void GpuMonitor::take(int device, Gpu& gpu, uint64_t now, capture::ChunkWriter& out) {
  const auto add = [&](GpuNumber which, double value) {
    capture::TextId& name = gpu.names[static_cast<size_t>(which)];
    if (name == 0) name = out.text(gpu_number_name(static_cast<uint32_t>(device), which));
    numbers_.push_back({now, value, name, 0});
  };
  unsigned number = 0;
  if (api_.DeviceGetClockInfo(gpu.handle, nvml::kSmClock, &number) == 0)
    add(GpuNumber::kSmClock, number);
  if (api_.DeviceGetClockInfo(gpu.handle, nvml::kMemoryClock, &number) == 0)
    add(GpuNumber::kMemoryClock, number);
  if (const std::optional<double> watts = power(gpu)) add(GpuNumber::kPower, *watts);
  constexpr int kSensor = 0;
  if (api_.DeviceGetTemperature != nullptr &&
      api_.DeviceGetTemperature(gpu.handle, kSensor, &number) == 0)
    add(GpuNumber::kTemperature, number);
  unsigned long long reasons = 0;
  if (api_.DeviceGetClockReasons != nullptr &&
      api_.DeviceGetClockReasons(gpu.handle, &reasons) == 0)
    add(GpuNumber::kClockReasons, static_cast<double>(reasons));
}

void GpuMonitor::look(uint64_t now, uint64_t devices, capture::ChunkWriter& out) {
  if (state_ == State::kAbsent || (last_ != 0 && now - last_ < kEvery)) return;
  last_ = now;
  if (!begin()) return;
  for (size_t i = 0; i < gpus_.size(); ++i) {
    const int device = static_cast<int>(i);
    Gpu& gpu = gpus_[i];
    unsigned flags = 0;
    int active = 0;
    if (!gpu.in_use &&
        ((devices >> i & 1) != 0 ||
         (api_.CudaPrimaryContextState(device, &flags, &active) == 0 && active != 0))) {
      open(device, gpu);
    }
    if (gpu.handle != nullptr) take(device, gpu, now, out);
  }
  out.write<capture::Number>(capture::ChunkKind::kNumbers, numbers_);
  numbers_.clear();
}

}  // namespace fathom::record
