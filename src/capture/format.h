#pragma once

#include <cstdint>

// The file that a recording is. record/ writes it inside the program that is watched, session/ adds
// what is known after the run, ingest/capture reads it.
//
//     "FATHOMC1"                     8 bytes
//     chunk, chunk, …                each a ChunkHead and `bytes` of payload
//
// A chunk is written with one call and carries a hash of its payload. So a file that was cut, or
// has a damaged place, still gives every whole chunk: a reader that meets garbage looks for the
// next mark. Numbers are little-endian. Records of a kind have one size, which stands in the head:
// fields are only ever added at the end, and a reader takes the part of a record that it knows.
// Times are nanoseconds of CLOCK_REALTIME; texts are ids of strings, which stand in an earlier
// chunk.
namespace fathom::capture {

constexpr char kMagic[8] = {'F', 'A', 'T', 'H', 'O', 'M', 'C', '1'};
constexpr uint32_t kChunkMark = 0x6b686366;    // "fchk"
constexpr uint32_t kLargestChunk = 64u << 20;  // of payload

enum class ChunkKind : uint16_t {
  kStrings = 1,  // {uint32 id, uint32 length, bytes} again and again
  kMeta,         // text: a line "key\tvalue…" for each fact about the process
  kKernels,
  kCopies,
  kSets,
  kCalls,
  kWaits,
  kMarks,
  kGraphs,
  kAllocations,
  kOverheads,
  kDrops,
  kOps,
  kFrames,
  kRanges,
  kNumbers,
  kCounters,
  kActivity = 20,
  kSamples = 30,
};

struct ChunkHead {
  uint32_t mark = kChunkMark;
  ChunkKind kind{};
  uint16_t record_size = 0;  // 0: the payload is text or strings
  uint32_t bytes = 0;
  uint32_t reserved = 0;
  uint64_t hash = 0;  // hash_text of the payload, mixed with the fields above
};

using TextId = uint32_t;  // 0: none

struct Kernel {
  uint64_t start, end;
  uint64_t graph_node;  // 0: not launched by a graph
  TextId name;          // as people write it
  uint32_t correlation, device, context, stream, graph;
  uint32_t grid[3], block[3], cluster[3];  // cluster 0: none
  uint32_t registers, static_shared, dynamic_shared, local_per_thread;
  TextId mangled;  // 0: the name is not a mangled one
};

struct Copy {
  uint64_t start, end, bytes, graph_node;
  uint32_t correlation, device, context, stream, graph;
  uint8_t kind;  // CUPTI's: 1 host to device, 2 device to host, 8 device to device, 10 peers …
  uint8_t source, target;  // kinds of memory: 1 pageable, 2 pinned, 3 device, 4 array, 5 managed
  uint8_t is_async;
  uint32_t peer;  // the other device of a copy between peers
  uint32_t reserved;
};

struct Set {
  uint64_t start, end, bytes, graph_node;
  uint32_t correlation, device, context, stream, graph, value;
};

// A call of CUDA's runtime or driver.
struct Call {
  uint64_t start, end;
  TextId name;
  uint32_t thread, correlation, result;
  uint32_t is_driver, reserved;
};

// The host or a stream waits for the GPU.
struct Wait {
  uint64_t start, end;
  uint32_t correlation, context, stream;
  uint32_t event;   // its number; where `record` is known, the stream that it was recorded on
  uint32_t kind;    // 1 event, 2 a stream for an event, 3 stream, 4 context
  uint32_t record;  // correlation of the call that recorded the event; 0: not known
};

// An NVTX mark, or one end of an NVTX range.
struct Mark {
  uint64_t time;
  TextId name, domain;
  uint32_t id, thread;
  uint32_t kind;  // 1 instant, 2 start, 4 end
  uint32_t reserved;
};

// A graph launch as the GPU saw it, where its nodes were not recorded.
struct Graph {
  uint64_t start, end;
  uint32_t correlation, device, context, stream, graph, reserved;
};

struct Allocation {
  uint64_t time, address, bytes;
  uint32_t correlation, device, context, stream;
  uint8_t is_release, memory;
  uint8_t reserved[6];
};

// Time that recording itself, or loading of code, took.
struct Overhead {
  uint64_t start, end;
  uint32_t kind, thread, correlation, reserved;
};

struct Drop {
  uint64_t records;
};

// An operator of a framework.
struct Op {
  uint64_t start, end;
  int64_t sequence, forward_thread;  // -1: not known to autograd
  TextId name, dims, types, strides, concrete;
  uint32_t thread;
  uint32_t is_annotation, reserved;
};

struct Frame {
  uint64_t start, end;
  int64_t id, parent, module;  // -1: none
  TextId name;
  uint32_t thread;
};

// A call that was asked for with --probe.
struct Range {
  uint64_t start, end;
  TextId name;
  uint32_t thread;
};

// A number over time: of a probe, of the program's output, of the hardware.
struct Number {
  uint64_t time;
  double value;
  TextId name;
  uint32_t thread;  // 0: of no thread
};

// What the hardware counted of one launch: a record for each metric.
struct Counter {
  uint64_t time;
  double value;
  TextId name, mangled, metric;
  uint32_t grid[3], block[3];
  uint32_t dynamic_shared, device;
  uint32_t occurrence;  // among the launches of this kernel with this grid, block and memory
  uint32_t passes;      // how often the kernel ran for this
  uint32_t reserved;
};

// How busy parts of a GPU were in a short time, without regard to what ran. The metrics are those
// of the GPU's line "activity\tDEVICE\tMETRIC…" in the meta text before it.
constexpr size_t kMostActivities = 16;
struct Activity {
  uint64_t start, end;
  uint32_t device, count;  // of values
  float values[kMostActivities];
};

// How often the hardware found warps of a function at an instruction, for one reason: what came in
// since the last record of it.
struct Sample {
  uint64_t time;
  uint64_t samples;
  uint64_t pc;      // bytes from the start of the function
  uint64_t cubin;   // the CRC of the code that it is in
  TextId function;  // as people write it
  TextId mangled;   // 0: the name is not a mangled one
  TextId reason;    // "long_scoreboard"; "selected": an instruction was issued
  TextId file;      // 0: the code has no line information
  uint32_t line, device;
};

}  // namespace fathom::capture
