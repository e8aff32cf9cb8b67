#pragma once

#include <vector>

#include "base/units.h"

namespace fathom {

// Half-open in time; an interval of length 0 touches but covers nothing.
struct Interval {
  Nanos begin, end;
};

// The union, sorted and disjoint. Intervals that touch are merged.
std::vector<Interval> merge_intervals(std::vector<Interval> intervals);

// What of `from` is outside `removed`; both sorted and disjoint.
std::vector<Interval> subtract_intervals(const std::vector<Interval>& from,
                                         const std::vector<Interval>& removed);

Nanos total_length(const std::vector<Interval>& intervals);

}  // namespace fathom
