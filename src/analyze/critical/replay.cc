#include "analyze/critical/replay.h"

#include <algorithm>

namespace fathom {
namespace {

// A predecessor of a node: it begins no earlier than `lag` after this one's end, or, where the two
// overlapped on a stream, as far from this one's end and begin as recorded.
struct Before {
  uint32_t node;
  int64_t lag;
  PathLink link;
  bool overlaps;
};

class BeforeFinder {
 public:
  BeforeFinder(const CriticalGraph& graph, Outlook outlook, const std::vector<bool>* removed)
      : g_(graph), pessimistic_(outlook == Outlook::kPessimistic), removed_(removed) {}

  // `edge`: the place of the node's first edge. False: nothing is known to come before the node, so
  // that it begins no earlier than recorded.
  template <typename Visit>
  bool visit(uint32_t node, size_t edge, Visit visit) const {
    using Kind = GraphEdge::Kind;
    const int64_t start = g_.start[node];
    const bool on_gpu = is_on_gpu(g_.kind[node]);
    const bool gone = removed_ != nullptr && (*removed_)[node];
    const uint32_t previous = g_.previous[node], launch = gone ? kNoNode : g_.launch[node];
    int64_t known = -1;
    if (previous != kNoNode) known = std::min(g_.end(previous), start);
    if (launch != kNoNode) known = std::max(known, g_.end(launch));
    const bool waits = !gone || on_gpu;
    size_t end = edge;
    for (; end < g_.edges.size() && g_.edges[end].node == node; ++end) {
      if (!waits || g_.edges[end].kind == Kind::kPossible) continue;
      if (pessimistic_ && g_.edges[end].kind == Kind::kInferred) continue;
      known = std::max(known, g_.end(g_.edges[end].before));
    }
    const int64_t delay = start - known;
    // What a launch takes to reach the GPU is no delay for work that is queued behind other work.
    const bool was_launched_last = launch != kNoNode && known == g_.end(launch);
    const int64_t unexplained =
        was_launched_last ? std::max<int64_t>(0, delay - g_.launch_latency) : delay;
    const auto lag = [&](int64_t recorded_end, int64_t usual) -> int64_t {
      if (gone) return 0;
      if (recorded_end == known) return delay;
      return std::min(start - recorded_end, pessimistic_ ? std::max(unexplained, usual) : usual);
    };
    if (previous != kNoNode) {
      const int64_t ended = g_.end(previous);
      const bool overlaps = ended > start;
      visit(Before{previous, overlaps ? 0 : lag(ended, on_gpu ? g_.stream_gap : 0),
                   PathLink::kOrder, overlaps});
    }
    if (launch != kNoNode)
      visit(Before{launch, lag(g_.end(launch), g_.launch_latency), PathLink::kLaunch, false});
    for (size_t i = edge; waits && i < end; ++i) {
      const GraphEdge& e = g_.edges[i];
      const int64_t ended = g_.end(e.before);
      if (e.kind == Kind::kPossible) {
        if (pessimistic_) visit(Before{e.before, 0, PathLink::kInferred, false});
        continue;
      }
      const bool inferred = e.kind == Kind::kInferred;
      const int64_t after = inferred && pessimistic_ && !gone ? start - ended : lag(ended, 0);
      visit(Before{e.before, after, inferred ? PathLink::kInferred : PathLink::kWait, false});
    }
    return known >= 0 || gone;
  }

