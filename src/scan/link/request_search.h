#pragma once

#include <map>
#include <utility>
#include <vector>

#include "scan/link/code_graph.h"
#include "scan/link/kernel_gates.h"

namespace fathom {

// How a function was reached from the entry point: by the cheapest way.
struct RequestArrival {
  FunctionNode from;
  Reach how;
  uint32_t line = 0;  // 0: it is the entry point
  Certainty certainty = Certainty::kCertain;
  int cost = 0;
  int steps = 0;
  std::vector<uint32_t> unit = {};
};

struct RequestSearch {
  std::map<FunctionNode, RequestArrival> arrivals;
  std::vector<FunctionNode> order;  // as they were reached
  // Each with the function that launches it, or that its own path begins with.
  std::vector<std::pair<uint32_t, std::pair<FunctionNode, KernelGate>>> kernels;
  bool complete = true;  // false: more functions can be reached than were followed
};

// Everything that a request can reach from a function, and the kernels among it.
RequestSearch search_requests(const CodeGraph& graph, const KernelGates& gates,
                              const FunctionNode& start);

// Work that is not done for a request: before the first one, after the last, or to measure.
bool is_side_road(std::string_view name);

// The hops from the entry point to a function that was reached.
std::vector<RequestHop> hops_to(const CodeGraph& graph, const RequestSearch& search,
                                const FunctionNode& end);

}  // namespace fathom
