#pragma once

#include <string>

#include "events/counter_set.h"
#include "events/event_store.h"

namespace fathom {

// Why counters and a trace cannot be of the same model of GPU; empty: they are, or it is not known.
std::string other_gpu(const TraceMetadata& trace, const CounterOrigin& counters);

}  // namespace fathom
