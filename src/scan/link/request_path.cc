#include "scan/link/request_path.h"

#include <algorithm>
#include <array>
#include <queue>
#include <set>
#include <tuple>

#include "base/tsv.h"
#include "scan/code_names.h"
#include "scan/link/call_graph.h"
#include "scan/link/code_purpose.h"
#include "scan/link/extension_modules.h"
#include "scan/link/kernel_gates.h"
#include "scan/link/message_flows.h"
#include "scan/link/request_entries.h"

extern const std::string_view kernel_libraries_tsv;
extern const std::string_view python_standard_modules_tsv;

namespace fathom {
namespace {

constexpr size_t kMaxFunctions = 4000;
constexpr size_t kMaxEntries = 4;  // that are shown
constexpr size_t kMaxPaths = 24;   // of each

struct Arrival {
  RequestNode from;
  std::string how;
  uint32_t line = 0;
  Certainty certainty = Certainty::kCertain;
  int cost = 0;
  int steps = 0;
};

// Work that is not done for a request: before the first one, after the last, or to measure.
bool is_side_road(std::string_view name) {
  constexpr std::array<std::string_view, 18> words = {
      "tactics",  "autotune",  "dummy",    "abort",   "error",       "warmup",
      "warm_up",  "profile",   "shutdown", "destroy", "cleanup",     "close",
      "teardown", "benchmark", "_test",    "debug",   "load_weight", "validate"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
}

// A sure step before an unsure one, and work before construction.
int cost_of(Certainty certainty, bool constructs) {
  const int sure = certainty == Certainty::kCertain ? 2 : certainty == Certainty::kLikely ? 3 : 8;
  return sure + (constructs ? 6 : 0);
}

// The routes that people use an engine through.
bool generates(const RequestEntry& entry) {
  return entry.name.ends_with("/completions") || entry.name.ends_with("/generate");
}

// A C++ function under a name of Python.
struct Bound {
  std::string target;
  CodePlace at;
};

struct Search {
  std::map<RequestNode, Arrival> arrivals;
  std::vector<RequestNode> order;  // as they were reached
  std::vector<std::pair<uint32_t, std::pair<RequestNode, KernelGate>>> kernels;
};

class RequestPathFinder {
 public:
  RequestPathFinder(const Readings& readings, const PythonNames& names, const PythonTypes& types,
                    const IncludeGraph& includes, const CodeFacts& facts)
      : readings_(readings),
        names_(names),
        types_(types),
        facts_(facts),
        graph_(readings, types),
        cpp_(readings, includes),
        messages_(readings, graph_),
        extensions_(readings),
        gates_(find_kernel_gates(readings, facts.kernels)) {
    for (const auto& row : read_tsv(kernel_libraries_tsv, 2)) libraries_.emplace(row[0]);
    for (const auto& row : read_tsv(python_standard_modules_tsv, 1)) standard_.insert(row[0]);
    for (const DependencyFacts& dependency : facts.dependencies) {
      std::string module = dependency.name;
      std::replace(module.begin(), module.end(), '-', '_');
      if (dependency.at.line != 0) installed_.insert(module);
    }
    for (uint32_t file = 0; file < readings.files.size(); ++file) {
      for (const cpp::Binding& binding : readings.readings[file].usage.bindings)
        bindings_[binding.exported].push_back({binding.target, {file, binding.line}});
    }
  }

  std::vector<RequestPath> run() {
    const std::vector<RequestEntry> entries = find_request_entries(readings_, names_, facts_);
    std::vector<std::pair<RequestEntry, Search>> found;
    for (const RequestEntry& entry : entries) found.emplace_back(entry, search(entry.start));
    // Of each kind those that reach most; functions keep the order of the API, the most used first.
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      if (a.first.rank != b.first.rank || a.first.rank == kFunctionRank)
        return a.first.rank < b.first.rank;
      return std::tuple(generates(b.first), b.second.kernels.size(), b.second.order.size()) <
             std::tuple(generates(a.first), a.second.kernels.size(), a.second.order.size());
    });
    return chosen(found);
  }

