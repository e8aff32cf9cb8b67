#include "record/pc_sampling_api.h"

#include <dlfcn.h>

#include <type_traits>

namespace fathom::cupti {

PcSamplingApi pc_sampling_api(void* library) {
  PcSamplingApi api;
  const auto get = [library](const char* name, auto& function) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
  };
  get("cuptiPCSamplingEnable", api.Enable);
  get("cuptiPCSamplingDisable", api.Disable);
  get("cuptiPCSamplingGetData", api.GetData);
  get("cuptiPCSamplingSetConfigurationAttribute", api.SetConfigurationAttribute);
  get("cuptiPCSamplingGetNumStallReasons", api.GetNumStallReasons);
  get("cuptiPCSamplingGetStallReasons", api.GetStallReasons);
  get("cuptiGetSassToSourceCorrelation", api.GetSassToSourceCorrelation);
  get("cuptiGetCubinCrc", api.GetCubinCrc);
  get("cuptiGetResultString", api.GetResultString);
  return api;
}

}  // namespace fathom::cupti
