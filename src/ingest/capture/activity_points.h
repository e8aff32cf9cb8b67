#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capture/format.h"

namespace fathom::capture {

// How busy a GPU was at a time: the mean of neighbouring samples, so that the number of points has
// a limit whatever the number of samples.
struct ActivityPoint {
  uint64_t time = 0;
  uint32_t device = 0;
  bool is_traffic = false;    // GB/s, else percent
  std::vector<float> values;  // in the order of the series' names
};

// What is shown of one GPU: its metrics that are percentages, and those that count bytes.
struct ActivitySeries {
  std::vector<std::string> busy, traffic;  // names for people
  std::vector<ActivityPoint> points;       // in the order of time
};
ActivitySeries activity_series(const std::vector<std::string>& metrics,
                               std::vector<Activity> samples, size_t most_points);

}  // namespace fathom::capture
