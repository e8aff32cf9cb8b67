#pragma once

#include <vector>

#include "doctor/environment.h"

namespace fathom {

// What Fathom does, or another tool whose reports it reads.
enum class Part : uint8_t {
  kAnalyze,
  kScan,
  kRecord,
  kCounters,
  kPmSampling,
  kPcSampling,
  kNcu,
  kRocprof
};

enum class CanDo : uint8_t { kYes, kNo, kUnknown };

enum class Obstacle : uint8_t {
  kNoGpu,
  kOnlyAmd,
  kOnlyNvidia,
  kNoNvidiaDriver,  // a GPU on the bus and no driver of NVIDIA's for it
  kNoDeviceFiles,
  kDeviceFilesRefused,
  kNoCudaLibrary,
  kCudaFails,
  kDevicesHidden,  // by CUDA_VISIBLE_DEVICES
  kNoCupti,
  kCuptiFails,
  kNoRangeProfiler,  // CUPTI is too old for counters
  kNoPmSampling,
  kNoPcSampling,
  kGpuTooOld,
  kCountersRestricted,
  kCountersUnknown,
  kMps,
  kDcgm,  // may hold the counters: no obstacle by itself
  kNoNcu,
  kNoKfd,
  kKfdRefused,
  kNoRocprof,
  kNotAsked  // a file system that was only looked at
};

struct Capability {
  Part part = Part::kAnalyze;
  CanDo verdict = CanDo::kYes;
  std::vector<Obstacle> obstacles;  // of a kYes: what to watch out for
};

// One for each part, in its order.
std::vector<Capability> capabilities(const Environment& environment);

}  // namespace fathom
