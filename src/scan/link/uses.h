#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "scan/index/python_names.h"
#include "scan/link/readings.h"

namespace fathom {

// Says where declared Python dependencies are imported, and adds what own code imports although
// nothing declares it.
void link_dependency_uses(const Readings& readings, const PythonNames& names,
                          std::vector<DependencyFacts>& dependencies);

// What Python itself brings.
const std::set<std::string_view>& standard_modules();

}  // namespace fathom
