// Builds the graph of waits: works of streams, segments of threads, then both in one order of time.
#include <algorithm>
#include <array>
#include <span>
#include <tuple>

#include "analyze/critical/graph.h"
#include "analyze/critical/host_parts.h"
#include "analyze/host_threads.h"
#include "base/sort_runs.h"

namespace fathom {
namespace {

// 13 days: sums of scaled times stay far from the limits of an int64.
constexpr int64_t kLongestWindow = int64_t{1} << 50;
constexpr size_t kEnoughEvents = 100'000;  // of a trace: more steps are left out
constexpr size_t kMostNodes = 24'000'000;  // over a gigabyte with what a replay needs
constexpr int64_t kUnexplained = 10'000;   // ns beyond the usual latency
constexpr int64_t kDefaultLatency = 3'000, kDefaultGap = 1'000;
constexpr size_t kEnoughSamples = 10;

int64_t median_of(std::vector<int64_t>& values, int64_t fallback) {
  if (values.size() < kEnoughSamples) return fallback;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

class GraphBuilder {
 public:
  GraphBuilder(const SheetInput& input, const TimeBase& base)
      : input_(input), store_(input.store), base_(base) {}

  CriticalGraph build() {
    if (!find_window()) return std::move(graph_);
    list_works();
    if (host_.works.empty()) {
      graph_.missing = "no GPU work in the steps";
      return std::move(graph_);
    }
    segment_threads(input_, host_);
    if (host_.segments.size() + host_.works.size() > kMostNodes) {
      graph_.missing = "too many events";
      return std::move(graph_);
    }
    order_nodes();
    add_edges();
    measure_latencies();
    infer_causes();
    infer_handovers();
    std::ranges::sort(graph_.edges, [](const GraphEdge& a, const GraphEdge& b) {
      return std::tie(a.node, a.before, a.kind) < std::tie(b.node, b.before, b.kind);
    });
    return std::move(graph_);
  }

 private:
  bool find_window() {
    if (base_.steps.empty()) {
      graph_.missing = "no GPU work";
      return false;
    }
    const BaseStep &first = base_.steps.front(), &last = base_.steps.back();
    Nanos begin = first.begin, end = last.end;
    launched_from_ = first.begin;
    launched_until_ = last.end;
    if (first.annotation.valid()) {
      size_t from = 0, to = base_.steps.size();
      choose_steps(from, to);
      host_.step_track = store_.track_id(first.annotation);
      // The host may be steps ahead of the GPU: its part of the window may be over already.
      begin = base_.steps[from].begin;
      launched_from_ = store_.start(base_.steps[from].annotation);
      launched_until_ = end = store_.end(base_.steps[to - 1].annotation);
      graph_.steps = to - from;
    }
    // Times of a damaged trace may be anything: the difference is taken without overflow.
    const double length = static_cast<double>(end.count) - static_cast<double>(begin.count);
    if (length > static_cast<double>(kLongestWindow)) {
      graph_.missing = "the recorded times span over 13 days";
      return false;
    }
    graph_.begin = host_.begin = begin;
    host_.host_end = length > 0 ? (end - begin).count : 0;
    graph_.length = graph_.steps > 0 ? host_.host_end : 0;
    return true;
  }

  // Of many steps with many events those in the middle: their path is that of the others, and the
  // graph takes no more than a part of what the trace does.
  void choose_steps(size_t& from, size_t& to) {
    const size_t all = to - from;
    graph_.all_steps = all;
    if (store_.size() <= kEnoughEvents) return;
    const size_t fitting = std::max<size_t>(1, all * kEnoughEvents / store_.size());
    if (fitting >= all) return;
    from += (all - fitting) / 2;
    to = from + fitting;
  }

  // Work belongs to the window if it was launched in its steps; without a launch, if it begins in
  // them.
  void list_works() {
    host_.work_of_event.assign(store_.size(), kNoNode);
    for (const EventId e : all_selected(input_)) {
      const CallId call = input_.tree.has_launches() ? input_.tree.launch(e) : CallId{};
      const Nanos anchor = call.valid() ? store_.start(input_.tree.event(call)) : store_.start(e);
      if (anchor < launched_from_ || anchor > launched_until_) continue;
      const double start =
          static_cast<double>(store_.start(e).count) - static_cast<double>(host_.begin.count);
      const double end = start + static_cast<double>(store_.duration(e).count);
      if (start < -static_cast<double>(kLongestWindow) ||
          end > static_cast<double>(kLongestWindow)) {
        ++graph_.early_work;
        continue;
      }
      GraphWork work;
      work.event = e;
      // What runs when the window begins counts from there.
      work.start = std::max<int64_t>(0, (store_.start(e) - host_.begin).count);
      work.end = std::max(work.start, (store_.end(e) - host_.begin).count);
      const int64_t launched = (anchor - host_.begin).count;
      work.launched = call.valid() ? std::max<int64_t>(0, launched) : -1;
      work.track = store_.track_id(e);
      graph_.length = std::max(graph_.length, work.end);
      host_.works.push_back(work);
    }
    std::ranges::sort(host_.works, [](const GraphWork& a, const GraphWork& b) {
      return std::tie(a.track, a.start, a.end, a.event) <
             std::tie(b.track, b.start, b.end, b.event);
    });
    for (uint32_t i = 0; i < host_.works.size(); ++i) chain_work(i);
  }

  void chain_work(uint32_t i) {
    GraphWork& work = host_.works[i];
    host_.work_of_event[work.event.index] = i;
    const bool is_new = i == 0 || host_.works[i - 1].track != work.track;
    if (is_new) host_.streams.push_back({i, i});
    host_.streams.back().end = i + 1;
    work.stream = static_cast<uint32_t>(host_.streams.size() - 1);
    if (is_new) {
      work.latest = i;
      work.launched_by_then = work.launched;
      return;
    }
    const GraphWork& before = host_.works[i - 1];
    // Works of a stream may overlap: wait for the one that ends last, if it ended at all.
    work.previous = host_.works[before.latest].end <= work.start ? before.latest : i - 1;
    work.latest = host_.works[before.latest].end > work.end ? before.latest : i;
    work.launched_by_then = std::max(before.launched_by_then, work.launched);
  }

  NodeKind kind_of(EventId work) const {
    if (store_.kind(work) == EventKind::kMemcpy) return NodeKind::kCopy;
    if (store_.kind(work) == EventKind::kMemset) return NodeKind::kMemset;
    return input_.selection.is_communication(work) ? NodeKind::kCollective : NodeKind::kKernel;
  }

  // Segments and works as one list, by time. What has no length comes first.
  void order_nodes() {
    const size_t segments = host_.segments.size();
    std::vector<uint32_t> order;
    order.reserve(segments + host_.works.size());
    for (uint32_t i = 0; i < segments; ++i)
      if (!host_.segments[i].dropped) order.push_back(i);
    for (uint32_t i = 0; i < host_.works.size(); ++i)
      order.push_back(static_cast<uint32_t>(segments) + i);
    const auto times = [&](uint32_t item) {
      if (item < segments) return std::pair(host_.segments[item].begin, host_.segments[item].end);
      const GraphWork& work = host_.works[item - segments];
      return std::pair(work.start, work.end);
    };
    sort_runs(order, [&](uint32_t a, uint32_t b) { return times(a) < times(b); });
    node_of_.assign(segments + host_.works.size(), kNoNode);
    for (uint32_t i = 0; i < order.size(); ++i) node_of_[order[i]] = i;
    for (auto* column : {&graph_.start, &graph_.duration}) column->reserve(order.size());
    graph_.event.reserve(order.size());
    graph_.kind.reserve(order.size());
    graph_.first_slice.reserve(order.size());
    graph_.slice_count.reserve(order.size());
    graph_.slices = std::move(host_.slices);
    graph_.previous.assign(order.size(), kNoNode);
    graph_.launch.assign(order.size(), kNoNode);
    for (const uint32_t item : order) {
      const auto [begin, end] = times(item);
      graph_.start.push_back(begin);
      graph_.duration.push_back(end - begin);
      const bool is_host = item < segments;
      graph_.event.push_back(is_host ? host_.segments[item].event
                                     : host_.works[item - segments].event);
      graph_.kind.push_back(is_host ? host_.segments[item].kind : kind_of(graph_.event.back()));
      graph_.first_slice.push_back(is_host ? host_.segments[item].first_slice : 0);
      graph_.slice_count.push_back(is_host ? host_.segments[item].slice_count : uint16_t{0});
    }
    link_threads();
    link_works(static_cast<uint32_t>(segments));
  }

  void link_threads() {
    for (const GraphThread& thread : host_.threads) {
      uint32_t last = kNoNode;
      for (uint32_t i = thread.begin; i < thread.end; ++i) {
        if (host_.segments[i].dropped) continue;
        graph_.previous[node_of_[i]] = last;
        last = node_of_[i];
      }
      if (graph_.steps > 0 && thread.is_main) graph_.last_host = last;
    }
    if (graph_.last_host == kNoNode)
      for (uint32_t i = 0; i < graph_.size(); ++i)
        graph_.length = std::max(graph_.length, graph_.end(i));
  }

  void link_works(uint32_t segments) {
    for (uint32_t i = 0; i < host_.works.size(); ++i) {
      const GraphWork& work = host_.works[i];
      const uint32_t node = node_of_[segments + i];
      if (work.previous != kNoNode) graph_.previous[node] = node_of_[segments + work.previous];
      if (work.release == kNoNode) continue;
      const uint32_t release = node_of_[work.release];
      if (release < node && graph_.end(release) <= work.start) {
        graph_.launch[node] = release;
      } else {
        ++graph_.early_work;
      }
    }
  }

  void add_edges() {
    const auto place = [&](const HostEdge& edge) {
      return edge.from_work ? node_of_[host_.segments.size() + edge.before] : node_of_[edge.before];
    };
    for (const HostEdge& edge : host_.edges) {
      const uint32_t node =
          edge.to_work ? node_of_[host_.segments.size() + edge.node] : node_of_[edge.node];
      const uint32_t before = place(edge);
      // Damaged times may make a circle: an edge that does not lead forward is none.
      if (node == kNoNode || before == kNoNode || before >= node) continue;
      if (graph_.end(before) > graph_.start[node]) continue;
      graph_.edges.push_back({node, before, edge.kind});
    }
    host_.edges = {};
    std::ranges::sort(graph_.edges, {}, &GraphEdge::node);
    keep_true_pauses();
  }

  // A pause that may be a wait ends with another thread's work. Where the edge from that did not
  // hold it is time of the host like any other.
  void keep_true_pauses() {
    size_t edge = 0;
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const uint32_t before = graph_.previous[i];
      if (before == kNoNode || graph_.kind[before] != NodeKind::kPause) continue;
      bool is_ended = false;
      while (edge < graph_.edges.size() && graph_.edges[edge].node < i) ++edge;
      for (size_t e = edge; e < graph_.edges.size() && graph_.edges[e].node == i; ++e)
        is_ended = is_ended || graph_.end(graph_.edges[e].before) == graph_.start[i];
      if (is_ended) continue;
      graph_.kind[before] = NodeKind::kHost;
      graph_.first_slice[before] = static_cast<uint32_t>(graph_.slices.size());
      graph_.slice_count[before] = 1;
      graph_.slices.push_back({graph_.event[before], static_cast<uint32_t>(std::min<int64_t>(
                                                         graph_.duration[before], UINT32_MAX))});
      graph_.event[before] = {};
    }
  }

  // The latest end of what is known to come before a node; nothing: nothing does.
  struct Known {
    int64_t end = -1;
    bool by_launch = false;
  };
  Known known_before(uint32_t node, size_t& edge) const {
    Known known;
    if (const uint32_t p = graph_.previous[node]; p != kNoNode)
      known.end = std::min(graph_.end(p), graph_.start[node]);
    if (const uint32_t l = graph_.launch[node]; l != kNoNode && graph_.end(l) > known.end)
      known = {graph_.end(l), true};
    while (edge < known_edges_ && graph_.edges[edge].node < node) ++edge;
    for (; edge < known_edges_ && graph_.edges[edge].node == node; ++edge) {
      if (graph_.edges[edge].kind == GraphEdge::Kind::kPossible) continue;
      if (const int64_t end = graph_.end(graph_.edges[edge].before); end > known.end)
        known = {end, false};
    }
    return known;
  }

  void measure_latencies() {
    constexpr int64_t kLongest = 100'000;
    std::vector<int64_t> launches, gaps;
    known_edges_ = graph_.edges.size();
    size_t edge = 0;
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (!is_on_gpu(graph_.kind[i])) continue;
      const Known known = known_before(i, edge);
      const int64_t delay = graph_.start[i] - known.end;
      if (known.end < 0 || delay > kLongest) continue;
      (known.by_launch ? launches : gaps).push_back(delay);
    }
    graph_.launch_latency = median_of(launches, kDefaultLatency);
    graph_.stream_gap = median_of(gaps, kDefaultGap);
  }

