#include "session/graph_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/kernel_traits.h"
#include "cost/op_catalog.h"
#include "cost/op_category.h"

namespace fathom {
namespace {

// Of the nodes that can be checked by their kind of work, so many have to agree.
constexpr double kAgreeing = 0.8;
// Captured graphs that a launch is compared with: servers capture one for each of some dozen batch
// sizes, and cost stays linear whatever a file holds.
constexpr size_t kMostCandidates = 256;

bool names_part(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

// What a call puts into a graph that is captured; nothing for calls that put in nothing.
std::optional<EventKind> node_kind(std::string_view call) {
  if (names_part(call, "GraphLaunch") || names_part(call, "LaunchHostFunc")) return {};
  if (names_part(call, "Memset")) return EventKind::kMemset;
  if (names_part(call, "Memcpy")) return EventKind::kMemcpy;
  if (names_part(call, "LaunchKernel") || names_part(call, "LaunchCooperativeKernel"))
    return EventKind::kKernel;
  return {};
}

bool is_graph_launch_call(const EventStore& store, EventId event) {
  return is_launch(store.kind(event)) && names_part(store.name(event), "GraphLaunch");
}

// A kernel as both traces can know it.
struct SeenKernel {
  std::string_view name;
  std::optional<Dim3> grid;

  bool fits(const SeenKernel& other) const {
    if (name != other.name) return false;
    if (!grid || !other.grid) return true;
    return grid->x == other.grid->x && grid->y == other.grid->y && grid->z == other.grid->z;
  }
};

struct CapturedNode {
  EventKind kind = EventKind::kKernel;
  EventId launch;
  std::optional<SeenKernel> seen;  // of a call of the same op that ran
  std::string_view category;       // of its op; empty: not known
};

struct CapturedGraph {
  Nanos begin, end;
  std::vector<CapturedNode> nodes;
  std::vector<EventId> calls;  // ops and launches, parents first
};

// Which launch of which op with which arguments.
struct LaunchPlace {
  StringId op;
  ArgsId args;
  uint32_t number = 0;

  auto operator<=>(const LaunchPlace&) const = default;
};

class CaptureReader {
 public:
  explicit CaptureReader(const Trace& trace)
      : store_(trace.store), tree_(trace.tree), launch_number_(store_.size(), 0) {
    number_launches();
    learn_kernels();
    find_captures();
  }

  std::vector<CapturedGraph> take() { return std::move(graphs_); }

 private:
  // Of each launch, how many launches its op made before it.
  void number_launches() {
    std::map<CallId, uint32_t> counts;
    for (CallId c(0); c.index < tree_.size(); ++c.index) {
      const EventId event = tree_.event(c);
      if (!is_launch(store_.kind(event)) || !node_kind(store_.name(event))) continue;
      const CallId op = tree_.enclosing_op(c);
      if (op.valid()) launch_number_[event.index] = counts[op]++;
    }
  }

  std::optional<LaunchPlace> place_of(EventId launch) const {
    const CallId op = tree_.enclosing_op(tree_.call(launch));
    if (!op.valid()) return {};
    const EventId event = tree_.event(op);
    return LaunchPlace{store_.name_id(event), store_.args_id(event), launch_number_[launch.index]};
  }

  void learn_kernels() {
    for (const EventId e : tree_.linked()) {
      const CallId launch = tree_.launch(e);
      if (!launch.valid() || store_.kind(e) != EventKind::kKernel) continue;
      const EventId call = tree_.event(launch);
      ran_.insert(call);
      const auto place = is_launch(store_.kind(call)) ? place_of(call) : std::nullopt;
      if (!place) continue;
      const SeenKernel kernel{store_.name(e), store_.gpu_work(e).grid};
      const auto [known, is_new] = seen_.try_emplace(*place, kernel);
      // A library that chooses anew for each call tells nothing.
      if (!is_new && known->second && !known->second->fits(kernel)) known->second.reset();
    }
  }

  std::string_view category_of(EventId launch) const {
    const CallId op = tree_.enclosing_op(tree_.call(launch));
    if (!op.valid()) return {};
    const std::string_view name = store_.name(tree_.event(op));
    const OpFacts* facts = OpCatalog::built_in().find(name);
    const std::string_view category =
        op_category(name, facts != nullptr ? facts->category : "other", false);
    return category == "other" ? std::string_view() : category;
  }

  CapturedNode node_of(EventId launch, EventKind kind) const {
    CapturedNode node{kind, launch, {}, category_of(launch)};
    if (const auto place = place_of(launch); place && kind == EventKind::kKernel) {
      if (const auto found = seen_.find(*place); found != seen_.end()) node.seen = found->second;
    }
    return node;
  }

  void find_captures() {
    // In the order of time over all threads: gradients are captured by autograd's own.
    std::vector<EventId> calls;
    for (CallId c(0); c.index < tree_.size(); ++c.index) calls.push_back(tree_.event(c));
    std::ranges::stable_sort(calls, {}, [this](EventId e) { return store_.start(e); });
    std::optional<CapturedGraph> open;
    std::set<EventId> inside;
    for (const EventId e : calls) {
      const bool call = is_launch(store_.kind(e));
      if (call && names_part(store_.name(e), "StreamBeginCapture")) {
        open = CapturedGraph{store_.end(e), {}, {}, {}};
        inside.clear();
        continue;
      }
      if (!open) continue;
      if (call && names_part(store_.name(e), "StreamEndCapture")) {
        open->end = store_.start(e);
        if (!open->nodes.empty()) graphs_.push_back(std::move(*open));
        open.reset();
        continue;
      }
      if (store_.kind(e) == EventKind::kCpuOp) {
        open->calls.push_back(e);
        continue;
      }
      const auto kind = call ? node_kind(store_.name(e)) : std::nullopt;
      // What ran was not captured. A driver call below a runtime call is the same launch.
      const CallId parent = tree_.parent(tree_.call(e));
      const bool again = parent.valid() && inside.contains(tree_.event(parent));
      if (!kind || ran_.contains(e) || again) continue;
      inside.insert(e);
      open->calls.push_back(e);
      open->nodes.push_back(node_of(e, *kind));
    }
  }

  const EventStore& store_;
  const CallTree& tree_;
  std::vector<uint32_t> launch_number_;  // by event
  std::map<LaunchPlace, std::optional<SeenKernel>> seen_;
  std::set<EventId> ran_;
  std::vector<CapturedGraph> graphs_;
};

// The GPU work of one graph launch, in the order in which it ran.
struct Replay {
  EventId launch;
  std::vector<EventId> work;
};

std::vector<Replay> find_replays(const Trace& trace) {
  const EventStore& store = trace.store;
  std::vector<Replay> replays;
  for (CallId c(0); c.index < trace.tree.size(); ++c.index) {
    const EventId event = trace.tree.event(c);
    if (!is_graph_launch_call(store, event)) continue;
    const std::span<const EventId> work = trace.tree.launched_by(c);
    if (work.empty()) continue;
    Replay replay{event, {work.begin(), work.end()}};
    std::ranges::sort(replay.work, [&store](EventId a, EventId b) {
      return std::tuple(store.start(a), a) < std::tuple(store.start(b), b);
    });
    replays.push_back(std::move(replay));
  }
  return replays;
}

// How a captured graph fits a replay: the node of each piece of work.
struct Fit {
  enum class How : uint8_t { kNo, kByKind, kByName };
  How how = How::kNo;
  std::vector<size_t> nodes;
};

class Matcher {
 public:
  Matcher(const EventStore& replayed, const EventStore& capture,
          const std::vector<CapturedGraph>& graphs)
      : store_(replayed), capture_(capture), graphs_(graphs), categories_(replayed.text_count()) {
    for (size_t g = 0; g < graphs.size(); ++g) by_size_[graphs[g].nodes.size()].push_back(g);
  }

  struct Match {
    size_t graph = 0;
    Fit fit;
    bool ambiguous = false;
  };

  const Match& match(const Replay& replay) {
    std::vector<uint64_t> signature;
    for (const EventId e : replay.work) {
      const GpuWork& work = store_.gpu_work(e);
      const Dim3 grid = work.grid.value_or(Dim3{});
      signature.insert(signature.end(),
                       {store_.name_id(e).index, uint64_t{grid.x} << 32 | grid.y,
                        uint64_t{grid.z} << 32 | static_cast<uint32_t>(work.stream.value_or(0))});
    }
    const auto [known, is_new] = matches_.try_emplace(std::move(signature));
    if (is_new) known->second = find(replay);
    return known->second;
  }

 private:
  Match find(const Replay& replay) const {
    Match best;
    const auto candidates = by_size_.find(replay.work.size());
    if (candidates == by_size_.end()) return best;
    for (size_t i = 0; i < std::min(kMostCandidates, candidates->second.size()); ++i) {
      const size_t g = candidates->second[i];
      Fit fit = fit_of(replay, graphs_[g]);
      if (fit.how == Fit::How::kNo || fit.how < best.fit.how) continue;
      if (fit.how == best.fit.how) {
        // The same ops captured twice are one graph to us.
        if (!same_calls(graphs_[g], graphs_[best.graph])) best.ambiguous = true;
        continue;
      }
      best = {g, std::move(fit), false};
    }
    return best;
  }

  bool same_calls(const CapturedGraph& a, const CapturedGraph& b) const {
    return std::ranges::equal(a.calls, b.calls, [this](EventId x, EventId y) {
      return capture_.name_id(x) == capture_.name_id(y) &&
             capture_.args_id(x) == capture_.args_id(y);
    });
  }

  // Each name is looked at once, however many graphs it is compared with.
  std::string_view category_of(EventId kernel) const {
    std::optional<std::string_view>& known = categories_[store_.name_id(kernel).index];
    if (!known) known = kernel_category(store_.name(kernel));
    return *known;
  }

  bool same_kind(EventId work, const CapturedNode& node) const {
    return store_.kind(work) == node.kind;
  }

  Fit fit_of(const Replay& replay, const CapturedGraph& graph) const {
    Fit in_order = fit_in_order(replay, graph);
    if (in_order.how != Fit::How::kNo) return in_order;
    return fit_by_name(replay, graph);
  }

  Fit fit_in_order(const Replay& replay, const CapturedGraph& graph) const {
    size_t named = 0, checked = 0, agreeing = 0, kernels = 0;
    std::set<std::optional<int64_t>> streams;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const CapturedNode& node = graph.nodes[i];
      const EventId work = replay.work[i];
      streams.insert(store_.gpu_work(work).stream);
      if (!same_kind(work, node)) return {};
      if (node.kind != EventKind::kKernel) continue;
      ++kernels;
      if (node.seen) {
        if (!node.seen->fits({store_.name(work), store_.gpu_work(work).grid})) return {};
        ++named;
        continue;
      }
      const std::string_view kernel = category_of(work);
      if (node.category.empty() || kernel == "other") continue;
      ++checked;
      agreeing += kernel == node.category;
    }
    const bool agrees = static_cast<double>(agreeing) >= kAgreeing * static_cast<double>(checked);
    if (!agrees || named + agreeing == 0) return {};
    Fit fit;
    if (named * 2 > kernels) {
      fit.how = Fit::How::kByName;
    } else if (streams.size() == 1) {
      // On several streams the order of time is not the order of the capture.
      fit.how = Fit::How::kByKind;
    } else {
      return {};
    }
    for (size_t i = 0; i < graph.nodes.size(); ++i) fit.nodes.push_back(i);
    return fit;
  }

  // Whatever the order, where the names of all kernels are known.
  Fit fit_by_name(const Replay& replay, const CapturedGraph& graph) const {
    std::map<NodeKey, std::vector<size_t>> free;  // the last captured on top
    for (size_t i = graph.nodes.size(); i-- > 0;) {
      const CapturedNode& node = graph.nodes[i];
      if (node.kind == EventKind::kKernel && !node.seen) return {};
      free[key_of(node.kind, node.seen ? *node.seen : SeenKernel{})].push_back(i);
    }
    Fit fit;
    for (const EventId work : replay.work) {
      std::vector<size_t>& nodes =
          free[key_of(store_.kind(work), {store_.name(work), store_.gpu_work(work).grid})];
      if (nodes.empty()) return {};
      fit.nodes.push_back(nodes.back());
      nodes.pop_back();
    }
    fit.how = Fit::How::kByName;
    return fit;
  }

  using NodeKey = std::tuple<EventKind, std::string_view, uint32_t, uint32_t, uint32_t>;

  static NodeKey key_of(EventKind kind, const SeenKernel& kernel) {
    if (kind != EventKind::kKernel) return {kind, {}, 0, 0, 0};
    const Dim3 grid = kernel.grid.value_or(Dim3{});
    return {kind, kernel.name, grid.x, grid.y, grid.z};
  }

  const EventStore& store_;
  const EventStore& capture_;
  const std::vector<CapturedGraph>& graphs_;
  mutable std::vector<std::optional<std::string_view>> categories_;  // of kernels, by name
  std::map<size_t, std::vector<size_t>> by_size_;  // graphs, by their number of nodes
  std::map<std::vector<uint64_t>, Match> matches_;
};

// Captured calls in the interval of a graph launch, and the keys that tie kernels to them.
class StoreWithNodes {
 public:
  StoreWithNodes(const EventStore& replayed, const EventStore& capture)
      : replayed_(replayed), capture_(capture) {
    for (size_t i = 0; i < replayed.size(); ++i) {
      const EventId e(i);
      const std::optional<LaunchKey> key = is_gpu_work(replayed.kind(e)) ? replayed.gpu_work(e).key
                                           : is_launch(replayed.kind(e)) ? replayed.launch(e).key
                                                                         : std::nullopt;
      if (key) next_key_ = std::max(next_key_, key->id);
    }
  }

