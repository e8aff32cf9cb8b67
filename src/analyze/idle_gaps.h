#pragma once

#include <array>
#include <vector>

#include "events/intervals.h"
#include "sheets/time_base.h"

// Why the GPU had nothing to do. Each gap is split into parts by what the host did in it; the parts
// of all causes add up to the idle time, to the nanosecond.
//
// A gap ends with work K that call L of thread T launched:
//   L returned before the gap    the whole gap is kQueued: K waits for another stream, a collective
//                                or the GPU itself
//   else                         up to L's return, what T did; 20 µs more are the launch's latency;
//                                the rest is kQueued
// Where T has no call open, the main thread tells, then the thread that launched before.
// If K is the first of its name and code is loaded in the gap, the host's own time in it is
// kFirstUse too.
//
// A call that waits until the GPU is dry keeps the host from launching ahead. Without it, what
// follows would have been launched as much earlier as it waited: up to that much of the late
// launches until the next such wait is its doing (kSynchronization).
namespace fathom {

enum class IdleCause : uint8_t {
  kFirstUse,         // loading, compilation, autotuning, graph capture
  kAllocation,       // of GPU memory or pinned memory
  kSynchronization,  // the host waited for the GPU, then the GPU waits for the host
  kCommunication,    // a collective on the host
  kDataLoading,      // data loaders
  kHost,             // late launches: ops, launch calls and the short time between them
  kHostCode,         // ops and Python code that fill over a millisecond without a launch
  kHostWork,         // for a long time no event of the thread is recorded
  kQueued,           // launched before the gap
  kNoLaunch,         // the launch is not in the file
  kProfiler,         // the profiler's own overhead
  kOther,
  kCount
};
inline constexpr size_t kIdleCauses = static_cast<size_t>(IdleCause::kCount);
// For programs: "late_launch", "synchronization".
std::string_view idle_cause_name(IdleCause cause);

using IdleTimesByCause = std::array<Nanos, kIdleCauses>;

struct IdleGap {
  Interval gap;
  EventId before, after;                // the work around it; invalid at an end of the time base
  IdleCause cause = IdleCause::kOther;  // of the largest part
  StringId blamed;                      // name of `host`; invalid: nothing in particular
  EventId host;  // the call, range or frame that stands for most of that part
  IdleTimesByCause parts = {};
};

struct IdleGaps {
  std::vector<IdleGap> gaps;  // in the order of time
  size_t waits = 0;           // calls of the host that wait for the GPU
};

// The gaps of some GPU work, over all streams and devices, from its first start to its last end.
IdleGaps find_idle_gaps(const SheetInput& input, std::vector<EventId> work);

// An event of the host, or of the GPU, that idle time is put down to.
struct IdleBlame {
  EventId event;
  Nanos time;
};

// A part of a gap: idle time of one cause.
struct IdleStretch {
  Interval when;
  EventId blamed;  // for most of it; invalid: nothing in particular
  IdleCause cause = IdleCause::kOther;
};

struct DeviceIdle {
  std::optional<int32_t> device;
  bool is_explained = true;  // of many GPUs only the busiest are
  IdleTimesByCause by_cause = {};
  std::vector<IdleTimesByCause> by_step;
  std::vector<Nanos> busy_by_step;
  std::vector<IdleGap> longest;        // ten
  std::vector<IdleStretch> stretches;  // in the order of time: all idle time, where it is explained
};

// All idle time of a time base.
struct IdleTime {
  std::vector<DeviceIdle> devices;  // those of the base
  // Of the GPUs that are explained, by cause; without the time between kernels queued back to back.
  std::array<std::vector<IdleBlame>, kIdleCauses> blamed;
  std::array<size_t, kIdleCauses> gaps = {};  // of which it is the largest part
  size_t waits = 0;
  size_t explained = 0;  // GPUs

  // Mean over the GPUs that are explained.
  Nanos time(IdleCause cause) const;
};
// Of a GPU, while the host was in some spans: merged, in the order of time.
Nanos idle_time_in(const IdleTime& idle, const std::vector<Interval>& spans);
// A stretch ends where the cause changes, or also where the call does that it is put down to.
enum class StretchEnds : uint8_t { kCause, kCall };
IdleTime explain_idle_time(const SheetInput& input, const TimeBase& base,
                           const std::vector<DeviceWork>& devices,
                           StretchEnds ends = StretchEnds::kCause);

}  // namespace fathom
