#pragma once

#include <cstdint>
#include <vector>

#include "analyze/critical/graph.h"

// The parts that a critical graph is built from; of use to its builder only.
namespace fathom {

struct GraphWork {
  EventId event;
  TrackId track;
  int64_t start = 0, end = 0;
  int64_t launched = -1;          // begin of its launch call; -1: not recorded
  int64_t launched_by_then = -1;  // the latest of it and those before it on its stream
  uint32_t previous = kNoNode;    // work of its stream that it comes after
  uint32_t latest = kNoNode;      // of its stream up to here, the one that ends last
  uint32_t release = kNoNode;     // segment of the host
  uint32_t stream = 0;            // in HostParts::streams
};

struct GraphSegment {
  int64_t begin = 0, end = 0;
  EventId event;             // of a launch, wait or pause
  uint32_t first_slice = 0;  // else
  uint16_t slice_count = 0;
  NodeKind kind = NodeKind::kHost;
  bool dropped = false;  // a thread that has nothing to do is no node
};

// Positions in lists of parts.
struct PartRange {
  uint32_t begin = 0, end = 0;
};

struct GraphThread {
  TrackId track;
  StringId pid;
  uint32_t begin = 0, end = 0;  // segments
  size_t calls = 0;
  bool is_main = false, is_autograd = false, launches = false;
};

struct HostEdge {
  uint32_t node = 0, before = 0;  // segments, or works
  bool to_work = false, from_work = false;
  GraphEdge::Kind kind = GraphEdge::Kind::kWait;
};

struct HostParts {
  Nanos begin;
  int64_t host_end = 0;  // of the window on the host
  TrackId step_track;
  std::vector<GraphWork> works;         // by stream, then start
  std::vector<PartRange> streams;       // of works
  std::vector<uint32_t> work_of_event;  // kNoNode: none, or outside the window
  std::vector<GraphSegment> segments;   // by thread, then time; disjoint
  std::vector<HostSlice> slices;        // of the segments
  std::vector<GraphThread> threads;
  std::vector<HostEdge> edges;
};

// Adds a part of a host segment that is being made; false: it is full.
bool add_slice(HostParts& parts, GraphSegment& segment, EventId event, int64_t length);
// Adds segments, threads and edges, and sets the release of works.
void segment_threads(const SheetInput& input, HostParts& parts);
// Cuts pauses of a thread in which another one works for it.
void link_threads_of(const SheetInput& input, HostParts& parts);

}  // namespace fathom
