#pragma once

#include <memory>

#include "analyze/start_up.h"
#include "sheets/op_groups.h"

namespace fathom {

// What findings and shares are about where a recording begins with the start of its program. The
// sheets stay those of the whole recording.
struct SteadyInput {
  Scope scope;
  SheetInput input;
  MeasuredOps ops;

  // Null where the whole is the steady state, or it is not clear what is.
  static std::unique_ptr<const SteadyInput> of(const SheetInput& whole);
  // Of two that are compared: find_steady_states.
  using Pair = std::pair<std::unique_ptr<const SteadyInput>, std::unique_ptr<const SteadyInput>>;
  static Pair of_both(const SheetInput& a, const SheetInput& b);

  SteadyInput(const SheetInput& whole, const Scope& of_steady)
      : scope(of_steady),
        input(whole.store, whole.tree, scope, whole.kernels),
        ops(input, find_launchers(input)) {}
};

}  // namespace fathom
