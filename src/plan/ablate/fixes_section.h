#pragma once

#include <string>

#include "plan/ablate/study.h"

namespace fathom::ablate {

// "Fixes applied" of the optimization report: of each variant what was identified, its hypothesis,
// the change, how it was validated and what was decided; then all of them as a table.
std::string fixes_section(const Study& study);

}  // namespace fathom::ablate
