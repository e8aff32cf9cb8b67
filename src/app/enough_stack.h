#pragma once

#include <functional>

namespace fathom {

// Runs the work where it and the threads it starts have the stack that the readers' limits on depth
// are made for, whatever `ulimit -s` says. Returns its exit code, or `failed` after saying that
// there is no such stack.
int run_with_enough_stack(const std::function<int()>& work, int failed);

}  // namespace fathom
