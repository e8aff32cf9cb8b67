#pragma once

#include <map>
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

// A union that grows: each interval costs a search and what it swallows.
class IntervalSet {
 public:
  void add(const Interval& interval);
  // Takes over the other's; the smaller of the two is added to the larger.
  void add(IntervalSet&& other);
  Nanos length() const { return length_; }

 private:
  std::map<Nanos, Nanos> ends_;  // by begin; disjoint
  Nanos length_;
};

Nanos total_length(const std::vector<Interval>& intervals);

}  // namespace fathom
