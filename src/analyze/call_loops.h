#pragma once

#include <optional>
#include <span>

#include "analyze/assessment.h"
#include "analyze/finding.h"

namespace fathom {

// A function that one call of another runs several times in a step: its work could be one batch.
// Calls of different nn.Modules are layers, and no loop.
struct CallLoop {
  EventId caller, function;  // frames, an example of each
  Nanos time;                // of the events asked for
  size_t calls = 0;          // of one round
};

// The loop that most of some events are in, at any depth of their stacks; none: not enough of them.
std::optional<CallLoop> find_call_loop(const Assessment& a, std::span<const CoveredEvent> events);

}  // namespace fathom
