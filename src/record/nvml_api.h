#pragma once

#include <cstdint>

#include "base/nvml_calls.h"

namespace fathom::record {

// One value of nvmlDeviceGetFieldValues.
struct NvmlField {
  uint32_t field, scope;
  int64_t time, latency;
  uint32_t type;  // 1: an unsigned int
  int result;
  union {
    double number;
    uint32_t unsigned_number;
    uint64_t bits;
  };
};

// What is asked of NVML and, to know which of its GPUs the program sees, of CUDA's driver. A null
// function is not in that version.
struct NvmlApi {
  nvml::Call* Init = nullptr;
  int (*DeviceGetHandleByPciBusId)(const char*, nvml::Device*) = nullptr;
  nvml::DeviceClock* DeviceGetClockInfo = nullptr;
  nvml::DeviceNumber* DeviceGetPowerUsage = nullptr;
  int (*DeviceGetTemperature)(nvml::Device, int, unsigned*) = nullptr;
  int (*DeviceGetClockReasons)(nvml::Device, unsigned long long*) = nullptr;
  int (*DeviceGetFieldValues)(nvml::Device, int, NvmlField*) = nullptr;

  int (*CudaDeviceGetCount)(int*) = nullptr;
  int (*CudaDeviceGetPciBusId)(char*, int, int) = nullptr;
  int (*CudaPrimaryContextState)(int, unsigned*, int*) = nullptr;

  bool whole() const {
    return Init && DeviceGetHandleByPciBusId && DeviceGetClockInfo && CudaDeviceGetCount &&
           CudaDeviceGetPciBusId && CudaPrimaryContextState;
  }
};

// From the driver's libraries; CUDA's is loaded by the program.
NvmlApi load_nvml();

}  // namespace fathom::record
