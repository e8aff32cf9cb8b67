#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "events/event_store.h"

namespace fathom {

inline constexpr std::string_view kProfilerSteps = "ProfilerStep#*";

struct Step {
  EventId annotation;
  Nanos begin, end;
};

// The annotations of one kind whose names match a glob, in the order of time.
class Steps {
 public:
  Steps(const EventStore& store, EventKind kind, std::string_view pattern);

  const std::vector<Step>& all() const { return steps_; }
  // The step that is open at a time: the latest begun, where they nest.
  std::optional<size_t> at(Nanos time) const;

 private:
  std::vector<Step> steps_;
};

}  // namespace fathom
