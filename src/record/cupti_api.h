#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "record/cupti_records.h"

namespace fathom::cupti {

using BufferRequested = void (*)(uint8_t** buffer, size_t* size, size_t* most_records);
using BufferCompleted = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                                 size_t valid);
using Callback = void (*)(void* data, uint32_t domain, uint32_t id, const void* what);

// What a callback around a call of CUDA is handed.
struct CallbackData {
  uint32_t site;  // 0: before the call, 1: after it
  const char* function;
  const void* params;
  void* result;
  const char* symbol;  // the kernel's mangled name
  void* context;
  uint32_t context_id;
  uint64_t* kept;  // what is put there before the call is there after it
  uint32_t correlation;
};

struct SubscriberParams {
  size_t size;
  const char* name;
  char* old_name;
  size_t old_size;
};

// CUPTI's functions, found when the program runs. A null one is not in that version.
struct Api {
  int (*GetVersion)(uint32_t*) = nullptr;
  int (*GetResultString)(int, const char**) = nullptr;
  int (*Subscribe)(void**, Callback, void*) = nullptr;
  int (*Subscribe_v2)(void**, Callback, void*, SubscriberParams*) = nullptr;
  int (*ActivityRegisterCallbacks)(BufferRequested, BufferCompleted) = nullptr;
  int (*ActivityEnable)(uint32_t) = nullptr;
  int (*ActivityDisable)(uint32_t) = nullptr;
  int (*ActivityFlushAll)(uint32_t) = nullptr;
  int (*ActivityGetNextRecord)(uint8_t*, size_t, Record**) = nullptr;
  int (*ActivityGetNumDroppedRecords)(void*, uint32_t, size_t*) = nullptr;
  int (*ActivityEnableDriverApi)(uint32_t, uint8_t) = nullptr;
  int (*ActivityEnableRuntimeApi)(uint32_t, uint8_t) = nullptr;
  int (*SetThreadIdType)(uint32_t) = nullptr;
  int (*GetCallbackName)(uint32_t, uint32_t, const char**) = nullptr;
  int (*NvtxInitialize2)(void*) = nullptr;
  int (*GetTimestamp)(uint64_t*) = nullptr;
  int (*EnableCallback)(uint32_t, void*, uint32_t, uint32_t) = nullptr;
  int (*GetDeviceId)(void*, uint32_t*) = nullptr;
  int (*GetStreamIdEx)(void*, void*, uint8_t, uint32_t*) = nullptr;
  uint32_t version = 0;
  void* library = nullptr;

  bool loaded() const { return version != 0; }
};

// Loads CUPTI: what the program has already, else by its name, else from the paths given (with a
// colon between them). On failure `why` says what was tried.
const Api& api(const char* paths, std::string& why);

}  // namespace fathom::cupti