 private:
  // Two of each kind that reach kernels. Functions stand for a library: they are shown where there
  // is no server, engine or C++ program, and other programs where no function reaches a kernel. A
  // server that reaches none is shown with where it stopped.
  std::vector<RequestPath> chosen(const std::vector<std::pair<RequestEntry, Search>>& found) {
    std::vector<RequestPath> out;
    std::set<RequestNode> starts;
    std::map<int, size_t> of_rank;
    for (const auto& [entry, search] : found) {
      if (starts.size() == kMaxEntries || of_rank[entry.rank] == 2 || search.kernels.empty())
        continue;
      if (entry.rank == kFunctionRank && found[0].first.rank < kFunctionRank) continue;
      if (entry.rank == kFunctionRank && !works_on_kernel(search)) continue;
      if (entry.rank > kFunctionRank && of_rank[kFunctionRank] > 0) continue;
      if (!starts.insert(entry.start).second) continue;
      ++of_rank[entry.rank];
      add_paths(entry, search, out);
    }
    if (!found.empty() && of_rank[found[0].first.rank] == 0 &&
        (found[0].first.rank == 0 || out.empty()))
      add_paths(found[0].first, found[0].second, out);
    return out;
  }

  // Whether a kernel is reached by calls alone, and not while objects are made.
  bool works_on_kernel(const Search& search) const {
    return std::any_of(search.kernels.begin(), search.kernels.end(), [&](const auto& kernel) {
      const std::vector<RequestHop> hops = hops_to(kernel.second.first, search);
      return std::none_of(hops.begin(), hops.end(), [](const RequestHop& hop) {
        return hop.how.starts_with("makes a ") || hop.how.starts_with("defines it") ||
               is_side_road(hop.function);
      });
    });
  }

  // The cheapest way to every function that can be reached.
  Search search(const RequestNode& start) {
    Search out;
    using Waiting = std::tuple<int, size_t, RequestNode>;  // cost, order of arrival
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting;
    std::set<uint32_t> kernels;
    std::set<RequestNode> done;
    size_t arrival = 0;
    out.arrivals[start] = {};
    waiting.emplace(0, arrival++, start);
    while (!waiting.empty() && done.size() < kMaxFunctions) {
      const auto [cost, _, at] = waiting.top();
      waiting.pop();
      if (!done.insert(at).second) continue;
      out.order.push_back(at);
      note_kernels(at, kernels, out);
      for (const auto& [to, step] : steps_from(at, out)) {
        const int total = cost + step.cost;
        const auto [known, fresh] = out.arrivals.try_emplace(to);
        if (!fresh && (done.contains(to) || known->second.cost <= total)) continue;
        known->second = step;
        known->second.cost = total;
        known->second.steps = out.arrivals[at].steps + 1;
        waiting.emplace(total, arrival++, to);
      }
    }
    std::erase_if(out.kernels,
                  [&](const auto& kernel) { return is_aside(kernel.second.first, out); });
    return out;
  }

  // Whether the way there leads over work that is not done for a request.
  bool is_aside(RequestNode at, const Search& search) const {
    for (const Arrival* a = &search.arrivals.find(at)->second; a->line != 0;
         at = a->from, a = &search.arrivals.find(at)->second) {
      if (is_side_road(plain_name(at))) return true;
    }
    return false;
  }

  void note_kernels(const RequestNode& at, std::set<uint32_t>& seen, Search& out) const {
    const std::vector<KernelGate>* gates = nullptr;
    if (at.cpp) {
      if (const auto found = gates_.cpp.find({at.file, at.index}); found != gates_.cpp.end())
        gates = &found->second;
    } else if (const auto found = gates_.python.find({at.file, at.index});
               found != gates_.python.end()) {
      gates = &found->second;
    }
    if (gates == nullptr) return;
    for (const KernelGate& gate : *gates) {
      if (seen.insert(gate.kernel).second) out.kernels.push_back({gate.kernel, {at, gate}});
    }
  }

