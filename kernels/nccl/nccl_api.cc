#include "nccl_api.h"

#include <dlfcn.h>

namespace fathom::nccl {

namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// The name of the first function that is missing, or null.
const char* find_needed(void* library, NcclApi& api) {
  const char* missing = nullptr;
  const auto need = [&](const char* name, auto& function) {
    if (!find(library, name, function) && missing == nullptr) missing = name;
  };
  need("ncclGetVersion", api.get_version);
  need("ncclGetUniqueId", api.get_unique_id);
  need("ncclCommInitRank", api.init_rank);
  need("ncclCommDestroy", api.destroy);
  need("ncclCommAbort", api.abort);
  need("ncclCommGetAsyncError", api.async_error);
  need("ncclGetErrorString", api.error_text);
  need("ncclAllReduce", api.all_reduce);
  need("ncclAllGather", api.all_gather);
  need("ncclMemAlloc", api.memory_allocate);
  need("ncclMemFree", api.memory_free);
  return missing;
}

}  // namespace

size_t bytes_of(int type) {
  switch (type) {
    case kInt8:
      return 1;
    case kFloat16:
    case kBfloat16:
      return 2;
    case kInt32:
    case kFloat32:
      return 4;
    case kInt64:
    case kFloat64:
      return 8;
    default:
      return 0;
  }
}

bool load_nccl(const std::string& path, NcclApi& api, std::string& error) {
  void* library = dlopen(path.empty() ? "libnccl.so.2" : path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    error = reason != nullptr ? reason : "NCCL's library could not be loaded";
    return false;
  }
  api = {};
  if (const char* missing = find_needed(library, api)) {
    error = std::string(missing) + " is not in this NCCL: 2.19 or newer is needed";
    dlclose(library);
    return false;
  }
  // One without the other is of no use.
  if (!find(library, "ncclCommWindowRegister", api.window_register) ||
      !find(library, "ncclCommWindowDeregister", api.window_deregister)) {
    api.window_register = nullptr;
    api.window_deregister = nullptr;
  }
  return true;
}

}  // namespace fathom::nccl
