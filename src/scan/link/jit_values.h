#pragma once

#include "scan/link/readings.h"

namespace fathom {

// Where a kernel's template is filled in by a Python JIT generator, what that computes goes before
// the template's own defaults: the values of the launchers say so afterwards.
void link_jit_values(const Readings& readings, KernelFacts& kernel);

}  // namespace fathom
