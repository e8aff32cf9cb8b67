#pragma once

#include <vector>

#include "story/run/chapters.h"

namespace fathom {

// What the bottlenecks of a run are found in.
struct BottleneckInput {
  const RunFacts& facts;
  const WorkLabels& labels;
  const HardwareIndex& hardware;
  const PhaseProfiles& profiles;
  const std::vector<EventId>& told;   // GPU work of the story
  const std::vector<EventId>& steps;  // that of it which is no preparation
  Nanos whole;                        // what shares are of
  bool is_part = false;               // of a run: what holds for all of it is left out
};

struct Bottleneck {
  Nanos time;
  StoryLine line;
};
// Idle time by cause, preparation, copies, held-down clocks, and kernels by what limits them: the
// longest first.
std::vector<Bottleneck> find_bottlenecks(const BottleneckInput& in);

StoryLine bottleneck_line(Nanos whole, StoryMark mark, StoryTopic topic, Nanos time);

}  // namespace fathom
