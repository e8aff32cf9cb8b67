#pragma once

#include <vector>

#include "scan/link/python_names.h"

namespace fathom {

// Says where declared Python dependencies are imported, and adds what own code imports although
// nothing declares it.
void link_dependency_uses(const Readings& readings, const PythonNames& names,
                          std::vector<DependencyFacts>& dependencies);

}  // namespace fathom
