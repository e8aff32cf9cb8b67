#include "record/range_profiler_api.h"

#include <dlfcn.h>

#include <type_traits>

namespace fathom::cupti {

bool RangeApi::whole() const {
  return ProfilerInitialize && DeviceGetChipName && ProfilerHostInitialize &&
         ProfilerHostDeinitialize && ProfilerHostConfigAddMetrics &&
         ProfilerHostGetConfigImageSize && ProfilerHostGetConfigImage &&
         ProfilerHostGetNumOfPasses && ProfilerHostEvaluateToGpuValues && RangeProfilerEnable &&
         RangeProfilerDisable && RangeProfilerStart && RangeProfilerStop &&
         RangeProfilerDecodeData && RangeProfilerSetConfig && RangeProfilerGetCounterDataSize &&
         RangeProfilerCounterDataImageInitialize && RangeProfilerGetCounterDataInfo;
}

RangeApi range_api(void* library) {
  RangeApi api;
  const auto get = [library](const char* name, auto& function) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
  };
  get("cuptiProfilerInitialize", api.ProfilerInitialize);
  get("cuptiDeviceGetChipName", api.DeviceGetChipName);
  get("cuptiProfilerHostInitialize", api.ProfilerHostInitialize);
  get("cuptiProfilerHostDeinitialize", api.ProfilerHostDeinitialize);
  get("cuptiProfilerHostConfigAddMetrics", api.ProfilerHostConfigAddMetrics);
  get("cuptiProfilerHostGetConfigImageSize", api.ProfilerHostGetConfigImageSize);
  get("cuptiProfilerHostGetConfigImage", api.ProfilerHostGetConfigImage);
  get("cuptiProfilerHostGetNumOfPasses", api.ProfilerHostGetNumOfPasses);
  get("cuptiProfilerHostEvaluateToGpuValues", api.ProfilerHostEvaluateToGpuValues);
  get("cuptiRangeProfilerEnable", api.RangeProfilerEnable);
  get("cuptiRangeProfilerDisable", api.RangeProfilerDisable);
  get("cuptiRangeProfilerStart", api.RangeProfilerStart);
  get("cuptiRangeProfilerStop", api.RangeProfilerStop);
  get("cuptiRangeProfilerDecodeData", api.RangeProfilerDecodeData);
  get("cuptiRangeProfilerSetConfig", api.RangeProfilerSetConfig);
  get("cuptiRangeProfilerGetCounterDataSize", api.RangeProfilerGetCounterDataSize);
  get("cuptiRangeProfilerCounterDataImageInitialize", api.RangeProfilerCounterDataImageInitialize);
  get("cuptiRangeProfilerGetCounterDataInfo", api.RangeProfilerGetCounterDataInfo);
  return api;
}

}  // namespace fathom::cupti
