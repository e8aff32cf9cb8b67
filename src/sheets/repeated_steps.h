#pragma once

#include "sheets/time_base.h"

namespace fathom {

// Steps of a program that marks none, as a server's loop: GPU work that repeats. Layers of a model
// repeat as well. So a repetition is one of steps only where something tells: each is the replay of
// a graph; the same nn.Modules come again; or, where no modules are recorded, each has parts that
// repeat inside it and a part that does not, and no other work is around them.
struct RepeatedSteps {
  size_t repeats = 0;  // found; 0: none
  std::vector<Nanos>
      begins;  // when the first launch of each began; empty: steps or layers, unknown
  Nanos end;   // of the last launch
};
// Work of one device in the order of time.
RepeatedSteps find_repeated_steps(const SheetInput& input, std::span<const EventId> work);

}  // namespace fathom
