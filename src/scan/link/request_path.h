#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scan/link/request_entries.h"

namespace fathom {

struct RequestWays {
  std::vector<RequestPath> paths;
  // How many kernels each program that was followed gets to, by its kind and name.
  std::map<std::pair<EntryKind, std::string>, uint32_t> reached;
};

// The ways from the repository's entry points to its kernels, the most telling entry points first.
// `facts` has its kernels with launchers and paths, its entry points and its API; `documented` is
// what the examples of the documentation call.
RequestWays find_request_paths(const Readings& readings, const PythonNames& names,
                               const PythonTypes& types, const CodeGraph& graph,
                               const CodeFacts& facts,
                               const std::vector<DocumentedCall>& documented);

}  // namespace fathom
