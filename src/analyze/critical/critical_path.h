#pragma once

#include <array>
#include <string>
#include <vector>

#include "analyze/critical/replay.h"
#include "base/table.h"

namespace fathom {

// What the time on a path goes to: the kinds of nodes, then the delays between them.
enum class PathPart : uint8_t {
  kHostOutside,  // host time outside all recorded calls
  kHostOp,
  kHostCall,
  kHostLaunch,
  kSyncReturn,
  kHostPause,
  kProfiler,  // its own work, whatever call it is in
  kKernel,
  kCollective,
  kCopy,
  kMemset,
  kLaunchLatency,
  kStreamGap,
  kEventWait,    // until work begins whose event has come
  kUnexplained,  // queued work that begins late for no recorded reason
  kBefore,       // before the first node of the path
  kCount
};
// For programs: "host_op"; for readers: "host: op".
std::string_view path_part_name(PathPart part);
std::string_view path_part_label(PathPart part);

using PathShares = std::array<int64_t, static_cast<size_t>(PathPart::kCount)>;
// The time on a path by part, which adds up to its length.
PathShares share_path(const EventStore& store, const CriticalGraph& graph,
                      const GraphChange& change, const std::vector<PathStep>& path);
// The same as words: "GPU kernels 61 %, host 30 %, launch latency 9 %"; the largest first.
std::string path_shares_text(const PathShares& shares);

// Nodes of one part and name.
struct PathRow {
  PathPart part = PathPart::kKernel;
  StringId name;  // invalid: of the part as a whole
  EventId first;  // on the path, or else of all; invalid for delays and gaps
  int64_t on_path = 0, on_path_count = 0;
  int64_t total = 0, count = 0;
  int64_t least_slack = INT64_MAX;
  double slack_sum = 0;
};

// A node of the path, or the delay before one, in the recording's own time.
struct PathSegment {
  Nanos begin, end;
  EventId event;  // the first call of host time; invalid: none was recorded
  PathPart part = PathPart::kKernel;
};

// The critical path of a window, and what is not on it.
class CriticalPath {
 public:
  CriticalPath(const SheetInput& input, const TimeBase& base);

  const CriticalGraph& graph() const { return graph_; }
  // Why there is no path; empty: there is one.
  std::string_view missing() const { return graph_.missing; }
  const PathShares& shares() const { return shares_; }
  const std::vector<PathRow>& rows() const { return rows_; }  // by time on the path
  // In the order of time.
  std::vector<PathSegment> segments() const;
  // Of one step; of the whole window where the recording has no steps.
  Nanos step_time() const;
  // Replayed without a change against the recorded length.
  double replay_error() const { return replay_error_; }

 private:
  void group_rows(const SheetInput& input, const GraphChange& same,
                  const std::vector<PathStep>& path);

  CriticalGraph graph_;
  std::vector<PathRow> rows_;
  std::vector<PathStep> path_;  // from the last to the first
  PathShares shares_{};
  double replay_error_ = 0;
};

Table critical_path_sheet(const SheetInput& input, const CriticalPath& path);

}  // namespace fathom
