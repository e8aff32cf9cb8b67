#pragma once

#include <cstdint>
#include <string>
#include <vector>

// How the recorder is told what to do: variables in the environment of the program that is watched.
namespace fathom::record {

constexpr const char* kDirectoryVariable = "FATHOM_RECORD_DIR";    // where captures are written
constexpr const char* kOptionsVariable = "FATHOM_RECORD_OPTIONS";  // words with commas between
constexpr const char* kCuptiVariable = "FATHOM_RECORD_CUPTI";      // libraries to try, with colons

constexpr const char* kGraphNodes = "graph-nodes";
constexpr const char* kAllocations = "allocations";
constexpr const char* kAllCalls = "all-calls";
// Nothing is recorded until the file TRIGGER in the directory has been touched; then for a window.
constexpr const char* kDormant = "dormant";
constexpr const char* kWindow = "window=";  // milliseconds; 0: to the end
constexpr const char* kBefore = "before=";  // milliseconds before the trigger that are kept too
constexpr const char* kTriggerFile = "trigger";

// Which instructions warps are at; "=16": every 2^16 cycles.
constexpr const char* kPcSampling = "pc-sampling";
constexpr const char* kNoClocks = "no-clocks";  // no clocks, power, temperature over time

// Counters instead of events: of the kernels in the file KERNELS of the directory, a key on each
// line, the metrics in the file METRICS.
constexpr const char* kCounters = "counters";
constexpr const char* kReplay = "replay";
constexpr const char* kKernelsFile = "kernels";
constexpr const char* kMetricsFile = "metrics";

// How busy the GPU's parts are, every so many nanoseconds: the metrics in the file SAMPLED.
constexpr const char* kPmSampling = "pm-sampling=";
constexpr const char* kSampledFile = "sampled";

struct Settings {
  std::string directory, cupti;
  bool graph_nodes = false, allocations = false, all_calls = false, dormant = false;
  bool counters = false, replay = false;
  bool pc_sampling = false, clocks = true;
  uint32_t pc_period = 0;  // a power of two; 0: the default
  long window_ms = 0, before_ms = 0;
  long sampling_ns = 0;  // 0: no sampling

  // Of a file in the directory; without empty ones.
  std::vector<std::string> lines_of(const char* name) const;
};

// From the environment. An empty directory: nothing is asked for.
Settings read_settings();

}  // namespace fathom::record
