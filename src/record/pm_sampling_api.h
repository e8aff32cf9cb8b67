#pragma once

#include <cstddef>
#include <cstdint>

// CUPTI's sampling of performance monitors, declared as in range_profiler_api.h, which has what
// both share.
namespace fathom::cupti {

constexpr uint32_t kPmSampling = 1;  // a kind of profiler for the host's side
constexpr uint32_t kEveryCycles = 0, kEveryNanoseconds = 1;
constexpr uint32_t kKeepOldest = 0;
constexpr uint32_t kImageIsFull = 1;

struct PmEnable {
  size_t size;
  void* priv;
  size_t device;
  void* object;
};
struct PmObject {  // Disable, Start, Stop
  size_t size;
  void* priv;
  void* object;
};
struct PmSetConfig {
  size_t size;
  void* priv;
  void* object;
  size_t config_bytes;
  const uint8_t* config;
  size_t hardware_buffer;
  uint64_t interval;
  uint32_t mode, append;
};
struct PmDecode {
  size_t size;
  void* priv;
  void* object;
  uint8_t* image;
  size_t image_bytes;
  uint32_t stopped_by;
  uint8_t overflow;
};
struct PmAvailability {
  size_t size;
  void* priv;
  size_t device;
  size_t bytes;
  uint8_t* image;
};
struct PmDataSize {
  size_t size;
  void* priv;
  void* object;
  const char** names;
  size_t count;
  uint32_t most_samples;
  size_t bytes;
};
struct PmDataInitialize {
  size_t size;
  void* priv;
  void* object;
  size_t bytes;
  uint8_t* image;
};
struct PmDataInfo {
  size_t size;
  void* priv;
  const uint8_t* image;
  size_t bytes;
  size_t all, populated, completed;
};
struct PmSampleInfo {
  size_t size;
  void* priv;
  void* object;
  const uint8_t* image;
  size_t bytes;
  size_t index;
  uint64_t start, end;
};

struct PmApi {
  int (*Enable)(PmEnable*) = nullptr;
  int (*Disable)(PmObject*) = nullptr;
  int (*SetConfig)(PmSetConfig*) = nullptr;
  int (*Start)(PmObject*) = nullptr;
  int (*Stop)(PmObject*) = nullptr;
  int (*DecodeData)(PmDecode*) = nullptr;
  int (*GetCounterAvailability)(PmAvailability*) = nullptr;
  int (*GetCounterDataSize)(PmDataSize*) = nullptr;
  int (*CounterDataImageInitialize)(PmDataInitialize*) = nullptr;
  int (*GetCounterDataInfo)(PmDataInfo*) = nullptr;
  int (*CounterDataGetSampleInfo)(PmSampleInfo*) = nullptr;

  bool whole() const;
};

// From CUPTI's library, which is loaded (CUDA 12.6 and later have all of it).
PmApi pm_api(void* library);

}  // namespace fathom::cupti
