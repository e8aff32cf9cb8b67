#pragma once

#include <vector>

#include "scan/link/cpp_calls.h"
#include "scan/link/request_entries.h"

namespace fathom {

// The ways from the repository's entry points to its kernels, the most telling entry points first.
// `facts` has its kernels with launchers and paths, its entry points and its API; `documented` is
// what the examples of the documentation call.
std::vector<RequestPath> find_request_paths(const Readings& readings, const PythonNames& names,
                                            const PythonTypes& types, const SymbolIndex& index,
                                            const CodeFacts& facts,
                                            const std::vector<DocumentedCall>& documented);

}  // namespace fathom
