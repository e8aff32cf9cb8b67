#pragma once

#include <vector>

#include "scan/index/python_names.h"
#include "scan/link/readings.h"

namespace fathom {

// Every option and environment variable that the repository's code reads, its default followed
// through constants and dataclass inheritance as far as the code shows it.
std::vector<OptionFacts> link_options(const Readings& readings, const PythonNames& names);

}  // namespace fathom
