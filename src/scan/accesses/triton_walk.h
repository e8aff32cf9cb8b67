#pragma once

#include "scan/accesses/access_walk.h"
#include "scan/python/ast.h"

namespace fathom {

// The same as walk_accesses of a Triton kernel: where tl.load and tl.store touch arrays, by the
// program's coordinates, tl.arange, loops and masks. Files are left 0. Functions that it calls are
// not followed.
KernelAccesses walk_triton(const python::Tree& tree, python::NodeId function);

}  // namespace fathom
