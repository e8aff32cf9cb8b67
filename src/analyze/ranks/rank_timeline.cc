#include "analyze/ranks/rank_timeline.h"

#include <algorithm>

namespace fathom {

RankTimeline::RankTimeline(const SheetInput& input, const TimeBase& base,
                           const std::vector<DeviceWork>& devices, size_t gpu)
    : begin_(base.begin()) {
  const EventStore& store = input.store;
  std::vector<Interval> copying;
  for (const Collective& c : store.collectives()) {
    if (store.kind(c.event) == EventKind::kAnnotation)
      communicating_.push_back({store.start(c.event), store.end(c.event)});
  }
  static const std::vector<EventId> none;
  for (const EventId e : devices.empty() ? none : devices[gpu].work) {
    const Interval when{store.start(e), store.end(e)};
    if (is_copy_event(store, e)) {
      copying.push_back(when);
    } else if (input.selection.is_communication(e)) {
      communicating_.push_back(when);
    } else {
      computing_.push_back(when);
      computation_.push_back(e);
    }
  }
  std::ranges::stable_sort(computation_, {}, [&store](EventId e) { return store.start(e); });
  computing_ = merge_intervals(std::move(computing_));
  communicating_ = merge_intervals(std::move(communicating_));
  copying = merge_intervals(std::move(copying));
  add_segments(computing_, RankPart::kComputation);
  add_segments(subtract_intervals(communicating_, computing_), RankPart::kCommunication);
  add_segments(subtract_intervals(subtract_intervals(copying, computing_), communicating_),
               RankPart::kCopies);
  const IdleTime idle = explain_idle_time(input, base, devices, StretchEnds::kCall);
  for (const DeviceIdle& device : idle.devices) {
    if (!devices.empty() && device.device == devices[gpu].device) add_idle(device.stretches);
  }
  std::ranges::stable_sort(segments_, {}, [](const Segment& s) { return s.when.begin; });
}

void RankTimeline::add_segments(const std::vector<Interval>& intervals, RankPart part) {
  for (const Interval& when : intervals) segments_.push_back({when, part_index(part), {}});
}

// Stretches are disjoint, so each collective is looked at once, and once more for each stretch that
// it reaches into.
void RankTimeline::add_idle(std::vector<IdleStretch> stretches) {
  std::ranges::stable_sort(stretches, {}, [](const IdleStretch& s) { return s.when.begin; });
  auto first = communicating_.begin();
  for (const IdleStretch& stretch : stretches) {
    Nanos from = stretch.when.begin;
    const auto add_until = [&](Nanos to) {
      if (from < to) segments_.push_back({{from, to}, part_index(stretch.cause), stretch.blamed});
    };
    while (first != communicating_.end() && first->end <= from) ++first;
    for (auto next = first; next != communicating_.end() && next->begin < stretch.when.end;
         ++next) {
      add_until(next->begin);
      from = std::max(from, next->end);
    }
    add_until(stretch.when.end);
  }
}

void RankTimeline::add_clipped(const Segment& segment, Nanos until, RankParts& parts) const {
  const Nanos begin = std::max(segment.when.begin, begin_);
  const Nanos end = std::min(segment.when.end, until);
  if (begin < end) parts[segment.part] += end - begin;
}

void RankTimeline::measure(std::vector<Point> points) const {
  std::ranges::stable_sort(points, {}, &Point::time);
  RankParts sum = {};
  size_t next = 0;
  for (const Point& point : points) {
    while (next < segments_.size() && segments_[next].when.end <= point.time)
      add_clipped(segments_[next++], point.time, sum);
    *point.parts = sum;
    if (next < segments_.size() && segments_[next].when.begin < point.time)
      add_clipped(segments_[next], point.time, *point.parts);
    const Nanos elapsed = std::max(Nanos{}, point.time - begin_);
    (*point.parts)[part_index(IdleCause::kOther)] += elapsed - total_of(*point.parts);
  }
}

RankStrip RankTimeline::strip(Nanos end) const {
  RankStrip strip;
  const Nanos wall = end - begin_;
  if (wall.count <= 0) return strip;
  strip.columns.resize(RankStrip::kColumns);
  const double per_column =
      static_cast<double>(wall.count) / static_cast<double>(RankStrip::kColumns);
  const auto column = [&](Nanos time) {
    return static_cast<double>((std::clamp(time, begin_, end) - begin_).count) / per_column;
  };
  // Intervals are disjoint, so that all together cost what they and the columns do.
  const auto fill = [&](const Interval& when, size_t row) {
    const double from = column(when.begin), to = column(when.end);
    for (auto c = static_cast<size_t>(from); c < RankStrip::kColumns && static_cast<double>(c) < to;
         ++c) {
      const double covered =
          std::min(to, static_cast<double>(c + 1)) - std::max(from, static_cast<double>(c));
      strip.columns[c][row] += static_cast<float>(covered);
    }
  };
  for (const Segment& segment : segments_) {
    if (segment.part < part_index(RankPart::kFirstIdle)) fill(segment.when, segment.part);
  }
  return strip;
}

}  // namespace fathom
