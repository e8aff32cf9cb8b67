#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "events/intervals.h"
#include "tree/steps.h"

namespace fathom {

// Which part of a trace a report is about. An argument of every sheet, not a filter inside each.
struct Scope {
  struct StepRange {
    size_t begin = 0, end = SIZE_MAX;  // numbered from 0 in the order of time; end not included
  };

  // The recording without the start of its program, and the first uses at its end: work launched in
  // a part of it.
  struct SteadyState {
    Interval when;
    Interval recorded;  // the time base with the start-up
    Nanos first_use;    // of the start-up

    bool contains(Nanos launched) const { return launched >= when.begin && launched < when.end; }
  };

  std::optional<StepRange> steps;
  std::optional<SteadyState> steady;
  std::string step_pattern{kProfilerSteps};
  std::optional<int64_t> rank;
  std::optional<int32_t> device;
  bool include_unlinked = false;
};

}  // namespace fathom
