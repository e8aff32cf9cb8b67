#pragma once

#include <string>

#include "doctor/environment.h"

namespace fathom {

// What was found, what works with it, and how to mend what does not: for the screen.
std::string doctor_text(const Environment& environment, bool color);
// The same for programs.
std::string doctor_json(const Environment& environment);
// The same as a page of a report: environment.md.
std::string environment_markdown(const Environment& environment);

}  // namespace fathom
