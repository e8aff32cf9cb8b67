#include "scan/link/request_path.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "scan/facts/code_names.h"
#include "scan/facts/fact_names.h"
#include "scan/files/code_purpose.h"
#include "scan/link/request_search.h"

namespace fathom {
namespace {

constexpr size_t kMaxPrograms = 4;          // programs that are shown
constexpr size_t kMaxOfKind = 2;            // of one kind of them
constexpr size_t kMaxLibraryFunctions = 6;  // functions of a library that are shown
constexpr size_t kMaxStopped = 2;           // of those some that reach no kernel
constexpr size_t kMaxPaths = 24;            // of each

using Found = std::pair<RequestEntry, RequestSearch>;

// The routes that people use an engine through.
bool generates(const RequestEntry& entry) {
  return entry.name.ends_with("/completions") || entry.name.ends_with("/generate");
}

// "package.single_decode_with_kv_cache" and "SingleDecodeWithKVCacheKernel" begin alike.
bool share_name(std::string_view entry, std::string_view kernel) {
  constexpr size_t kEnough = 14;  // letters: more than a common first word
  const auto letters = [](std::string_view name) {
    std::string out;
    for (const unsigned char c : name) {
      if (std::isalnum(c) != 0) out += static_cast<char>(std::tolower(c));
    }
    return out;
  };
  const std::string name = letters(kernel);
  for (size_t begin = 0; begin < entry.size();) {
    const size_t end = std::min(entry.find('.', begin), entry.size());
    if (common_prefix(letters(entry.substr(begin, end - begin)), name) >= kEnough) return true;
    begin = end + 1;
  }
  return false;
}

bool is_preparation(const RequestHop& hop) {
  return hop.how.is(ReachKind::kMakes) || is_side_road(hop.function);
}

class RequestPathFinder {
 public:
  RequestPathFinder(const Readings& readings, const PythonNames& names, const PythonTypes& types,
                    const CodeGraph& graph, const CodeFacts& facts,
                    const std::vector<DocumentedCall>& documented)
      : facts_(facts),
        graph_(graph),
        gates_(find_kernel_gates(graph, facts.kernels)),
        entries_(find_request_entries(readings, types, names, facts, documented)) {}

  // Servers, engines and C++ programs come first. Functions stand for a library: they are shown
  // where there is none of those, with the programs that it installs; other programs where no
  // function reaches a kernel.
  RequestWays run() {
    std::vector<Found> before = programs([](int rank) { return rank < kFunctionRank; });
    std::erase_if(before, [](const Found& found) {
      return is_unnamed_program(found.first) && found.second.kernels.empty();
    });
    add_programs(before);
    bool functions = false;
    const bool is_server = !before.empty() && before[0].first.rank == 0;
    if (before.empty() || (out_.empty() && !is_server)) functions = add_functions();
    std::vector<Found> after = programs([](int rank) { return rank > kFunctionRank; });
    // Beside functions only what the package installs.
    if (functions)
      std::erase_if(after, [](const Found& found) { return found.first.rank != kInstalledRank; });
    add_programs(after);
    if (functions) widest_first();
    // A server that reaches no kernel is shown with where it stopped.
    const std::vector<Found>& first = before.empty() ? after : before;
    const bool shown = !first.empty() && ranks_shown_.contains(first[0].first.rank);
    const bool told =
        !first.empty() && (first[0].first.rank == 0 ||
                           (first[0].first.rank < kFunctionRank &&
                            first[0].first.evidence == EntryEvidence::kReadme && !functions));
    if (!first.empty() && !shown && (told || out_.empty()))
      add_paths(first[0].first, first[0].second);
    const auto named = std::find_if_not(entries_.begin(), entries_.end(), is_unnamed_program);
    if (out_.empty() && named != entries_.end()) add_paths(*named, search(named->start));
    return {std::move(out_), std::move(reached_)};
  }

 private:
  // A C++ program that nobody is told to start: where it reaches no kernel, it is a tool of the
  // build, and says nothing of what the repository is for.
  static bool is_unnamed_program(const RequestEntry& entry) {
    return entry.kind == EntryKind::kCppMain && entry.evidence != EntryEvidence::kReadme;
  }

  // A program that reaches more than any function shows how those work together.
  void widest_first() {
    const auto is_program = [](const RequestPath& path) {
      return path.entry_kind == EntryKind::kConsoleScript;
    };
    const auto begin = std::find_if(out_.begin(), out_.end(), is_program);
    const auto reaches_less = [&](const RequestPath& path) {
      return path.kernels_reached < begin->kernels_reached;
    };
    if (begin != out_.end() && std::all_of(out_.begin(), begin, reaches_less))
      std::rotate(out_.begin(), begin, out_.end());
  }

