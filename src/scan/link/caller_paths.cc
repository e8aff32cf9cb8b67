#include "scan/link/caller_paths.h"

#include <algorithm>
#include <deque>
#include <tuple>

#include "scan/facts/code_names.h"
#include "scan/files/code_purpose.h"

namespace fathom {
namespace {

constexpr size_t kMaxSearched = 400;  // functions of one search: beyond it names repeat
constexpr size_t kLeastTries = 20000, kTriesOfEdge = 64;
constexpr size_t kMaxPythonHops = 8;
constexpr size_t kMaxCallersByName = 4;  // a name that more functions call is a common word

}  // namespace

CallerPaths::CallerPaths(const Readings& readings, const CodeGraph& graph)
    : readings_(readings), graph_(graph), tries_left_(kLeastTries + kTriesOfEdge * graph.edges()) {
  for (size_t file = 0; file < readings.files.size(); ++file) {
    if (file_name(readings.files[file].path) != "__init__.py") continue;
    for (const python::Import& import : readings.readings[file].python.imports)
      public_names_.insert(import.name);
  }
}

bool CallerPaths::is_test(const FunctionNode& node) const {
  return is_test_or_benchmark(readings_.files[node.file].path);
}

PathHop CallerPaths::hop_of(const FunctionNode& node, Certainty certainty) const {
  return {node.cpp ? PathHopKind::kCpp : PathHopKind::kPython, graph_.name_of(node),
          graph_.place_of(node), certainty};
}

std::vector<PathHop> CallerPaths::path_to(const CodePlace& at) const {
  const std::optional<FunctionNode> start = graph_.function_at(at);
  if (!start) return {};
  if (!start->cpp) return python_chain(*start, Certainty::kCertain);
  const std::vector<Link> chain = chain_to_export(*start);
  std::vector<PathHop> hops;
  const CallerEdge* user = python_user(chain[0].function);
  if (user != nullptr) hops = python_chain(user->from, user->certainty);
  const BoundFunction* bound = graph_.exported_as(chain[0].function);
  if (user != nullptr && user->bound.binding != nullptr) bound = &user->bound;
  if (user != nullptr && user->text != nullptr)
    hops.push_back({PathHopKind::kJitGenerator,
                    user->text->text,
                    {user->from.file, user->line},
                    Certainty::kUnsure});
  else if (bound != nullptr)
    hops.push_back({PathHopKind::kBinding, bound->binding->exported, bound->at(),
                    Certainty::kCertain, bound->binding->via});
  // The last one launches, which is certain; whether the others run is a matter of names.
  for (const auto& [function, called] : chain)
    hops.push_back(hop_of(
        function, function == *start ? Certainty::kCertain : std::max(called, Certainty::kLikely)));
  return hops;
}

// Breadth first through the callers until Python gets at one; without any, the start alone.
std::vector<CallerPaths::Link> CallerPaths::chain_to_export(const FunctionNode& start) const {
  std::map<FunctionNode, Link> calls;  // what a function calls on the way down
  std::deque<FunctionNode> queue = {start};
  calls[start] = {start, Certainty::kCertain};
  while (!queue.empty() && calls.size() < kMaxSearched) {
    const FunctionNode at = queue.front();
    queue.pop_front();
    if (graph_.exported_as(at) != nullptr || python_user(at) != nullptr) {
      std::vector<Link> chain = {{at, Certainty::kCertain}};
      // A function is as sure as the call above it that leads there.
      while (chain.back().function != start) chain.push_back(calls[chain.back().function]);
      return chain;
    }
    for (const CallerEdge& edge : graph_.edges_to(at)) {
      if (tries_left_ == 0) return {{start, Certainty::kCertain}};
      --tries_left_;
      if (edge.from.cpp && calls.emplace(edge.from, Link{at, edge.certainty}).second)
        queue.push_back(edge.from);
    }
  }
  return {{start, Certainty::kCertain}};
}

// The surest of the product, then the nearest to the binding in the tree of folders.
const CallerEdge* CallerPaths::python_user(const FunctionNode& node) const {
  const CallerEdge* best = nullptr;
  using Rank = std::tuple<bool, bool, int, size_t>;
  Rank best_rank;
  size_t by_name = 0;
  for (const CallerEdge& edge : graph_.edges_to(node)) {
    if (edge.from.cpp) continue;
    const std::string_view home =
        readings_.files[edge.bound.binding != nullptr ? edge.bound.file : node.file].path;
    const Rank rank = {!is_test(edge.from), edge.kind != ReachKind::kNone,
                       -static_cast<int>(edge.certainty),
                       common_prefix(readings_.files[edge.from.file].path, home)};
    by_name += edge.kind == ReachKind::kNone && edge.text == nullptr && !is_test(edge.from);
    if (best != nullptr && rank <= best_rank) continue;
    best = &edge;
    best_rank = rank;
  }
  const bool open = best != nullptr && best->kind == ReachKind::kNone && best->text == nullptr;
  return open && by_name > kMaxCallersByName ? nullptr : best;
}

// The surest. Which of several callers of an interface means this very class is not known.
const CallerEdge* CallerPaths::python_caller(const FunctionNode& node) const {
  const CallerEdge *best = nullptr, *interface = nullptr;
  bool several = false;
  for (const CallerEdge& edge : graph_.edges_to(node)) {
    if (edge.from == node || edge.certainty == Certainty::kUnsure || is_test(edge.from)) continue;
    if (edge.kind == ReachKind::kCallsInterface) {
      several |= interface != nullptr && interface->from != edge.from;
      interface = &edge;
    } else if (best == nullptr || edge.certainty < best->certainty) {
      best = &edge;
    }
  }
  return best != nullptr || several ? best : interface;
}

std::vector<PathHop> CallerPaths::python_chain(FunctionNode at, Certainty certainty) const {
  std::vector<PathHop> hops;
  std::set<FunctionNode> seen;
  while (seen.insert(at).second && hops.size() < kMaxPythonHops) {
    hops.push_back(hop_of(at, certainty));
    const bool top = readings_.readings[at.file].python.functions[at.index].scope.empty();
    if (top && public_names_.contains(graph_.plain_name(at))) break;
    const CallerEdge* caller = python_caller(at);
    if (caller == nullptr) break;
    at = caller->from;
    certainty = caller->certainty;
  }
  std::reverse(hops.begin(), hops.end());
  return hops;
}

std::vector<PathHop> CallerPaths::callers_of(const PathHop& outermost) const {
  std::vector<PathHop> out;
  const std::optional<FunctionNode> node = graph_.function_at(outermost.at);
  if (!node) return out;
  std::optional<FunctionNode> last;
  for (const CallerEdge& edge : graph_.edges_to(*node)) {
    const bool call = edge.kind != ReachKind::kNone && edge.kind != ReachKind::kDefines &&
                      (edge.from.cpp || edge.certainty != Certainty::kUnsure);
    if (!call || edge.from == *node || edge.from == last || is_test(edge.from)) continue;
    if (tries_left_ == 0) return {};
    --tries_left_;
    last = edge.from;
    out.push_back(hop_of(edge.from, edge.certainty));
    out.back().at.line = edge.line;
  }
  return out;
}

std::vector<PathHop> CallerPaths::way_up_from(const PathHop& caller) const {
  constexpr size_t kHighest = 8;
  std::vector<PathHop> out;
  std::set<FunctionNode> seen;
  for (PathHop at = caller; out.size() < kHighest;) {
    const std::optional<FunctionNode> function = graph_.function_at(at.at);
    if (!function || !seen.insert(*function).second) break;
    const std::vector<PathHop> callers = callers_of(hop_of(*function, {}));
    if (callers.size() != 1) break;
    at = callers.front();
    out.push_back(at);
  }
  return out;
}

}  // namespace fathom
