#pragma once

#include <compare>
#include <string>
#include <vector>

#include "scan/link/python_names.h"

namespace fathom {

// A node is a function of one of the two languages; a Python module that is run has kModuleLevel.
struct RequestNode {
  bool cpp = false;
  uint32_t file = 0, index = 0;
  friend auto operator<=>(const RequestNode&, const RequestNode&) = default;
};

// Where a request can come in, and how likely people use it: the smaller rank comes first.
struct RequestEntry {
  std::string kind, name;
  RequestNode start;
  int rank = 0;
  uint32_t used_in = 0;  // of a function of the API
};

constexpr int kFunctionRank = 2;

// Routes, programs, and the functions and methods of the API, those first that people use most.
std::vector<RequestEntry> find_request_entries(const Readings& readings, const PythonNames& names,
                                               const CodeFacts& facts);

}  // namespace fathom