  void add(const Replay& replay, const CapturedGraph& graph, const std::vector<size_t>& nodes) {
    const int64_t first = next_key_ + 1;
    next_key_ += static_cast<int64_t>(graph.nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i)
      keys_[replay.work[i]] = {first + static_cast<int64_t>(nodes[i]), false};
    added_.push_back({replay.launch, &graph, first});
  }

  EventStore make() {
    EventStoreBuilder out;
    out.reserve(replayed_.size());
    copy_replayed(out);
    for (const Added& added : added_) add_calls(out, added);
    EventStore store = std::move(out).seal(replayed_.metadata(), replayed_.input_bytes());
    store.add_diagnostics(replayed_.diagnostics());
    return store;
  }

 private:
  struct Added {
    EventId launch;
    const CapturedGraph* graph;
    int64_t first_key;
  };

  // Rows keep their numbers and positions.
  void copy_replayed(EventStoreBuilder& out) const {
    const auto copied = [&](StringId id) {
      return id.valid() ? out.intern(replayed_.text(id)) : StringId{};
    };
    std::vector<bool> named(replayed_.track_count());
    for (size_t i = 0; i < replayed_.size(); ++i) {
      const EventId e(i);
      while (out.entries() < replayed_.uid(e)) out.skip_position();
      const EventStoreBuilder::Common common = out.common_of(replayed_, e);
      const auto key = keys_.find(e);
      out.add_copy(replayed_, e, common,
                   key == keys_.end() ? std::nullopt : std::optional(key->second));
      for (const CounterValue& counter : replayed_.counters(e))
        out.add_counter(copied(counter.name), counter.value);
      if (named[replayed_.track_id(e).index]) continue;
      named[replayed_.track_id(e).index] = true;
      const Track& track = replayed_.track(e);
      if (track.process_name.valid()) out.name_process(common.track, copied(track.process_name));
      if (track.process_label.valid()) out.label_process(common.track, copied(track.process_label));
      if (track.thread_name.valid()) out.name_thread(common.track, copied(track.thread_name));
    }
    while (out.entries() < replayed_.entries()) out.skip_position();
    for (Collective c : replayed_.collectives()) {
      for (StringId Collective::* field :
           {&Collective::name, &Collective::dtype, &Collective::group_name,
            &Collective::group_description, &Collective::group_ranks, &Collective::in_split,
            &Collective::out_split})
        c.*field = copied(c.*field);
      out.add_collective(c);
    }
  }