  // Of each kind those that reach most come first.
  template <typename Wanted>
  std::vector<Found> programs(Wanted wanted) {
    std::vector<Found> found;
    for (const RequestEntry& entry : entries_) {
      if (!wanted(entry.rank)) continue;
      found.emplace_back(entry, search(entry.start));
      reached_.emplace(std::pair(entry.kind, entry.name), found.back().second.kernels.size());
    }
    std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
      if (a.first.rank != b.first.rank) return a.first.rank < b.first.rank;
      const auto worth = [](const Found& f) {
        const bool told = f.first.evidence == EntryEvidence::kReadme;
        return std::tuple(generates(f.first), told && !f.second.kernels.empty(),
                          f.second.kernels.size(), told, f.second.order.size());
      };
      return worth(b) < worth(a);
    });
    return found;
  }

  void add_programs(const std::vector<Found>& found) {
    for (const auto& [entry, search] : found) {
      if (starts_.size() >= kMaxPrograms || ranks_shown_[entry.rank] == kMaxOfKind ||
          search.kernels.empty() || !starts_.insert(entry.start).second)
        continue;
      ++ranks_shown_[entry.rank];
      add_paths(entry, search);
    }
    std::erase_if(ranks_shown_, [](const auto& rank) { return rank.second == 0; });
  }

  // In the order of their evidence, and only as many as are shown are followed. What the README
  // calls is shown also where it reaches no kernel, with where it stopped.
  bool add_functions() {
    size_t reaching = 0, stopped = 0;
    for (const RequestEntry& entry : entries_) {
      if (entry.rank != kFunctionRank || reaching + stopped == kMaxLibraryFunctions) continue;
      const RequestSearch found = search(entry.start);
      const bool works = works_on_kernel(found);
      const bool told = entry.evidence == EntryEvidence::kReadme && stopped < kMaxStopped;
      if (!works && !told) continue;
      ++(works ? reaching : stopped);
      add_paths(entry, found);
      if (entry.plan) add_plan(entry);
    }
    return reaching > 0;
  }

  // What a method needs that is called before it, which often launches nothing itself.
  void add_plan(const RequestEntry& of) {
    RequestEntry plan = of;
    plan.start = *of.plan;
    plan.name = of.name.substr(0, of.name.rfind('.')) + ".plan";
    plan.why = "it is called before " + of.name.substr(of.name.rfind('.') + 1);
    RequestSearch found = search(plan.start);
    // What it only compiles, the other method launches.
    std::erase_if(found.kernels, [&](const auto& kernel) {
      const std::vector<RequestHop> hops = hops_to(graph_, found, kernel.second.first);
      return std::any_of(hops.begin(), hops.end(),
                         [](const RequestHop& hop) { return hop.how.is(ReachKind::kCompiles); });
    });
    add_paths(plan, found);
  }

  RequestSearch search(const FunctionNode& start) const {
    return search_requests(graph_, gates_, start);
  }

  // Whether a kernel is reached by calls alone, and not while objects are made.
  bool works_on_kernel(const RequestSearch& search) const {
    return std::any_of(search.kernels.begin(), search.kernels.end(), [&](const auto& kernel) {
      const std::vector<RequestHop> hops = hops_to(graph_, search, kernel.second.first);
      return std::none_of(hops.begin(), hops.end(), [](const RequestHop& hop) {
        return is_preparation(hop) || hop.how.is(ReachKind::kDefines);
      });
    });
  }

  void add_paths(const RequestEntry& entry, const RequestSearch& search) {
    RequestPath path;
    path.entry_kind = entry.kind;
    path.entry = entry.name;
    path.why = entry.why;
    path.kernels_reached = static_cast<uint32_t>(search.kernels.size());
    const size_t before = out_.size();
    auto kernels = search.kernels;
    // A kernel that is called like the entry point is what it is for.
    std::stable_partition(kernels.begin(), kernels.end(), [&](const auto& kernel) {
      return share_name(entry.name, facts_.kernels[kernel.first].name);
    });
    // A plug-in that shows how one is written is not what a request runs.
    std::stable_partition(kernels.begin(), kernels.end(), [&](const auto& kernel) {
      return !is_test_or_example(facts_.files[facts_.kernels[kernel.first].at.file].path);
    });
    for (size_t i = 0; i < std::min(kernels.size(), kMaxPaths); ++i) {
      const auto& [kernel, arrived] = kernels[i];
      path.kernel = kernel;
      path.hops = hops_to(graph_, search, arrived.first);
      add_kernel_hops(facts_.kernels[kernel], arrived.second, path.hops);
      out_.push_back(path);
    }
    path.kernel.reset();
    add_library_ends(path, search);
    if (search.kernels.empty() && out_.size() == before) {
      path.stopped = why_stopped(search, path.hops);
      out_.push_back(path);
    }
  }

