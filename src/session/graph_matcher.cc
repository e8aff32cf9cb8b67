#include "session/graph_matcher.h"

#include <algorithm>
#include <set>

#include "base/kernel_traits.h"
#include "cost/op_category.h"

namespace fathom {
namespace {

// Of the nodes that can be checked by their kind of work, so many have to agree.
constexpr double kAgreeing = 0.8;
// Captured graphs that a launch is compared with: servers capture one for each of some dozen batch
// sizes, and cost stays linear whatever a file holds.
constexpr size_t kMostCandidates = 256;

bool is_graph_launch_call(const EventStore& store, EventId event) {
  return is_launch(store.kind(event)) &&
         store.name(event).find("GraphLaunch") != std::string_view::npos;
}

}  // namespace

std::vector<GraphReplay> find_graph_replays(const Trace& trace) {
  const EventStore& store = trace.store;
  std::vector<GraphReplay> replays;
  for (CallId c(0); c.index < trace.tree.size(); ++c.index) {
    const EventId event = trace.tree.event(c);
    if (!is_graph_launch_call(store, event)) continue;
    const std::span<const EventId> work = trace.tree.launched_by(c);
    if (work.empty()) continue;
    GraphReplay replay{event, {work.begin(), work.end()}};
    std::ranges::sort(replay.work, [&store](EventId a, EventId b) {
      return std::tuple(store.start(a), a) < std::tuple(store.start(b), b);
    });
    replays.push_back(std::move(replay));
  }
  return replays;
}

GraphMatcher::GraphMatcher(const EventStore& replayed, const EventStore& capture,
                           const std::vector<CapturedGraph>& graphs)
    : store_(replayed), capture_(capture), graphs_(graphs), categories_(replayed.text_count()) {
  for (size_t g = 0; g < graphs.size(); ++g) by_size_[graphs[g].nodes.size()].push_back(g);
}

const GraphMatcher::Match& GraphMatcher::match(const GraphReplay& replay) {
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

GraphMatcher::Match GraphMatcher::find(const GraphReplay& replay) const {
  Match best;
  const auto candidates = by_size_.find(replay.work.size());
  if (candidates == by_size_.end()) return best;
  for (size_t i = 0; i < std::min(kMostCandidates, candidates->second.size()); ++i) {
    const size_t g = candidates->second[i];
    GraphFit fit = fit_of(replay, graphs_[g]);
    if (fit.how == GraphFit::How::kNo || fit.how < best.fit.how) continue;
    if (fit.how == best.fit.how) {
      // The same ops captured twice are one graph to us.
      if (!same_calls(graphs_[g], graphs_[best.graph])) best.ambiguous = true;
      continue;
    }
    best = {g, std::move(fit), false};
  }
  return best;
}

bool GraphMatcher::same_calls(const CapturedGraph& a, const CapturedGraph& b) const {
  return std::ranges::equal(a.calls, b.calls, [this](EventId x, EventId y) {
    return capture_.name_id(x) == capture_.name_id(y) && capture_.args_id(x) == capture_.args_id(y);
  });
}

// Each name is looked at once, however many graphs it is compared with.
std::string_view GraphMatcher::category_of(EventId kernel) const {
  std::optional<std::string_view>& known = categories_[store_.name_id(kernel).index];
  if (!known) known = kernel_category(store_.name(kernel));
  return *known;
}

GraphFit GraphMatcher::fit_of(const GraphReplay& replay, const CapturedGraph& graph) const {
  GraphFit in_order = fit_in_order(replay, graph);
  if (in_order.how != GraphFit::How::kNo) return in_order;
  return fit_by_name(replay, graph);
}

GraphFit GraphMatcher::fit_in_order(const GraphReplay& replay, const CapturedGraph& graph) const {
  size_t named = 0, checked = 0, agreeing = 0, kernels = 0;
  std::set<std::optional<int64_t>> streams;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const CapturedNode& node = graph.nodes[i];
    const EventId work = replay.work[i];
    streams.insert(store_.gpu_work(work).stream);
    if (store_.kind(work) != node.kind) return {};
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
  GraphFit fit;
  if (named * 2 > kernels) {
    fit.how = GraphFit::How::kByName;
  } else if (streams.size() == 1) {
    // On several streams the order of time is not the order of the capture.
    fit.how = GraphFit::How::kByKind;
  } else {
    return {};
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) fit.nodes.push_back(i);
  return fit;
}

// Whatever the order, where the names of all kernels are known.
GraphFit GraphMatcher::fit_by_name(const GraphReplay& replay, const CapturedGraph& graph) const {
  std::map<NodeKey, std::vector<size_t>> free;  // the last captured on top
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const CapturedNode& node = graph.nodes[i];
    if (node.kind == EventKind::kKernel && !node.seen) return {};
    free[key_of(node.kind, node.seen ? *node.seen : SeenKernel{})].push_back(i);
  }
  GraphFit fit;
  for (const EventId work : replay.work) {
    std::vector<size_t>& nodes =
        free[key_of(store_.kind(work), {store_.name(work), store_.gpu_work(work).grid})];
    if (nodes.empty()) return {};
    fit.nodes.push_back(nodes.back());
    nodes.pop_back();
  }
  fit.how = GraphFit::How::kByName;
  return fit;
}

GraphMatcher::NodeKey GraphMatcher::key_of(EventKind kind, const SeenKernel& kernel) {
  if (kind != EventKind::kKernel) return {kind, {}, 0, 0, 0};
  const Dim3 grid = kernel.grid.value_or(Dim3{});
  return {kind, kernel.name, grid.x, grid.y, grid.z};
}

}  // namespace fathom
