#pragma once

#include <optional>
#include <string>
#include <vector>

#include "events/intervals.h"
#include "sheets/gpu_selection.h"

// The wall time that utilisation, shares and savings relate to, host time included. The span of the
// GPU's work hides what the host does before, between and after it.
namespace fathom {

enum class TimeBaseKind : uint8_t {
  kSteps,       // annotations that match the scope's pattern (ProfilerStep#N)
  kAnnotation,  // a range of the program that repeats and holds nearly all launches
  kRepetition,  // GPU work that repeats; neither of the above
  kRecording,   // GPU work with the host calls and ranges that lead up to it and follow it
  kGpuSpan,     // no host event was recorded
};
std::string_view time_base_name(TimeBaseKind kind);  // for programs: "steps", "annotation"

// A part of the wall time. A step begins when the host begins it, or when the GPU has finished the
// work of the steps before, whichever is later: the host may run ahead by several steps. So steps
// follow each other without gap, and their lengths add up.
struct BaseStep {
  EventId annotation;  // invalid: the whole recording, or steps by repetition
  Nanos begin, end;
  Nanos host_begin;  // when the host began it
};

// One GPU's share of the wall time. Work without a launch counts: the GPU was not idle.
struct DeviceTime {
  std::optional<int32_t> device;
  size_t events = 0;
  Nanos computation, exposed_communication, exposed_copies, busy, idle;
  Nanos span;  // from the first to the last work
  // Less than a hundredth of the work of the busiest GPU: listed, but no part of averages.
  bool is_minor = false;
};

struct TimeBase {
  TimeBaseKind kind = TimeBaseKind::kRecording;
  std::string name;             // of the steps: the pattern, or the range's name without its number
  std::vector<BaseStep> steps;  // at least one, unless the trace has no GPU work
  std::vector<DeviceTime> devices;  // by number
  size_t steps_found = 0;           // also where they are no base
  size_t repeats = 0;               // of the GPU work, where steps or layers may be what repeats
  double outside_steps = 0;         // share of the GPU work that no step has launched
  // What is left out before it; of a recording with the start of its program.
  struct StartUp {
    Nanos time, first_use;
    Nanos recorded;  // with the start-up, and what follows the steps
  };
  std::optional<StartUp> start_up;

  Nanos begin() const { return steps.empty() ? Nanos{} : steps.front().begin; }
  Nanos end() const { return steps.empty() ? Nanos{} : steps.back().end; }
  Nanos wall() const { return end() - begin(); }
  // Means over the GPUs that are used; of one GPU its own.
  DeviceTime mean_device() const;
  size_t used_devices() const;
};

// The GPU work of one device, whatever the steps of the scope: its neighbours keep the GPU busy
// too. In the order of time.
struct DeviceWork {
  std::optional<int32_t> device;
  std::vector<EventId> work;
};
std::vector<DeviceWork> work_by_device(const SheetInput& input);

// Nothing is to be said of the difference then.
bool spans_nearly_all(Nanos span, Nanos wall);

TimeBase find_time_base(const SheetInput& input, const std::vector<DeviceWork>& devices);

// Whether a copy engine did it. ROCm before 7.2 reports its copies as kernels of certain names.
bool is_copy_event(const EventStore& store, EventId event);

}  // namespace fathom
