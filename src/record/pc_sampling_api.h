#pragma once

#include <cstddef>
#include <cstdint>

// CUPTI's PC sampling and its resource callbacks, declared as in cupti_records.h. A struct's `size`
// is that of the part up to its last field: CUPTI takes it from there which fields it may read.
namespace fathom::cupti {

constexpr uint32_t kResourceDomain = 3;
constexpr uint32_t kContextCreated = 1, kContextEnds = 2, kModuleLoaded = 6;
constexpr int kOutOfMemory = 8;

struct ResourceData {
  void* context;
  void* stream;
  const void* descriptor;
};
struct ModuleData {
  uint32_t id;
  size_t bytes;
  const char* cubin;
};

struct StallCount {
  uint32_t reason, samples;
};
struct PcRecord {
  size_t size;
  uint64_t cubin_crc, pc;
  uint32_t function_index, pad;
  char* function;
  size_t stall_count;
  StallCount* stalls;
  uint32_t correlation;
};
struct PcData {
  size_t size;
  size_t most_pcs;
  uint64_t samples, dropped;
  size_t pcs, remaining;
  uint64_t range;
  PcRecord* records;
  uint64_t other_samples;  // of kernels that are not the program's
  uint8_t hardware_buffer_full;
};

enum PcAttribute : uint32_t {
  kSamplingPeriod = 1,
  kStallReasons = 2,
  kHardwareBufferSize = 4,
  kCollectionMode = 5,
  kDataBuffer = 8,
};
constexpr uint32_t kContinuous = 1;

struct PcSetting {
  PcAttribute type;
  int status;
  union {
    uint64_t data[3];
    uint32_t number;
    size_t bytes;
    struct {
      size_t count;
      uint32_t* indices;
    } reasons;
    void* buffer;
  };
};
struct PcConfigure {
  size_t size;
  void* priv;
  void* context;
  size_t count;
  PcSetting* settings;
};
struct PcContext {  // Enable, Disable
  size_t size;
  void* priv;
  void* context;
};
struct PcGetData {
  size_t size;
  void* priv;
  void* context;
  void* data;
};
struct PcReasonCount {
  size_t size;
  void* priv;
  void* context;
  size_t* count;
};
constexpr size_t kReasonNameSize = 128;
struct PcReasons {
  size_t size;
  void* priv;
  void* context;
  size_t count;
  uint32_t* indices;
  char** names;
};
struct SassToSource {
  size_t size;
  const void* cubin;
  const char* function;
  size_t bytes;
  uint32_t line;
  uint64_t pc;
  char* file;
  char* directory;
};
struct CubinCrc {
  size_t size;
  size_t bytes;
  const void* cubin;
  uint64_t crc;
};

struct PcSamplingApi {
  int (*Enable)(PcContext*) = nullptr;
  int (*Disable)(PcContext*) = nullptr;
  int (*GetData)(PcGetData*) = nullptr;
  int (*SetConfigurationAttribute)(PcConfigure*) = nullptr;
  int (*GetNumStallReasons)(PcReasonCount*) = nullptr;
  int (*GetStallReasons)(PcReasons*) = nullptr;
  int (*GetSassToSourceCorrelation)(SassToSource*) = nullptr;
  int (*GetCubinCrc)(CubinCrc*) = nullptr;
  int (*GetResultString)(int, const char**) = nullptr;

  bool whole() const {
    return Enable && Disable && GetData && SetConfigurationAttribute && GetNumStallReasons &&
           GetStallReasons;
  }
};

// From CUPTI's library, which is loaded.
PcSamplingApi pc_sampling_api(void* library);

}  // namespace fathom::cupti
