#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "scan/link/code_graph.h"

namespace fathom {

// The ways up from functions of the GPU's host side: C++ callers, the binding or the generator that
// names the C++ function, Python callers up to the API. Each hop says how sure it is; where the way
// can't be followed it ends.
class CallerPaths {
 public:
  CallerPaths(const Readings& readings, const CodeGraph& graph);

  // The hops from outermost to the function around a line; empty: there is none.
  std::vector<PathHop> path_to(const CodePlace& at) const;
  // Who calls the function that a path begins with, tests left out: the lines that call.
  std::vector<PathHop> callers_of(const PathHop& outermost) const;
  // The calls on the way further up from such a line, the nearest first, while each function has
  // one caller alone.
  std::vector<PathHop> way_up_from(const PathHop& caller) const;

 private:
  struct Link {
    FunctionNode function;
    Certainty certainty;  // of the call that leads to it
  };
  // The functions of C++ down to `start`, the first of which Python may get at.
  std::vector<Link> chain_to_export(const FunctionNode& start) const;
  // The one that most likely means the function; none: nullptr.
  const CallerEdge* python_user(const FunctionNode& node) const;
  const CallerEdge* python_caller(const FunctionNode& node) const;
  std::vector<PathHop> python_chain(FunctionNode at, Certainty certainty) const;
  bool is_test(const FunctionNode& node) const;
  PathHop hop_of(const FunctionNode& node, Certainty certainty) const;

  const Readings& readings_;
  const CodeGraph& graph_;
  mutable size_t tries_left_;                          // edges that all searches together look at
  std::unordered_set<std::string_view> public_names_;  // imported by a package's __init__.py
};

}  // namespace fathom
