#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scan/index/function_places.h"
#include "scan/link/cpp_calls.h"
#include "scan/link/extension_modules.h"
#include "scan/link/message_flows.h"
#include "scan/link/python_calls.h"
#include "scan/link/python_ops.h"

namespace fathom {

// A step from one function to the next, of either language. A name alone leads there where the kind
// is kNone: callers tell of it, a request does not go that way.
struct GraphStep {
  FunctionNode to;
  Reach how;
  uint32_t line = 0;
  Certainty certainty = Certainty::kCertain;
  bool constructs = false;
  // Into C++: the sources that are compiled together with the function, where that is known.
  std::vector<uint32_t> unit = {};
  BoundFunction bound = {};  // from Python into C++: what exports it
};

// The same as a way up, which keeps only what that needs.
struct CallerEdge {
  FunctionNode to, from;
  uint32_t line = 0;
  ReachKind kind = ReachKind::kCalls;
  Certainty certainty = Certainty::kCertain;
  BoundFunction bound = {};
  const python::CudaText* text = nullptr;  // that names it
};

// Which function leads to which, through calls, messages, bindings and modules that are built when
// the program runs: paths, callers, and what a request reaches are questions to it.
class CodeGraph {
 public:
  CodeGraph(const Readings& readings, const PythonNames& names, const PythonTypes& types,
            const SymbolIndex& index, const ClassTree& classes, const FunctionPlaces& places,
            const std::vector<DependencyFacts>& dependencies);

  // Where a request goes on. `before`: the Python functions on the way there, the nearest first.
  // `unit`: the sources that a C++ function was compiled with; empty: not known.
  std::vector<GraphStep> steps_from(const FunctionNode& at, const std::vector<PythonRef>& before,
                                    const std::vector<uint32_t>& unit) const;
  // Who leads to a function, in order of file; worked out for all at the first question.
  std::span<const CallerEdge> edges_to(const FunctionNode& node) const;
  size_t edges() const { return callers().size(); }
  // The first binding of a C++ function; none: nullptr.
  const BoundFunction* exported_as(const FunctionNode& node) const;
  // The innermost function around a line: of Python in its files, else of C++.
  std::optional<FunctionNode> function_at(const CodePlace& at) const { return places_.at(at); }
  // The line that sends a message which nobody is seen to take; 0: none does.
  uint32_t lost_message_at(const FunctionNode& node) const;
  // The calls that lead out of the repository, or nobody knows where.
  const std::vector<OpenCall>& open_calls(const FunctionNode& node) const;
  // Whether others' kernels are in a package.
  bool is_kernel_library(std::string_view package) const { return libraries_.contains(package); }
  // A call of a built module that names nothing which can be found, as a sentence; empty: none.
  std::string unbound_call(const FunctionNode& node) const;

  std::string_view plain_name(const FunctionNode& node) const;
  std::string name_of(const FunctionNode& node) const;
  CodePlace place_of(const FunctionNode& node) const;
  std::string place_text(const CodePlace& at) const;

 private:
  std::vector<GraphStep> edges_from(const FunctionNode& at,
                                    const std::vector<uint32_t>& unit) const;
  const std::vector<CallerEdge>& callers() const;
  void add_bound(const FunctionNode& at, std::vector<GraphStep>& out) const;
  void add_ops(const OpenCall& call, std::vector<GraphStep>& out) const;
  void add_built(const FunctionNode& at, std::vector<GraphStep>& out) const;
  void add_inner(const FunctionNode& at, std::vector<GraphStep>& out) const;
  void add_held(uint32_t file) const;
  void add_named(uint32_t file) const;
  bool is_imported(std::string_view callee, uint32_t file, const BoundFunction& bound) const;
  std::vector<BoundFunction> bindings_named(const OpenCall& call, uint32_t file) const;
  std::vector<BoundFunction> bindings_meant(const OpenCall& call, uint32_t file) const;
  std::vector<BoundFunction> of_module(const std::vector<BoundFunction>& bounds,
                                       const OpenCall& call) const;
  std::vector<FunctionNode> functions_of(const BuiltCall& call, const BoundFunction& bound) const;

  const Readings& readings_;
  const PythonNames& names_;
  const PythonTypes& types_;
  const SymbolIndex& index_;
  const FunctionPlaces& places_;
  const PythonCalls calls_;
  const CppCalls cpp_;
  const MessageFlows messages_;
  const ExtensionModules extensions_;
  const PythonOps ops_;
  std::map<std::string, std::vector<BoundFunction>, std::less<>> bindings_;  // by the name outside
  std::map<FunctionNode, BoundFunction> exports_;
  mutable std::optional<std::vector<CallerEdge>> callers_;  // in order of what they lead to
  std::set<std::string_view> libraries_;
  std::set<std::string, std::less<>> installed_ = {"torch", "numpy", "triton"};
};

}  // namespace fathom
