#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scan/link/call_graph.h"
#include "scan/link/cpp_calls.h"
#include "scan/link/extension_modules.h"
#include "scan/link/message_flows.h"
#include "scan/link/python_ops.h"
#include "scan/link/request_entries.h"

namespace fathom {

// A step of a request from one function to the next, of either language.
struct RequestStep {
  RequestNode to;
  Reach how;
  uint32_t line = 0;
  Certainty certainty = Certainty::kCertain;
  bool constructs = false;
  // Into C++: the sources that are compiled together with the function, where that is known.
  std::vector<uint32_t> unit = {};
};

// Where a request goes on from a function: through calls, messages, bindings and modules that are
// built when the program runs.
class RequestGraph {
 public:
  RequestGraph(const Readings& readings, const PythonNames& names, const PythonTypes& types,
               const SymbolIndex& index, const CodeFacts& facts);

  // `before`: the Python functions on the way there, the nearest first. `unit`: the sources that a
  // C++ function was compiled with; empty: not known.
  std::vector<RequestStep> steps_from(const RequestNode& at, const std::vector<PythonRef>& before,
                                      const std::vector<uint32_t>& unit) const;
  // The line that sends a message which nobody is seen to take; 0: none does.
  uint32_t lost_message_at(const RequestNode& node) const;
  // The calls that lead out of the repository, or nobody knows where.
  const std::vector<OpenCall>& open_calls(const RequestNode& node) const;
  // Whether others' kernels are in a package.
  bool is_kernel_library(std::string_view package) const { return libraries_.contains(package); }
  // A call of a built module that names nothing which can be found, as a sentence; empty: none.
  std::string unbound_call(const RequestNode& node) const;

  std::string_view plain_name(const RequestNode& node) const;
  std::string name_of(const RequestNode& node) const;
  CodePlace place_of(const RequestNode& node) const;
  std::string place_text(const CodePlace& at) const;

 private:
  void add_bound(const RequestNode& at, std::vector<RequestStep>& out) const;
  void add_ops(const OpenCall& call, std::vector<RequestStep>& out) const;
  void add_built(const RequestNode& at, std::vector<RequestStep>& out) const;
  void add_inner(const RequestNode& at, std::vector<RequestStep>& out) const;
  std::vector<BoundFunction> bindings_meant(const OpenCall& call) const;
  std::vector<BoundFunction> of_module(const std::vector<BoundFunction>& bounds,
                                       const OpenCall& call) const;
  std::vector<CppRef> functions_of(const BuiltCall& call, const BoundFunction& bound) const;

  const Readings& readings_;
  const PythonNames& names_;
  const PythonTypes& types_;
  const SymbolIndex& index_;
  const CallGraph calls_;
  const CppCalls cpp_;
  const MessageFlows messages_;
  const ExtensionModules extensions_;
  const PythonOps ops_;
  std::map<std::string, std::vector<BoundFunction>, std::less<>> bindings_;  // by the name outside
  std::set<std::string_view> standard_, libraries_;
  std::set<std::string, std::less<>> installed_ = {"torch", "numpy", "triton"};
};

}  // namespace fathom
