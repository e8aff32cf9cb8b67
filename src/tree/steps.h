#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "events/event_store.h"
#include "events/latest_open.h"

namespace fathom {

inline constexpr std::string_view kProfilerSteps = "ProfilerStep#*";

struct Step {
  EventId annotation;
  Nanos begin, end;
};

// The annotations whose names match a glob, in the order of time, and their images on the GPU.
// Where there are none, ops of the profiler's steps: old traces give those the category "Operator".
class Steps {
 public:
  Steps(const EventStore& store, std::string_view pattern);

  const std::vector<Step>& all() const { return steps_; }
  // The step that is open on the CPU at a time: the latest begun, where they nest or overlap.
  std::optional<size_t> at(Nanos time) const;
  // The step that is open on the GPU, as far as the trace has annotations there. A step without GPU
  // work has none; one that used several streams has several.
  std::optional<size_t> on_gpu_at(Nanos time) const;

 private:
  std::vector<Step> steps_;
  LatestOpen on_cpu_, on_gpu_;
};

}  // namespace fathom
