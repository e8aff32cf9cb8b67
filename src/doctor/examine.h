#pragma once

#include "doctor/environment.h"
#include "doctor/machine.h"

namespace fathom {

// Looks at everything that measuring GPU work depends on. What is missing or broken becomes a fact;
// nothing is changed.
Environment examine(const Machine& machine);

}  // namespace fathom