  // Times of the capture, squeezed into the launch: nesting and order stay.
  void add_calls(EventStoreBuilder& out, const Added& added) const {
    const Nanos begin = replayed_.start(added.launch), length = replayed_.duration(added.launch);
    const double captured =
        static_cast<double>(std::max<int64_t>(1, (added.graph->end - added.graph->begin).count));
    const auto moved = [&](Nanos time) {
      const double part = static_cast<double>((time - added.graph->begin).count) / captured;
      return Nanos{begin.count + static_cast<int64_t>(std::clamp(part, 0.0, 1.0) *
                                                      static_cast<double>(length.count))};
    };
    const TrackId track = out.common_of(replayed_, added.launch).track;
    int64_t key = added.first_key;
    for (const EventId e : added.graph->calls) {
      EventStoreBuilder::Common common = out.common_of(capture_, e);
      common.start = moved(capture_.start(e));
      common.duration = moved(capture_.end(e)) - common.start;
      common.track = track;
      const bool launch = is_launch(capture_.kind(e));
      out.add_copy(capture_, e, common,
                   launch ? std::optional(LaunchKey{key, false}) : std::nullopt);
      key += launch;
    }
  }

  const EventStore& replayed_;
  const EventStore& capture_;
  int64_t next_key_ = 0;
  std::map<EventId, LaunchKey> keys_;
  std::vector<Added> added_;
};

Error no_fit(const Trace& trace, const Trace& capture, const std::vector<Replay>& replays,
             const std::vector<CapturedGraph>& graphs) {
  size_t most = 0;
  for (const Replay& replay : replays) most = std::max(most, replay.work.size());
  std::set<size_t> sizes;
  for (const CapturedGraph& graph : graphs) sizes.insert(graph.nodes.size());
  return Error{fmt::format(
      "{} does not fit {}: it captures {} with {} to {} nodes, and no launch (of up to {} nodes) "
      "has their work in this order. Was it recorded by the same program?",
      capture.path, trace.path,
      graphs.size() == 1 ? "a graph" : fmt::format("{} graphs", graphs.size()), *sizes.begin(),
      *sizes.rbegin(), most)};
}

}  // namespace

Result<NamedGraphs> name_graph_nodes(Trace& trace, const Trace& capture) {
  const std::vector<Replay> replays = find_replays(trace);
  if (replays.empty())
    return Error{fmt::format("{} launches no graph: --capture names nothing in it", trace.path)};
  const std::vector<CapturedGraph> graphs = CaptureReader(capture).take();
  if (graphs.empty()) {
    return Error{
        fmt::format("{} has no graph capture: record it while the graph is captured (it needs "
                    "cudaStreamBeginCapture or hipStreamBeginCapture and the launches behind it)",
                    capture.path)};
  }
  NamedGraphs result{replays.size(), 0, 0, 0};
  Matcher matcher(trace.store, capture.store, graphs);
  StoreWithNodes with_nodes(trace.store, capture.store);
  for (const Replay& replay : replays) {
    const Matcher::Match& match = matcher.match(replay);
    result.ambiguous += match.ambiguous;
    if (match.fit.how == Fit::How::kNo || match.ambiguous) continue;
    with_nodes.add(replay, graphs[match.graph], match.fit.nodes);
    ++result.named;
    result.kernels += replay.work.size();
  }
  if (result.named == 0 && result.ambiguous == 0) return no_fit(trace, capture, replays, graphs);
  if (result.named == 0) {
    return Error{fmt::format(
        "{} captures several graphs that fit the launches of {} equally well. A trace that holds a "
        "run of the same ops before the capture tells them apart",
        capture.path, trace.path)};
  }
  trace.store = with_nodes.make();
  trace.tree = build_call_tree(trace.store);
  return result;
}

}  // namespace fathom