  bool is_outside(const RequestNode& node) const {
    const SourceFile& file = readings_.files[node.file];
    return file.origin != Origin::kOwn || (!node.cpp && is_test_or_example(file.path));
  }

  std::vector<std::pair<RequestNode, Arrival>> steps_from(const RequestNode& at,
                                                          const Search& so_far) {
    std::vector<std::pair<RequestNode, Arrival>> out;
    const auto add = [&](const RequestNode& to, std::string how, uint32_t line, Certainty certainty,
                         bool constructs) {
      if (is_outside(to)) return;
      const int cost = cost_of(certainty, constructs) + (is_side_road(plain_name(to)) ? 40 : 0);
      out.emplace_back(to, Arrival{at, std::move(how), line, certainty, cost, 0});
    };
    if (at.cpp) {
      for (const CppStep& step : cpp_.calls_of({at.file, at.index}))
        add({true, step.to.file, step.to.index}, "calls it", step.line, step.certainty, false);
      return out;
    }
    const auto add_steps = [&](const std::vector<CallStep>& steps) {
      for (const CallStep& step : steps)
        add({false, step.to.file, step.to.index}, step.how, step.line, step.certainty,
            step.constructs);
    };
    if (at.index == PythonTypes::kModuleLevel) {
      add_steps(graph_.calls_of_module(at.file).steps);
      return out;
    }
    const PythonRef ref = {at.file, at.index};
    add_steps(graph_.calls_of(ref).steps);
    std::vector<PythonRef> before;
    for (auto a = so_far.arrivals.find(at);
         a != so_far.arrivals.end() && a->second.line != 0 && before.size() < 3;
         a = so_far.arrivals.find(a->second.from)) {
      const RequestNode& from = a->second.from;
      if (!from.cpp && from.index != PythonTypes::kModuleLevel)
        before.push_back({from.file, from.index});
    }
    add_steps(messages_.receivers_of(ref, before));
    add_bound(at, add);
    add_inner(at, add);
    return out;
  }

  // extension.fwd(…), torch.ops.library.fwd(…): a C++ function that a binding exports by this name.
  template <typename Add>
  void add_bound(const RequestNode& at, Add add) const {
    for (const OpenCall& call : graph_.calls_of({at.file, at.index}).open) {
      const size_t dot = call.callee.rfind('.');
      const std::string_view module =
          std::string_view(call.module).substr(0, call.module.find('.'));
      if (module.empty() || standard_.contains(module) || dot == std::string::npos) continue;
      // What is installed is not what this repository builds; torch.ops leads to either.
      if (installed_.contains(module) && call.callee.find(".ops.") == std::string::npos) continue;
      const auto found = bindings_.find(std::string_view(call.callee).substr(dot + 1));
      if (found == bindings_.end()) continue;
      const std::vector<Bound> bounds = of_module(found->second, call.module);
      // A common name of many libraries says nothing.
      if (bounds.size() > 4) continue;
      std::set<CppRef> seen;
      for (const Bound& bound : bounds) {
        for (const CppRef& ref : cpp_.named(bound.target)) {
          if (ref.file != bound.at.file && bounds.size() > 1) continue;
          if (!seen.insert(ref).second) continue;
          add({true, ref.file, ref.index}, "calls it through the binding " + found->first,
              call.line, bounds.size() == 1 ? Certainty::kLikely : Certainty::kUnsure, false);
        }
      }
    }
  }

  // Those that are built into the module that is called; where no file says what it is built into,
  // all of them.
  std::vector<Bound> of_module(const std::vector<Bound>& bounds, std::string_view module) const {
    std::vector<Bound> known, unknown;
    for (const Bound& bound : bounds) {
      const std::vector<std::string>& modules = extensions_.of(bound.at.file);
      if (modules.empty()) unknown.push_back(bound);
      if (std::find(modules.begin(), modules.end(), last_part(module)) != modules.end())
        known.push_back(bound);
    }
    return known.empty() ? unknown : known;
  }

