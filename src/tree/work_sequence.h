#pragma once

#include "events/event_store.h"
#include "tree/repetition.h"

namespace fathom {

// GPU work in the order of time as a sequence of symbols: a kernel is known by its name and grid.
WorkSequence work_sequence(const EventStore& store, std::span<const EventId> work);

}  // namespace fathom
