#pragma once

#include <span>
#include <vector>

#include "tree/phases.h"

namespace fathom {

// The passes of training in a recording without ops: kernels of the backward pass and of the
// optimiser have names that tell (data/phases/ops.tsv), and what is around them goes with them.
// A kind for each event, kOther where nothing tells; empty where there is no training.
std::vector<PhaseKind> passes_of_kernels(const EventStore& store, std::span<const EventId> work);

}  // namespace fathom