  // Work that begins long after all that is known to come before it, and right after work of
  // another stream has ended, most likely waited for that.
  void infer_causes() {
    std::vector<uint32_t> by_end;
    for (uint32_t i = 0; i < graph_.size(); ++i)
      if (is_on_gpu(graph_.kind[i])) by_end.push_back(i);
    std::ranges::sort(by_end, [this](uint32_t a, uint32_t b) {
      return std::pair(graph_.end(a), a) < std::pair(graph_.end(b), b);
    });
    const int64_t usual = std::max(graph_.launch_latency, graph_.stream_gap);
    size_t edge = 0;
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (!is_on_gpu(graph_.kind[i])) continue;
      const Known known = known_before(i, edge);
      if (known.end < 0 || graph_.start[i] - known.end <= usual + kUnexplained) continue;
      const auto after = std::ranges::upper_bound(
          by_end, graph_.start[i], {}, [this](uint32_t node) { return graph_.end(node); });
      constexpr int kLooked = 8;
      auto at = after;
      for (int n = 0; n < kLooked && at != by_end.begin(); ++n) {
        const uint32_t cause = *--at;
        if (graph_.end(cause) <= known.end ||
            graph_.start[i] - graph_.end(cause) > usual + kUnexplained)
          break;
        if (cause >= i || store_.track_id(graph_.event[cause]) == store_.track_id(graph_.event[i]))
          continue;
        graph_.edges.push_back({i, cause, GraphEdge::Kind::kInferred});
        break;
      }
    }
  }

