#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tree/steps.h"

namespace fathom {

// Which part of a trace a report is about. An argument of every sheet, not a filter inside each.
struct Scope {
  struct StepRange {
    size_t begin = 0, end = SIZE_MAX;  // numbered from 0 in the order of time; end not included
  };

  std::optional<StepRange> steps;
  std::string step_pattern{kProfilerSteps};
  std::optional<int64_t> rank;
  std::optional<int32_t> device;
  bool include_unlinked = false;
};

}  // namespace fathom
