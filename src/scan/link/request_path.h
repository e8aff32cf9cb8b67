#pragma once

#include <vector>

#include "scan/link/cpp_calls.h"
#include "scan/link/python_types.h"

namespace fathom {

// The ways from the repository's entry points to its kernels, the most telling entry points first.
// `facts` has its kernels with launchers and paths, its entry points and its API.
std::vector<RequestPath> find_request_paths(const Readings& readings, const PythonNames& names,
                                            const PythonTypes& types, const IncludeGraph& includes,
                                            const CodeFacts& facts);

}  // namespace fathom
