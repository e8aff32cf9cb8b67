#pragma once

#include <string>

#include "events/event.h"

namespace fathom::kineto {

// The fields beside traceEvents.
struct Envelope {
  TraceMetadata metadata;
  bool damaged = false;  // malformed or cut off: only the fields that could be told apart were read
};

Envelope parse_envelope(const std::string& json);

}  // namespace fathom::kineto
