#pragma once

#include <cstddef>
#include <cstdint>

// The parts of CUPTI that the recorder uses, declared here so that it builds where no CUDA toolkit
// is installed. Only fields are named that stand at the same place in every CUPTI from CUDA 12.0
// on; tests/record holds them against CUPTI's own headers where those are found.
namespace fathom::cupti {

enum Kind : uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kDriver = 4,
  kRuntime = 5,
  kDevice = 8,
  kConcurrentKernel = 10,
  kMarker = 12,
  kOverhead = 17,
  kMemcpyPeer = 22,
  kSynchronization = 38,
  kMemory2 = 49,
  kGraphTrace = 51,
};

struct Record {
  uint32_t kind;
};

#pragma pack(push, 8)
struct KernelRecord {
  uint32_t kind;
  uint8_t cache_config, shared_config;
  uint16_t registers;
  uint32_t partitioned_requested, partitioned_executed;
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3];
  int32_t static_shared, dynamic_shared;
  uint32_t local_per_thread, local_total;
  uint32_t correlation;
  int64_t grid_id;
  const char* name;
  void* reserved0;
  uint64_t queued, submitted;
  uint8_t launch_type, carveout_requested, carveout, padding;
  uint32_t shared_executed;
  uint64_t graph_node;
  uint32_t shared_limit_config;
  uint32_t graph;
  void* access_policy;
  uint32_t channel, channel_type;
  uint32_t cluster[3];
};

struct CopyRecord {
  uint32_t kind;
  uint8_t copy_kind, source, target, flags;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation, runtime_correlation, pad;
  void* reserved0;
  uint64_t graph_node;
  uint32_t graph;
};

struct PeerCopyRecord {
  uint32_t kind;
  uint8_t copy_kind, source, target, flags;
  uint64_t bytes, start, end;
  uint32_t device, context, stream;
  uint32_t source_device, source_context, target_device, target_context;
  uint32_t correlation;
  void* reserved0;
  uint64_t graph_node;
  uint32_t graph;
};

struct SetRecord {
  uint32_t kind, value;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation;
  uint16_t flags, memory;
  uint32_t pad;
  void* reserved0;
  uint64_t graph_node;
  uint32_t graph;
};

struct CallRecord {
  uint32_t kind, callback;
  uint64_t start, end;
  uint32_t process, thread, correlation, result;
};

struct WaitRecord {
  uint32_t kind, type;
  uint64_t start, end;
  uint32_t correlation, context, stream, event;
};

struct MarkRecord {
  uint32_t kind, flags;
  uint64_t time;
  uint32_t id, object_kind;
  uint32_t process, thread, object_rest;
  uint32_t pad;
  const char* name;
  const char* domain;
};

struct GraphRecord {
  uint32_t kind, correlation;
  uint64_t start, end;
  uint32_t device, graph, context, stream;
};

struct MemoryRecord {
  uint32_t kind, operation, memory, correlation;
  uint64_t address, bytes, time, pc;
  uint32_t process, device, context, stream;
};

struct OverheadRecord {
  uint32_t kind, overhead, object_kind;
  uint32_t process, thread, object_rest;
  uint64_t start, end;
};
#pragma pack(pop)

constexpr int kSuccess = 0;
constexpr int kMultipleSubscribers = 39;
constexpr uint32_t kFlushForced = 1;
constexpr uint32_t kDriverDomain = 1, kRuntimeDomain = 2;
constexpr uint32_t kSystemThreadId = 1;

}  // namespace fathom::cupti
