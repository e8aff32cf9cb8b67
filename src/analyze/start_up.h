#pragma once

#include <optional>

#include "analyze/idle_gaps.h"

namespace fathom {

// A recording of a whole program begins with its start: libraries are loaded, contexts are made,
// kernels run for the first time. Shares of a time base with that in it tell little of the work
// that repeats afterwards.
//
// The steady state begins where first use is over: after it, idle time of first use is a small part
// of the wall time, and much of the GPU's work is still to come. None where the recording marks its
// steps, where the start-up is short, or where it is not clear when it ends.
std::optional<Scope::SteadyState> find_steady_state(const SheetInput& input);

// Of two recordings that are compared: where one has such a start-up, it is left out of the other
// as well, however short; where it is not clear when the other's ends, of neither.
using SteadyPair = std::pair<std::optional<Scope::SteadyState>, std::optional<Scope::SteadyState>>;
SteadyPair find_steady_states(const SheetInput& a, const SheetInput& b);

}  // namespace fathom
