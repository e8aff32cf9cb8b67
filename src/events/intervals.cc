#include "events/intervals.h"

#include <algorithm>

namespace fathom {

std::vector<Interval> merge_intervals(std::vector<Interval> intervals) {
  const auto by_begin = [](const Interval& a, const Interval& b) { return a.begin < b.begin; };
  // Events of one stream come in order most of the time.
  if (!std::ranges::is_sorted(intervals, by_begin)) std::ranges::sort(intervals, by_begin);
  size_t kept = 0;
  for (const Interval& next : intervals) {
    if (kept > 0 && next.begin <= intervals[kept - 1].end) {
      intervals[kept - 1].end = std::max(intervals[kept - 1].end, next.end);
    } else {
      intervals[kept++] = next;
    }
  }
  intervals.resize(kept);
  return intervals;
}

std::vector<Interval> subtract_intervals(const std::vector<Interval>& from,
                                         const std::vector<Interval>& removed) {
  std::vector<Interval> rest;
  size_t first = 0;
  for (const Interval& whole : from) {
    while (first < removed.size() && removed[first].end <= whole.begin) ++first;
    Nanos at = whole.begin;
    for (size_t i = first; i < removed.size() && removed[i].begin < whole.end; ++i) {
      if (removed[i].begin > at) rest.push_back({at, removed[i].begin});
      at = std::max(at, removed[i].end);
    }
    if (at < whole.end) rest.push_back({at, whole.end});
  }
  return rest;
}

void IntervalSet::add(const Interval& interval) {
  auto [begin, end] = interval;
  if (end < begin) end = begin;
  auto at = ends_.upper_bound(begin);
  if (at != ends_.begin() && std::prev(at)->second >= begin) --at;
  while (at != ends_.end() && at->first <= end) {
    begin = std::min(begin, at->first);
    end = std::max(end, at->second);
    length_ = length_ - (at->second - at->first);
    at = ends_.erase(at);
  }
  ends_.emplace_hint(at, begin, end);
  length_ += end - begin;
}

void IntervalSet::add(IntervalSet&& other) {
  if (other.ends_.size() > ends_.size()) std::swap(*this, other);
  for (const auto& [begin, end] : other.ends_) add({begin, end});
}

Nanos total_length(const std::vector<Interval>& intervals) {
  Nanos sum;
  for (const Interval& i : intervals) sum += i.end - i.begin;
  return sum;
}

}  // namespace fathom
