#pragma once

#include <string>
#include <vector>

#include "scan/link/code_graph.h"

namespace fathom {

// A function or method that an example of the documentation calls.
struct DocumentedCall {
  std::string name;  // "package.function", "package.Class.method"
  CodePlace at;      // in the document
  bool from_readme = false;
};

// What speaks for a function of a library as the one that people call, the strongest first: an
// example of the README; one of another document or of its own docstring; the package's export.
enum class EntryEvidence : uint8_t { kReadme, kDocumentation, kExported };

// Where a request can come in, and how likely people use it: the smaller rank comes first.
struct RequestEntry {
  EntryKind kind = EntryKind::kFunction;
  std::string name;
  FunctionNode start;
  int rank = 0;
  std::string why;                                    // it was chosen
  EntryEvidence evidence = EntryEvidence::kExported;  // of a function of the API, and all below
  uint32_t called_in = 0;                             // files of the repository
  std::optional<FunctionNode> plan = {};              // the method that is called before this one
};

constexpr int kFunctionRank = 2;
constexpr int kInstalledRank = 3;  // a package's console scripts

// Routes, programs, and the functions and methods of the API: those first that the documentation
// calls, then those that the repository's own code, tests and benchmarks call most.
std::vector<RequestEntry> find_request_entries(const Readings& readings, const PythonTypes& types,
                                               const PythonNames& names, const CodeFacts& facts,
                                               const std::vector<DocumentedCall>& documented);

}  // namespace fathom
