#pragma once

#include <unordered_map>

#include "events/event_store.h"

namespace fathom {

// Autograd's evaluate_function event → the forward op whose gradient it computes: the last one
// begun on another thread, before it, with the same sequence number.
std::unordered_map<EventId, EventId> link_backward_to_forward(const EventStore& store);

}  // namespace fathom
