#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "session/trace.h"
#include "sheets/scope.h"

namespace fathom {

// "2:5", "2:", ":5" or "3": positions from 0, the end not included.
std::optional<Scope::StepRange> parse_step_positions(std::string_view text);

// Whether the text can only be positions: digits and colons.
bool is_step_positions(std::string_view text);

// The steps of a trace that a text asks for: positions, or names as "ProfilerStep#2", "#2" and
// "#2:#4". Fails where it names none, with those that there are.
Result<Scope::StepRange> choose_steps(const Trace& trace, std::string_view pattern,
                                      std::string_view text);

}  // namespace fathom
