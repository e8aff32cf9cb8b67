#pragma once

#include "doctor/environment.h"
#include "doctor/machine.h"

namespace fathom {

// Looks at everything that measuring GPU work depends on. What is missing or broken becomes a fact;
// nothing is changed.
Environment examine(const Machine& machine);

// Of that only who may read counters, and what their fix depends on: files, no library is loaded.
Environment examine_permissions(const Machine& machine);

}  // namespace fathom
