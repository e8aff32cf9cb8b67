#pragma once

#include <string_view>

#include "scan/accesses/access_walk.h"

namespace fathom {

// The same as walk_accesses of a Triton kernel: where tl.load and tl.store touch arrays, by the
// program's coordinates, tl.arange, loops and masks. `text` is its definition with decorators,
// whose first line is `line`; files are left 0. Functions that it calls are not followed.
KernelAccesses walk_triton(std::string_view text, uint32_t line);

}  // namespace fathom