 private:
  const CriticalGraph& g_;
  bool pessimistic_;
  const std::vector<bool>* removed_;
};

int64_t duration_of(const CriticalGraph& g, const GraphChange& change, Outlook outlook,
                    uint32_t node) {
  const bool is_wait = g.kind[node] == NodeKind::kPause && outlook == Outlook::kOptimistic;
  return is_wait ? 0 : change.duration[node];
}

// The earliest begin that one predecessor allows.
int64_t allowed_by(const CriticalGraph& g, const GraphChange& change, Outlook outlook,
                   const std::vector<int64_t>& ends, uint32_t node, const Before& before) {
  const int64_t end = ends[before.node];
  if (!before.overlaps) return end + before.lag;
  const int64_t begin = end - duration_of(g, change, outlook, before.node);
  const int64_t by_end = std::max(begin, end - (g.end(before.node) - g.start[node]));
  if (outlook == Outlook::kOptimistic) return by_end;
  // Concurrent work may have begun for other reasons: it keeps its distance.
  return std::max(by_end, begin + (g.start[node] - g.start[before.node]));
}

bool counts(const CriticalGraph& g, uint32_t node) {
  return g.last_host == kNoNode || node == g.last_host || is_on_gpu(g.kind[node]);
}

}  // namespace

GraphChange::GraphChange(const CriticalGraph& graph)
    : duration(graph.duration), removed(graph.size()) {}

void replay(const CriticalGraph& g, const GraphChange& change, Outlook outlook,
            Replayed& replayed) {
  replayed.ends.resize(g.size());
  replayed.length = 0;
  replayed.last = kNoNode;
  const BeforeFinder finder(g, outlook, &change.removed);
  size_t edge = 0;
  for (uint32_t i = 0; i < g.size(); ++i) {
    while (edge < g.edges.size() && g.edges[edge].node < i) ++edge;
    int64_t begin = 0;
    const bool follows = finder.visit(i, edge, [&](const Before& before) {
      begin = std::max(begin, allowed_by(g, change, outlook, replayed.ends, i, before));
    });
    if (!follows) begin = std::max(begin, g.start[i]);
    replayed.ends[i] = begin + duration_of(g, change, outlook, i);
    if (counts(g, i) && replayed.ends[i] > replayed.length) {
      replayed.length = replayed.ends[i];
      replayed.last = i;
    }
  }
}

int64_t time_on_path(const CriticalGraph& g, const GraphChange& change, uint32_t node) {
  return duration_of(g, change, Outlook::kOptimistic, node);
}

std::vector<PathStep> find_path(const CriticalGraph& g, const GraphChange& change,
                                const Replayed& replayed) {
  constexpr Outlook kOutlook = Outlook::kOptimistic;
  std::vector<PathStep> path;
  path.reserve(g.size());  // the most it can be; what is not used costs no memory
  const BeforeFinder finder(g, kOutlook, &change.removed);
  for (uint32_t node = replayed.last; node != kNoNode;) {
    const int64_t begin = replayed.ends[node] - duration_of(g, change, kOutlook, node);
    const auto edge = static_cast<size_t>(
        std::ranges::lower_bound(g.edges, node, {}, &GraphEdge::node) - g.edges.begin());
    uint32_t next = kNoNode;
    PathStep step{begin, node, PathLink::kNone};
    finder.visit(node, edge, [&](const Before& before) {
      if (next != kNoNode || allowed_by(g, change, kOutlook, replayed.ends, node, before) != begin)
        return;
      next = before.node;
      step.link = before.link;
      step.delay = begin - replayed.ends[before.node];
    });
    path.push_back(step);
    node = next;
  }
  return path;
}

std::vector<int64_t> find_slack(const CriticalGraph& g) {
  std::vector<int64_t> latest(g.size(), g.length);
  const BeforeFinder finder(g, Outlook::kPessimistic, nullptr);
  size_t edge = g.edges.size();
  for (auto i = static_cast<uint32_t>(g.size()); i-- > 0;) {
    while (edge > 0 && g.edges[edge - 1].node >= i) --edge;
    const int64_t begin = latest[i] - g.duration[i];
    finder.visit(i, edge, [&](const Before& before) {
      int64_t end = begin - before.lag;
      if (before.overlaps) end = begin - g.start[i] + g.end(before.node);
      latest[before.node] = std::min(latest[before.node], end);
    });
  }
  for (uint32_t i = 0; i < g.size(); ++i) latest[i] -= g.end(i);
  return latest;
}

}  // namespace fathom
