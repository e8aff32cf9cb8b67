#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/string_pool.h"
#include "base/strong_id.h"
#include "base/units.h"

namespace fathom {

// A row of the store. Its position in the file, the number that sheets print as UID, is a column:
// a quarter of a trace are flow arrows and the like, which need no row.
using EventId = StrongId<struct EventTag>;
using TrackId = StrongId<struct TrackTag>;
using ArgsId = StrongId<struct ArgsTag>;

enum class EventKind : uint8_t {
  kOther,  // kept, used by no sheet
  kCpuOp,
  kRuntime,  // cudaLaunchKernel, hipMemcpyAsync, …
  kDriver,
  kKernel,
  kMemcpy,
  kMemset,
  kPython,
  kAnnotation,
  kGpuAnnotation,
  kInstant,
  kCounter,
  kProfilerRange,  // a stretch of work with hardware counters (cuda_profiler_range)
};

constexpr bool is_gpu_work(EventKind kind) {
  return kind == EventKind::kKernel || kind == EventKind::kMemcpy || kind == EventKind::kMemset;
}
constexpr bool is_launch(EventKind kind) {
  return kind == EventKind::kRuntime || kind == EventKind::kDriver;
}
constexpr bool is_annotation(EventKind kind) {
  return kind == EventKind::kAnnotation || kind == EventKind::kGpuAnnotation;
}
constexpr bool is_host_call(EventKind kind) { return kind == EventKind::kCpuOp || is_launch(kind); }

// What an operator was called with, each field the trace's own JSON without its white space.
// An absent field has an invalid id. Interned: equal arguments have equal ids.
struct Args {
  StringId dims, types, strides, concrete;

  bool operator==(const Args&) const = default;
};

// A thread, or a stream of a device.
struct Track {
  StringId pid, tid;
  StringId process_name, process_label, thread_name;  // invalid where the trace has none
};

// What ties a launch to the work it put on the GPU. Old traces have no correlation and use the
// external id; the two are different number spaces.
struct LaunchKey {
  int64_t id = 0;
  bool external = false;

  auto operator<=>(const LaunchKey&) const = default;
};

struct Dim3 {
  uint32_t x = 0, y = 0, z = 0;
};

struct GpuWork {
  std::optional<LaunchKey> key;
  std::optional<int32_t> device;
  std::optional<int64_t> stream;
  std::optional<int32_t> context, registers, shared_memory;
  std::optional<int64_t> bytes;
  std::optional<Dim3> grid, block, cluster;
};

// A runtime or driver call; also an annotation, whose key is that of its mirror image on the GPU.
struct LaunchCall {
  std::optional<LaunchKey> key;
};

struct AutogradFacts {
  int64_t sequence = 0;
  int64_t forward_thread = 0;  // PyTorch's own thread number; 0 on forward ops
};

struct PythonFrame {
  std::optional<int64_t> id, parent, module;
};

// On the kernel, and on the record_param_comms op that asked for it.
struct Collective {
  EventId event;
  StringId name, dtype, group_name, group_description, group_ranks, in_split, out_split;
  std::optional<int64_t> group_size, in_elements, out_elements, rank, sequence;
  std::optional<int64_t> from_rank, to_rank;  // of a send or receive
};

// What a wait is for, where the recorder noted it; the event is that of the wait on its stream. Ids
// are correlations of calls.
struct RecordedWait {
  EventId event;
  std::optional<int64_t> call;    // that waits, or makes a stream wait
  std::optional<int64_t> record;  // that recorded the event which is waited for
  std::optional<int64_t> stream;  // in which that was
};

// What a counter or a profiled range measured.
struct CounterValue {
  EventId event;
  StringId name;
  double value = 0;
};

struct GpuProperties {
  int64_t id = 0;
  std::string name;
  std::optional<int64_t> multiprocessors, memory_bytes, compute_major, compute_minor;
};

// What stands in the file beside the events.
struct TraceMetadata {
  std::string source;  // the tool that recorded it, with its version as far as the file tells
  std::vector<GpuProperties> gpus;
  std::optional<int64_t> rank, world_size;
  std::string distributed_backend;
  std::optional<int64_t> cuda_runtime_version, hip_runtime_version;
  std::optional<Nanos> base_time;
  std::string trace_name;
};

}  // namespace fathom