  // A thread whose first call comes right after the last call of others of its process was most
  // likely waiting for them: joining threads leaves no record.
  void infer_handovers() {
    constexpr int64_t kLongestHandover = 10'000'000;  // a thread frees its memory at its end
    std::vector<uint32_t> by_end;
    for (uint32_t i = 0; i < host_.segments.size(); ++i)
      if (node_of_[i] != kNoNode) by_end.push_back(i);
    std::ranges::stable_sort(by_end, {}, [this](uint32_t i) { return host_.segments[i].end; });
    for (const GraphThread& thread : host_.threads) {
      uint32_t first = thread.begin;
      while (first < thread.end && node_of_[first] == kNoNode) ++first;
      if (first == thread.end) continue;
      const uint32_t node = node_of_[first];
      const int64_t begin = host_.segments[first].begin;
      const std::span known(graph_.edges.data(), known_edges_);
      if (std::ranges::binary_search(known, node, {}, &GraphEdge::node)) continue;
      auto at = std::ranges::upper_bound(by_end, begin, {},
                                         [this](uint32_t i) { return host_.segments[i].end; });
      if (at == by_end.begin() || begin - host_.segments[*--at].end > kLongestHandover) continue;
      const auto owner = std::ranges::upper_bound(host_.threads, *at, {}, &GraphThread::end);
      if (owner->pid == thread.pid && node_of_[*at] < node)
        graph_.edges.push_back({node, node_of_[*at], GraphEdge::Kind::kInferred});
    }
  }

  const SheetInput& input_;
  const EventStore& store_;
  const TimeBase& base_;
  Nanos launched_from_, launched_until_;
  CriticalGraph graph_;
  HostParts host_;
  std::vector<uint32_t> node_of_;  // of segments, then of works
  size_t known_edges_ = 0;         // sorted by node; later ones are inferred
};

}  // namespace

CriticalGraph build_critical_graph(const SheetInput& input, const TimeBase& base) {
  CriticalGraph graph = GraphBuilder(input, base).build();
  if (!graph.empty()) {
    for (const Interval& span : profiler_overheads(input.store))
      graph.profiler.emplace_back((span.begin - graph.begin).count, (span.end - graph.begin).count);
  }
  return graph;
}

}  // namespace fathom
