#include "record/nvml_api.h"

#include <dlfcn.h>

#include <type_traits>

namespace fathom::record {

NvmlApi load_nvml() {
  NvmlApi api;
  void* nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  void* cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (nvml == nullptr || cuda == nullptr) return api;
  const auto get = [](void* library, const char* name, auto& function) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
  };
  get(nvml, "nvmlInit_v2", api.Init);
  get(nvml, "nvmlDeviceGetHandleByPciBusId_v2", api.DeviceGetHandleByPciBusId);
  get(nvml, "nvmlDeviceGetClockInfo", api.DeviceGetClockInfo);
  get(nvml, "nvmlDeviceGetPowerUsage", api.DeviceGetPowerUsage);
  get(nvml, "nvmlDeviceGetTemperature", api.DeviceGetTemperature);
  get(nvml, "nvmlDeviceGetCurrentClocksEventReasons", api.DeviceGetClockReasons);
  if (api.DeviceGetClockReasons == nullptr)  // its name before CUDA 12.2
    get(nvml, "nvmlDeviceGetCurrentClocksThrottleReasons", api.DeviceGetClockReasons);
  get(nvml, "nvmlDeviceGetFieldValues", api.DeviceGetFieldValues);
  get(cuda, "cuDeviceGetCount", api.CudaDeviceGetCount);
  get(cuda, "cuDeviceGetPCIBusId", api.CudaDeviceGetPciBusId);
  get(cuda, "cuDevicePrimaryCtxGetState", api.CudaPrimaryContextState);
  return api;
}

}  // namespace fathom::record
