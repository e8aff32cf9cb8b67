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
int cost_of(const RequestStep& step, bool side_road) {
  const int sure = step.certainty == Certainty::kCertain  ? 2
                   : step.certainty == Certainty::kLikely ? 3
                                                          : 8;
  return sure + (step.constructs ? 6 : 0) + (side_road ? 40 : 0);
}

// The Python functions on the way to a function, the nearest first.
std::vector<PythonRef> functions_before(const RequestNode& at, const RequestSearch& search) {
  std::vector<PythonRef> out;
  for (auto a = search.arrivals.find(at);
       a != search.arrivals.end() && a->second.line != 0 && out.size() < kMaxBefore;
       a = search.arrivals.find(a->second.from)) {
    const RequestNode& from = a->second.from;
    if (!from.cpp && from.index != kPythonModuleLevel) out.push_back({from.file, from.index});
  }
  return out;
}

// Whether the way there leads over work that is not done for a request.
bool is_aside(const RequestGraph& graph, const RequestSearch& search, RequestNode at) {
  for (const RequestArrival* a = &search.arrivals.find(at)->second; a->line != 0;
       at = a->from, a = &search.arrivals.find(at)->second) {
    if (is_side_road(graph.plain_name(at))) return true;
  }
  return false;
}

const std::vector<KernelGate>* gates_of(const KernelGates& gates, const RequestNode& at) {
  if (at.cpp) {
    const auto found = gates.cpp.find({at.file, at.index});
    return found == gates.cpp.end() ? nullptr : &found->second;
  }
  const auto found = gates.python.find({at.file, at.index});
  return found == gates.python.end() ? nullptr : &found->second;
}

// Those that are launched where the way leads; then those whose own paths go on from a function,
// for these have no lines of calls.
void find_kernels(const RequestGraph& graph, const KernelGates& gates, RequestSearch& search) {
  std::set<uint32_t> seen;
  for (const bool launched : {true, false}) {
    for (const RequestNode& at : search.order) {
      const std::vector<KernelGate>* found = gates_of(gates, at);
      if (found == nullptr) continue;
      for (const KernelGate& gate : *found) {
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

RequestSearch search_requests(const RequestGraph& graph, const KernelGates& gates,
                              const RequestNode& start) {
  RequestSearch out;
  using Waiting = std::tuple<int, size_t, RequestNode>;  // cost, order of arrival
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting;
  std::set<RequestNode> done;
  size_t arrival = 0;
  out.arrivals[start] = {};
  waiting.emplace(0, arrival++, start);
  while (!waiting.empty() && done.size() < kMaxFunctions) {
    const auto [cost, _, at] = waiting.top();
    waiting.pop();
    if (!done.insert(at).second) continue;
    out.order.push_back(at);
    for (RequestStep& step :
         graph.steps_from(at, functions_before(at, out), out.arrivals[at].unit)) {
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

std::vector<RequestHop> hops_to(const RequestGraph& graph, const RequestSearch& search,
                                const RequestNode& end) {
  std::vector<RequestHop> out;
  for (RequestNode at = end;;) {
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