  // A function inside another, which hands it on to whoever calls it.
  template <typename Add>
  void add_inner(const RequestNode& at, Add add) const {
    const auto& functions = readings_.readings[at.file].python.functions;
    const std::string scope = qualified_name(functions[at.index]);
    for (uint32_t i = at.index + 1; i < functions.size(); ++i) {
      if (functions[i].line_first > functions[at.index].line_last) break;
      if (functions[i].scope == scope)
        add({false, at.file, i}, "defines it and hands it on", functions[i].line_name,
            Certainty::kLikely, true);
    }
  }

  std::string_view plain_name(const RequestNode& node) const {
    if (node.cpp) return cpp_.function({node.file, node.index}).name;
    if (node.index == PythonTypes::kModuleLevel) return {};
    return types_.function({node.file, node.index}).name;
  }

  std::string name_of(const RequestNode& node) const {
    if (node.cpp) return qualified_name(cpp_.function({node.file, node.index}));
    if (node.index == PythonTypes::kModuleLevel) return names_.module_of(node.file);
    return qualified_name(types_.function({node.file, node.index}));
  }

  CodePlace place_of(const RequestNode& node) const {
    if (node.cpp) return {node.file, cpp_.function({node.file, node.index}).line_name};
    if (node.index == PythonTypes::kModuleLevel) return {node.file, 1};
    return {node.file, types_.function({node.file, node.index}).line_name};
  }

