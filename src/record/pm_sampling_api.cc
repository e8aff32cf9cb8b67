#include "record/pm_sampling_api.h"

#include <dlfcn.h>

#include <string>
#include <type_traits>

namespace fathom::cupti {

bool PmApi::whole() const {
  return Enable && Disable && SetConfig && Start && Stop && DecodeData && GetCounterAvailability &&
         GetCounterDataSize && CounterDataImageInitialize && GetCounterDataInfo &&
         CounterDataGetSampleInfo;
}

PmApi pm_api(void* library) {
  PmApi api;
  const auto get = [library](const char* name, auto& function) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(
        dlsym(library, (std::string("cuptiPmSampling") + name).c_str()));
  };
  get("Enable", api.Enable);
  get("Disable", api.Disable);
  get("SetConfig", api.SetConfig);
  get("Start", api.Start);
  get("Stop", api.Stop);
  get("DecodeData", api.DecodeData);
  get("GetCounterAvailability", api.GetCounterAvailability);
  get("GetCounterDataSize", api.GetCounterDataSize);
  get("CounterDataImageInitialize", api.CounterDataImageInitialize);
  get("GetCounterDataInfo", api.GetCounterDataInfo);
  get("CounterDataGetSampleInfo", api.CounterDataGetSampleInfo);
  return api;
}

}  // namespace fathom::cupti
