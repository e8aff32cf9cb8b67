// Traces whose events relate to each other in ways that a careless join pays for.
#include "linear_cases.h"
#include "test_files.h"

namespace fathom::test {

std::vector<LinearCase> analysis_cases() { return {}; }

}  // namespace fathom::test
