#pragma once

#include "app/code_half.h"

namespace fathom {

// The whole run of the program, from its arguments to its exit code.
int run_program(int argc, char** argv, CodeHalf half);

}  // namespace fathom
