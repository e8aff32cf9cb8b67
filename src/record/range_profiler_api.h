#pragma once

#include <cstddef>
#include <cstdint>

// CUPTI's host and range profiler, declared as in cupti_records.h. A struct's `size` is that of the
// part up to its last field: CUPTI takes it from there which fields it may read.
namespace fathom::cupti {

constexpr uint32_t kRangeProfiler = 0;
constexpr uint32_t kAutoRange = 1, kKernelReplay = 2;
constexpr int kInsufficientPrivileges = 35;
constexpr const char* kHowToAllowCounters =
    "the driver allows counters to administrators only. Allow them: "
    "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
    "/etc/modprobe.d/nvidia-counters.conf, then reload the driver or reboot; in a container: "
    "--cap-add=SYS_ADMIN";

struct ProfilerInitialize {
  size_t size;
  void* priv;
};
struct GetChipName {
  size_t size;
  void* priv;
  size_t device;
  const char* chip;
};
struct HostInitialize {
  size_t size;
  void* priv;
  uint32_t profiler_type;
  const char* chip;
  const uint8_t* availability;
  void* host;
};
struct HostDeinitialize {
  size_t size;
  void* priv;
  void* host;
};
struct HostAddMetrics {
  size_t size;
  void* priv;
  void* host;
  const char** names;
  size_t count;
};
struct HostConfigSize {
  size_t size;
  void* priv;
  void* host;
  size_t bytes;
};
struct HostConfig {
  size_t size;
  void* priv;
  void* host;
  size_t bytes;
  uint8_t* image;
};
struct HostPasses {
  size_t size;
  void* priv;
  size_t bytes;
  uint8_t* image;
  size_t passes;
};
struct HostEvaluate {
  size_t size;
  void* priv;
  void* host;
  const uint8_t* image;
  size_t image_bytes;
  size_t range;
  const char** names;
  size_t count;
  double* values;
};
struct RangeEnable {
  size_t size;
  void* priv;
  void* context;
  void* object;
};
struct RangeObject {  // Disable, Start
  size_t size;
  void* priv;
  void* object;
};
struct RangeStop {
  size_t size;
  void* priv;
  void* object;
  size_t pass, level;
  uint8_t all_passes;
};
struct RangeDecode {
  size_t size;
  void* priv;
  void* object;
  size_t dropped;
};
struct RangeSetConfig {
  size_t size;
  void* priv;
  void* object;
  size_t config_bytes;
  const uint8_t* config;
  size_t image_bytes;
  uint8_t* image;
  uint32_t range, replay;
  size_t most_ranges;
  uint16_t levels, least_level;
  size_t pass;
  uint16_t target_level;
};
struct RangeDataSize {
  size_t size;
  void* priv;
  void* object;
  const char** names;
  size_t count;
  size_t most_ranges;
  uint32_t most_nodes;
  size_t bytes;
};
struct RangeDataInitialize {
  size_t size;
  void* priv;
  void* object;
  size_t bytes;
  uint8_t* image;
};
struct RangeDataInfo {
  size_t size;
  void* priv;
  const uint8_t* image;
  size_t bytes;
  size_t ranges;
};

// The size to put into a struct whose last field is this one.
#define FATHOM_CUPTI_SIZE(type, last) (offsetof(type, last) + sizeof(type::last))

struct RangeApi {
  int (*ProfilerInitialize)(cupti::ProfilerInitialize*) = nullptr;
  int (*DeviceGetChipName)(GetChipName*) = nullptr;
  int (*ProfilerHostInitialize)(HostInitialize*) = nullptr;
  int (*ProfilerHostDeinitialize)(HostDeinitialize*) = nullptr;
  int (*ProfilerHostConfigAddMetrics)(HostAddMetrics*) = nullptr;
  int (*ProfilerHostGetConfigImageSize)(HostConfigSize*) = nullptr;
  int (*ProfilerHostGetConfigImage)(HostConfig*) = nullptr;
  int (*ProfilerHostGetNumOfPasses)(HostPasses*) = nullptr;
  int (*ProfilerHostEvaluateToGpuValues)(HostEvaluate*) = nullptr;
  int (*RangeProfilerEnable)(RangeEnable*) = nullptr;
  int (*RangeProfilerDisable)(RangeObject*) = nullptr;
  int (*RangeProfilerStart)(RangeObject*) = nullptr;
  int (*RangeProfilerStop)(RangeStop*) = nullptr;
  int (*RangeProfilerDecodeData)(RangeDecode*) = nullptr;
  int (*RangeProfilerSetConfig)(RangeSetConfig*) = nullptr;
  int (*RangeProfilerGetCounterDataSize)(RangeDataSize*) = nullptr;
  int (*RangeProfilerCounterDataImageInitialize)(RangeDataInitialize*) = nullptr;
  int (*RangeProfilerGetCounterDataInfo)(RangeDataInfo*) = nullptr;

  bool whole() const;
};

// From CUPTI's library, which is loaded (CUDA 12.6 and later have all of it).
RangeApi range_api(void* library);

}  // namespace fathom::cupti
