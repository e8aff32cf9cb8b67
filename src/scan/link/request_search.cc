#include "scan/link/request_search.h"

#include <algorithm>
#include <queue>
#include <set>
#include <tuple>

#include "scan/link/request_words.h"

namespace fathom {
namespace {

constexpr size_t kMaxFunctions = 4000;
constexpr size_t kMaxBefore = 3;

// A sure step before an unsure one, and work before construction.
int cost_of(const GraphStep& step, bool side_road) {
  const int sure = step.certainty == Certainty::kCertain  ? 2
                   : step.certainty == Certainty::kLikely ? 3
                                                          : 8;
  return sure + (step.constructs ? 6 : 0) + (side_road ? 40 : 0);
}

// The Python functions on the way to a function, the nearest first.
std::vector<PythonRef> functions_before(const FunctionNode& at, const RequestSearch& search) {
  std::vector<PythonRef> out;
  for (auto a = search.arrivals.find(at);
       a != search.arrivals.end() && a->second.line != 0 && out.size() < kMaxBefore;
       a = search.arrivals.find(a->second.from)) {
    const FunctionNode& from = a->second.from;
    if (!from.cpp && from.index != kPythonModuleLevel) out.push_back({from.file, from.index});
  }
  return out;
}

// Whether the way there leads over work that is not done for a request.
bool is_aside(const CodeGraph& graph, const RequestSearch& search, FunctionNode at) {
  for (const RequestArrival* a = &search.arrivals.find(at)->second; a->line != 0;
       at = a->from, a = &search.arrivals.find(at)->second) {
    if (is_side_road(graph.plain_name(at))) return true;
  }
  return false;
}

// Those that are launched where the way leads; then those whose own paths go on from a function,
// for these have no lines of calls.
void find_kernels(const CodeGraph& graph, const KernelGates& gates, RequestSearch& search) {
  std::set<uint32_t> seen;
  for (const bool launched : {true, false}) {
    for (const FunctionNode& at : search.order) {
      const auto found = gates.find(at);
      if (found == gates.end()) continue;
      for (const KernelGate& gate : found->second) {
        if ((gate.launch.line != 0) == launched && seen.insert(gate.kernel).second)
          search.kernels.push_back({gate.kernel, {at, gate}});
      }
    }
  }
  std::erase_if(search.kernels,
                [&](const auto& kernel) { return is_aside(graph, search, kernel.second.first); });
}

}  // namespace

bool is_side_road(std::string_view name) { return holds_request_word(RequestRole::kAside, name); }

RequestSearch search_requests(const CodeGraph& graph, const KernelGates& gates,
                              const FunctionNode& start) {
  RequestSearch out;
  using Waiting = std::tuple<int, size_t, FunctionNode>;  // cost, order of arrival
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting;
  std::set<FunctionNode> done;
  size_t arrival = 0;
  out.arrivals[start] = {};
  waiting.emplace(0, arrival++, start);
  while (!waiting.empty() && done.size() < kMaxFunctions) {
    const auto [cost, _, at] = waiting.top();
    waiting.pop();
    if (!done.insert(at).second) continue;
    out.order.push_back(at);
    for (GraphStep& step : graph.steps_from(at, functions_before(at, out), out.arrivals[at].unit)) {
      const int total = cost + cost_of(step, is_side_road(graph.plain_name(step.to)));
      const auto [known, fresh] = out.arrivals.try_emplace(step.to);
      if (!fresh && (done.contains(step.to) || known->second.cost <= total)) continue;
      known->second = {at,    std::move(step.how),        step.line,           step.certainty,
                       total, out.arrivals[at].steps + 1, std::move(step.unit)};
      waiting.emplace(total, arrival++, step.to);
    }
  }
  out.complete = done.size() < kMaxFunctions;
  find_kernels(graph, gates, out);
  return out;
}

std::vector<RequestHop> hops_to(const CodeGraph& graph, const RequestSearch& search,
                                const FunctionNode& end) {
  std::vector<RequestHop> out;
  for (FunctionNode at = end;;) {
    const RequestArrival& arrival = search.arrivals.find(at)->second;
    RequestHop hop = {graph.name_of(at), arrival.how, graph.place_of(at), {}, arrival.certainty};
    if (arrival.line != 0) hop.from = {arrival.from.file, arrival.line};
    if (arrival.line == 0) hop.how = {ReachKind::kEntry};
    out.push_back(std::move(hop));
    if (arrival.line == 0) break;
    at = arrival.from;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace fathom