  // The rest of the way down: what the kernel's own path has below the function, then the kernel.
  static void add_kernel_hops(const KernelFacts& kernel, const KernelGate& gate,
                              std::vector<RequestHop>& hops) {
    // A kernel's path has no lines of calls: they stay unknown.
    CodePlace from = gate.launch;
    for (size_t i = gate.path_from; i < kernel.path.size(); ++i) {
      const PathHop& hop = kernel.path[i];
      const bool function = hop.kind == PathHopKind::kPython || hop.kind == PathHopKind::kCpp;
      hops.push_back({function ? hop.name : hop_text(hop),
                      {function ? ReachKind::kCalls : ReachKind::kBinds},
                      hop.at,
                      {},
                      hop.certainty});
    }
    if (gate.launch.line == 0 && !kernel.launchers.empty()) from = kernel.launchers[0].at;
    const Certainty certainty =
        kernel.launchers.empty() ? Certainty::kUnsure : kernel.launchers[0].certainty;
    hops.push_back(
        {kernel.name, {ReachKind::kLaunches}, {kernel.at.file, kernel.line_name}, from, certainty});
  }

  // Where the request goes on in a library of kernels, once for each.
  void add_library_ends(RequestPath path, const RequestSearch& search) {
    std::set<std::string> seen;
    for (const FunctionNode& at : search.order) {
      if (search.arrivals.find(at)->second.how.is(ReachKind::kMakes) ||
          is_side_road(graph_.plain_name(at)))
        continue;
      for (const OpenCall& call : graph_.open_calls(at)) {
        const std::string library = call.module.substr(0, call.module.find('.'));
        if (!graph_.is_kernel_library(library) || !seen.insert(library).second) continue;
        path.hops = hops_to(graph_, search, at);
        if (std::any_of(path.hops.begin(), path.hops.end(), is_preparation)) continue;
        path.hops.push_back({call.callee,
                             {ReachKind::kCallsLibrary, library},
                             {at.file, call.line},
                             {at.file, call.line},
                             Certainty::kCertain});
        path.stopped = "continues in " + library + ", whose kernels are outside this repository";
        out_.push_back(path);
      }
    }
  }

  // Best where a message is sent that nobody is seen to take; else the farthest function that sure
  // steps reach, and what it calls that nobody knows.
  std::string why_stopped(const RequestSearch& search, std::vector<RequestHop>& hops) const {
    const FunctionNode* farthest = &search.order.front();
    for (const FunctionNode& node : search.order) {
      const RequestArrival& arrival = search.arrivals.find(node)->second;
      if (arrival.certainty == Certainty::kUnsure || arrival.how.is(ReachKind::kMakes)) continue;
      if (arrival.steps > search.arrivals.find(*farthest)->second.steps) farthest = &node;
      if (is_side_road(graph_.plain_name(node))) continue;
      std::string lost = graph_.unbound_call(node);
      if (const uint32_t line = graph_.lost_message_at(node); line != 0)
        lost = "sends a message (" + graph_.place_text({node.file, line}) +
               ") that no function of this repository receives";
      if (lost.empty()) continue;
      hops = hops_to(graph_, search, node);
      return lost;
    }
    hops = hops_to(graph_, search, *farthest);
    if (!search.complete) return "too many reachable functions";
    for (const OpenCall& call : graph_.open_calls(*farthest)) {
      // Mostly Python's own functions; or the way went on.
      if (!holds(call.callee, '.') || call.guessed) continue;
      const std::string where = graph_.place_text({farthest->file, call.line});
      if (call.module.empty())
        return "calls " + call.callee + " (" + where + "), whose definition was not resolved";
      return "calls " + call.callee + " of " + call.module + " (" + where +
             "), outside this repository";
    }
    return "no reachable function launches a kernel";
  }

  const CodeFacts& facts_;
  const CodeGraph& graph_;
  const KernelGates gates_;
  const std::vector<RequestEntry> entries_;
  std::vector<RequestPath> out_;
  std::map<std::pair<EntryKind, std::string>, uint32_t> reached_;
  std::set<FunctionNode> starts_;
  std::map<int, size_t> ranks_shown_;
};

}  // namespace

RequestWays find_request_paths(const Readings& readings, const PythonNames& names,
                               const PythonTypes& types, const CodeGraph& graph,
                               const CodeFacts& facts,
                               const std::vector<DocumentedCall>& documented) {
  return RequestPathFinder(readings, names, types, graph, facts, documented).run();
}

}  // namespace fathom
