#pragma once

#include <optional>
#include <vector>

#include "base/units.h"

namespace fathom {

// Of a group of times. Mean, median and deviations are in nanoseconds and need not be whole.
struct TimeStatistics {
  size_t count = 0;
  Nanos sum, min, max;
  double mean = 0, median = 0;
  double population_deviation = 0;         // over n
  std::optional<double> sample_deviation;  // over n − 1: unknown for a single value
};

TimeStatistics summarize(std::vector<Nanos> times);

}  // namespace fathom
