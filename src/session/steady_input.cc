#include "session/steady_input.h"

namespace fathom {

std::unique_ptr<const SteadyInput> SteadyInput::of(const SheetInput& whole) {
  const auto steady = find_steady_state(whole);
  if (!steady) return nullptr;
  Scope scope = whole.scope;
  scope.steady = steady;
  return std::make_unique<const SteadyInput>(whole, scope);
}

}  // namespace fathom
