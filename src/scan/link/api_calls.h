#pragma once

#include <map>
#include <vector>

#include "scan/index/python_names.h"
#include "scan/link/readings.h"

namespace fathom {

// In how many files of the repository each function and class of the Python API is called, tests,
// benchmarks and examples within, by where it is defined. The file that defines it does not count.
std::map<CodePlace, uint32_t> count_api_calls(const Readings& readings, const PythonNames& names,
                                              const std::vector<ApiFacts>& api);

}  // namespace fathom
