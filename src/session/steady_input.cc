#include "session/steady_input.h"

namespace fathom {
namespace {

std::unique_ptr<const SteadyInput> made_of(const SheetInput& whole,
                                           const std::optional<Scope::SteadyState>& steady) {
  if (!steady) return nullptr;
  Scope scope = whole.scope;
  scope.steady = steady;
  return std::make_unique<const SteadyInput>(whole, scope);
}

}  // namespace

std::unique_ptr<const SteadyInput> SteadyInput::of(const SheetInput& whole) {
  return made_of(whole, find_steady_state(whole));
}

SteadyInput::Pair SteadyInput::of_both(const SheetInput& a, const SheetInput& b) {
  const auto [steady_a, steady_b] = find_steady_states(a, b);
  return {made_of(a, steady_a), made_of(b, steady_b)};
}

}  // namespace fathom
