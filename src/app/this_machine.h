#pragma once

#include "doctor/machine.h"

namespace fathom {

// The machine that we run on, with our own variables.
Machine this_machine();

}  // namespace fathom
