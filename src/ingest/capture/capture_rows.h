#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "events/event_store.h"
#include "ingest/capture/activity_points.h"
#include "ingest/capture/chunk_reader.h"

namespace fathom::capture {

// Collects a capture's records and makes events of them, in the order of time.
class CaptureRows {
 public:
  void take(const Chunk& chunk);
  // Adds the events, and what was odd, to the builder.
  TraceMetadata finish();

  EventStoreBuilder& builder() { return builder_; }

 private:
  void take_strings(std::string_view payload);
  void take_meta(std::string_view payload);
  template <typename Record>
  void append(std::vector<Record>& records, const Chunk& chunk);
  void pair_marks();
  void sum_allocations();

  // Rows in the order of time: which list, and where in it.
  struct Row {
    uint64_t time;
    ChunkKind kind;
    uint32_t index;
  };
  void add(const Row& row);
  void add_kernel(const Kernel& kernel);
  void add_copy(const Copy& copy);
  void add_op(const Op& op);
  void add_point(const ActivityPoint& point);
  void make_points();

  StringId text(TextId id) const;
  StringId number_text(uint64_t number);
  TrackId gpu_track(uint32_t device, uint32_t stream);
  TrackId thread_track(uint32_t thread);
  EventStoreBuilder::Common common(EventKind kind, uint64_t start, uint64_t end, StringId name,
                                   TrackId track);

  EventStoreBuilder builder_;
  TraceMetadata metadata_;
  uint64_t process_ = 0;
  std::string command_;
  std::unordered_map<TextId, StringId, TableHash> texts_;
  std::unordered_map<uint64_t, TrackId, TableHash> gpu_tracks_, thread_tracks_;

  std::vector<Kernel> kernels_;
  std::vector<Copy> copies_;
  std::vector<Set> sets_;
  std::vector<Call> calls_;
  std::vector<Wait> waits_;
  std::unordered_map<uint32_t, uint32_t> devices_;  // by context, of those that ran a kernel
  std::vector<Mark> marks_;
  std::vector<Graph> graphs_;
  std::vector<Allocation> allocations_;
  std::vector<Overhead> overheads_;
  std::vector<Op> ops_;
  std::vector<Frame> frames_;
  std::vector<Range> ranges_;  // of probes, and pairs of marks
  std::vector<Number> numbers_;
  struct GpuActivity {
    std::vector<std::string> metrics;
    std::vector<Activity> samples;
    std::vector<StringId> busy, traffic;  // names of the series
  };
  std::map<uint32_t, GpuActivity> activity_;  // by device
  std::vector<ActivityPoint> points_;
  int64_t lost_ = 0;
};

}  // namespace fathom::capture
