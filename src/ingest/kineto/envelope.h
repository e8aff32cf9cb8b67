#pragma once

#include <optional>
#include <string>

#include "events/event.h"

namespace fathom::kineto {

// The fields beside traceEvents. Nothing: the text is no JSON.
std::optional<TraceMetadata> parse_envelope(const std::string& json);

}  // namespace fathom::kineto
