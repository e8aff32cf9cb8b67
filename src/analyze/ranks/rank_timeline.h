#pragma once

#include "analyze/ranks/rank_facts.h"

namespace fathom {

// The time of one GPU in disjoint parts, which add up to it. A collective of the host (gloo) is
// communication like one of the GPU: what it leaves of the idle time is idle.
class RankTimeline {
 public:
  struct Segment {
    Interval when;
    size_t part = 0;
    EventId blamed;  // for idle time
  };
  struct Point {
    Nanos time;
    RankParts* parts;  // receives the parts from the begin of the base up to the time
  };

  // `gpu`: a place in `devices`; of a trace without any only the host's collectives are known.
  RankTimeline(const SheetInput& input, const TimeBase& base,
               const std::vector<DeviceWork>& devices, size_t gpu);

  const std::vector<Segment>& segments() const { return segments_; }        // in the order of time
  const std::vector<EventId>& computation() const { return computation_; }  // by start
  const std::vector<Interval>& computing() const { return computing_; }     // merged
  const std::vector<Interval>& communicating() const { return communicating_; }  // host's too

  // One walk for all points. What no segment has is idle time of no known cause.
  void measure(std::vector<Point> points) const;
  RankStrip strip(Nanos end) const;

 private:
  void add_segments(const std::vector<Interval>& intervals, RankPart part);
  void add_idle(std::vector<IdleStretch> stretches);
  void add_clipped(const Segment& segment, Nanos until, RankParts& parts) const;

  Nanos begin_;  // of the base
  std::vector<Interval> computing_, communicating_;
  std::vector<EventId> computation_;
  std::vector<Segment> segments_;
};

}  // namespace fathom
