#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace fathom {

// The parts of a run that were asked for, in nanoseconds of CLOCK_REALTIME.
struct TimeWindows {
  bool is_whole_run = true;
  std::vector<std::pair<int64_t, int64_t>> spans;

  // Whether something that happened from `start` to `end` lies in one of them at least in part.
  bool include(uint64_t start, uint64_t end) const {
    return is_whole_run || std::ranges::any_of(spans, [start, end](const auto& span) {
             return static_cast<int64_t>(start) < span.second &&
                    static_cast<int64_t>(end) >= span.first;
           });
  }
};

}  // namespace fathom
