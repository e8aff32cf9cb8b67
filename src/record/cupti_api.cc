#include "record/cupti_api.h"

#include <dlfcn.h>

namespace fathom::cupti {
namespace {

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

void* open_library(const char* paths, std::string& why) {
  const char* names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
  // What the program itself uses is what fits its driver and its other libraries.
  for (const char* name : names) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) return library;
  }
  std::string rest = paths != nullptr ? paths : "";
  while (!rest.empty()) {
    const size_t end = rest.find(':');
    const std::string path = rest.substr(0, end);
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
    if (path.empty()) continue;
    if (void* library = dlopen(path.c_str(), RTLD_NOW)) return library;
    if (const char* error = dlerror()) why = error;
  }
  for (const char* name : names) {
    if (void* library = dlopen(name, RTLD_NOW)) return library;
  }
  if (why.empty()) why = "no libcupti.so.12 or .13 was found";
  return nullptr;
}

Api load(const char* paths, std::string& why) {
  Api api;
  void* library = open_library(paths, why);
  if (library == nullptr) return api;
  find(library, "cuptiGetVersion", api.GetVersion);
  find(library, "cuptiGetResultString", api.GetResultString);
  find(library, "cuptiSubscribe", api.Subscribe);
  find(library, "cuptiSubscribe_v2", api.Subscribe_v2);
  find(library, "cuptiActivityRegisterCallbacks", api.ActivityRegisterCallbacks);
  find(library, "cuptiActivityEnable", api.ActivityEnable);
  find(library, "cuptiActivityDisable", api.ActivityDisable);
  find(library, "cuptiActivityFlushAll", api.ActivityFlushAll);
  find(library, "cuptiActivityGetNextRecord", api.ActivityGetNextRecord);
  find(library, "cuptiActivityGetNumDroppedRecords", api.ActivityGetNumDroppedRecords);
  find(library, "cuptiActivityEnableDriverApi", api.ActivityEnableDriverApi);
  find(library, "cuptiActivityEnableRuntimeApi", api.ActivityEnableRuntimeApi);
  find(library, "cuptiSetThreadIdType", api.SetThreadIdType);
  find(library, "cuptiGetCallbackName", api.GetCallbackName);
  find(library, "cuptiNvtxInitialize2", api.NvtxInitialize2);
  find(library, "cuptiGetTimestamp", api.GetTimestamp);
  find(library, "cuptiEnableCallback", api.EnableCallback);
  find(library, "cuptiGetDeviceId", api.GetDeviceId);
  find(library, "cuptiGetStreamIdEx", api.GetStreamIdEx);
  api.library = library;
  uint32_t version = 0;
  const bool whole = api.GetVersion && api.Subscribe && api.ActivityRegisterCallbacks &&
                     api.ActivityEnable && api.ActivityDisable && api.ActivityFlushAll &&
                     api.ActivityGetNextRecord && api.GetCallbackName;
  if (!whole || api.GetVersion(&version) != kSuccess) {
    why = "libcupti.so lacks functions that are needed";
    return api;
  }
  // The records' layouts are those of CUDA 12.0 (18) and later.
  if (version < 18) {
    why = "CUPTI " + std::to_string(version) + " is older than CUDA 12.0's";
    return api;
  }
  api.version = version;
  return api;
}

}  // namespace

const Api& api(const char* paths, std::string& why) {
  static std::string first_why;
  static const Api loaded = load(paths, first_why);
  why = first_why;
  return loaded;
}

}  // namespace fathom::cupti