  std::vector<RequestHop> hops_to(const RequestNode& end, const Search& search) const {
    std::vector<RequestHop> out;
    for (RequestNode at = end;;) {
      const Arrival& arrival = search.arrivals.find(at)->second;
      RequestHop hop = {name_of(at), arrival.how, place_of(at), {}, arrival.certainty};
      if (arrival.line != 0) hop.from = {arrival.from.file, arrival.line};
      if (arrival.line == 0) hop.how = "entry point";
      out.push_back(std::move(hop));
      if (arrival.line == 0) break;
      at = arrival.from;
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

  void add_paths(const RequestEntry& entry, const Search& search,
                 std::vector<RequestPath>& out) const {
    RequestPath path;
    path.entry_kind = entry.kind;
    path.entry = entry.name;
    path.kernels_reached = static_cast<uint32_t>(search.kernels.size());
    for (size_t i = 0; i < std::min(search.kernels.size(), kMaxPaths); ++i) {
      const auto& [kernel, arrived] = search.kernels[i];
      path.kernel = kernel;
      path.hops = hops_to(arrived.first, search);
      add_kernel_hops(facts_.kernels[kernel], arrived.second, path.hops);
      out.push_back(path);
    }
    path.kernel.reset();
    add_library_ends(path, search, out);
    if (search.kernels.empty() && (out.empty() || out.back().entry != entry.name)) {
      path.stopped = why_stopped(search, path.hops);
      out.push_back(path);
    }
  }

  // The rest of the way down: what the kernel's own path has below the function, then the kernel.
  static void add_kernel_hops(const KernelFacts& kernel, const KernelGate& gate,
                              std::vector<RequestHop>& hops) {
    // A kernel's path has no lines of calls: they stay unknown.
    CodePlace from = gate.launch;
    for (size_t i = gate.path_from; i < kernel.path.size(); ++i) {
      const PathHop& hop = kernel.path[i];
      const size_t name = hop.what.starts_with("Python ") ? 7
                          : hop.what.starts_with("C++ ")  ? 4
                                                          : 0;
      hops.push_back(
          {hop.what.substr(name), name == 0 ? "binds it" : "calls it", hop.at, {}, hop.certainty});
    }
    if (gate.launch.line == 0 && !kernel.launchers.empty()) from = kernel.launchers[0].at;
    const Certainty certainty =
        kernel.launchers.empty() ? Certainty::kUnsure : kernel.launchers[0].certainty;
    hops.push_back(
        {kernel.name, "launches it", {kernel.at.file, kernel.line_name}, from, certainty});
  }

  // Where the request goes on in a library of kernels, once for each.
  void add_library_ends(RequestPath path, const Search& search,
                        std::vector<RequestPath>& out) const {
    std::set<std::string> seen;
    for (const RequestNode& at : search.order) {
      if (at.cpp || at.index == PythonTypes::kModuleLevel) continue;
      if (search.arrivals.find(at)->second.how.starts_with("makes a ") ||
          is_side_road(plain_name(at)))
        continue;
      for (const OpenCall& call : graph_.calls_of({at.file, at.index}).open) {
        const std::string library = call.module.substr(0, call.module.find('.'));
        if (!libraries_.contains(library) || !seen.insert(library).second) continue;
        path.hops = hops_to(at, search);
        const bool aside =
            std::any_of(path.hops.begin(), path.hops.end(), [](const RequestHop& hop) {
              return is_side_road(hop.function) || hop.how.starts_with("makes a ");
            });
        if (aside) continue;
        path.hops.push_back({call.callee,
                             "calls " + library,
                             {at.file, call.line},
                             {at.file, call.line},
                             Certainty::kCertain});
        path.stopped = "goes on in " + library + ", whose kernels are not in this repository";
        out.push_back(path);
      }
    }
  }

  // Best where a message is sent that nobody is seen to take; else the farthest function that sure
  // steps reach, and what it calls that nobody knows.
  std::string why_stopped(const Search& search, std::vector<RequestHop>& hops) const {
    const RequestNode* farthest = &search.order.front();
    for (const RequestNode& node : search.order) {
      const Arrival& arrival = search.arrivals.find(node)->second;
      if (arrival.certainty == Certainty::kUnsure || arrival.how.starts_with("makes a ")) continue;
      if (arrival.steps > search.arrivals.find(*farthest)->second.steps) farthest = &node;
      if (node.cpp || node.index == PythonTypes::kModuleLevel || is_side_road(plain_name(node)))
        continue;
      if (const uint32_t line = messages_.lost_at({node.file, node.index}); line != 0) {
        hops = hops_to(node, search);
        return "sends a message (" + place_text_of(node.file, line) +
               ") that no function of this repository is seen to take";
      }
    }
    hops = hops_to(*farthest, search);
    if (search.order.size() >= kMaxFunctions)
      return "too many functions can be reached to follow them all";
    if (!farthest->cpp && farthest->index != PythonTypes::kModuleLevel) {
      for (const OpenCall& call : graph_.calls_of({farthest->file, farthest->index}).open) {
        if (call.callee.find('.') == std::string::npos) continue;  // mostly Python's own functions
        const std::string where = place_text_of(farthest->file, call.line);
        if (call.module.empty())
          return "calls " + call.callee + " (" + where +
                 "), and the code does not show whose that is";
        return "calls " + call.callee + " of " + call.module + " (" + where +
               "), which is not in this repository";
      }
    }
    return "no function that it reaches launches a kernel";
  }

  std::string place_text_of(uint32_t file, uint32_t line) const {
    return readings_.files[file].path + ":" + std::to_string(line);
  }

  const Readings& readings_;
  const PythonNames& names_;
  const PythonTypes& types_;
  const CodeFacts& facts_;
  const CallGraph graph_;
  const CppCalls cpp_;
  const MessageFlows messages_;
  const ExtensionModules extensions_;
  const KernelGates gates_;
  std::map<std::string, std::vector<Bound>, std::less<>> bindings_;  // by the name outside
  std::set<std::string, std::less<>> libraries_;
  std::set<std::string_view> standard_;
  std::set<std::string, std::less<>> installed_ = {"torch", "numpy", "triton"};
};

}  // namespace

std::vector<RequestPath> find_request_paths(const Readings& readings, const PythonNames& names,
                                            const PythonTypes& types, const IncludeGraph& includes,
                                            const CodeFacts& facts) {
  return RequestPathFinder(readings, names, types, includes, facts).run();
}

}  // namespace fathom
