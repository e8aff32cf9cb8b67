#pragma once

#include <string_view>

#include "sheets/gpu_selection.h"

namespace fathom {

// How a program asked for a wait: ".item()", "boolean index", "torch.cuda.synchronize()"; else the
// name of the call.
std::string_view sync_kind(const SheetInput& input, EventId wait);

}  // namespace fathom
