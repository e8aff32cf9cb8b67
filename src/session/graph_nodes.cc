#include "session/graph_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "session/graph_matcher.h"

namespace fathom {
namespace {

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

  void add(const GraphReplay& replay, const CapturedGraph& graph,
           const std::vector<size_t>& nodes) {
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
    for (const RecordedWait& wait : replayed_.waits()) out.add_wait(wait);
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

Error no_fit(const Trace& trace, const Trace& capture, const std::vector<GraphReplay>& replays,
             const std::vector<CapturedGraph>& graphs) {
  size_t most = 0;
  for (const GraphReplay& replay : replays) most = std::max(most, replay.work.size());
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
  const std::vector<GraphReplay> replays = find_graph_replays(trace);
  if (replays.empty())
    return Error{fmt::format("{} launches no graph: --capture names nothing in it", trace.path)};
  const std::vector<CapturedGraph> graphs = find_captured_graphs(capture);
  if (graphs.empty()) {
    return Error{
        fmt::format("{} has no graph capture: record it while the graph is captured (it needs "
                    "cudaStreamBeginCapture or hipStreamBeginCapture and the launches behind it)",
                    capture.path)};
  }
  NamedGraphs result{replays.size(), 0, 0, 0};
  GraphMatcher matcher(trace.store, capture.store, graphs);
  StoreWithNodes with_nodes(trace.store, capture.store);
  for (const GraphReplay& replay : replays) {
    const GraphMatcher::Match& match = matcher.match(replay);
    result.ambiguous += match.ambiguous;
    if (match.fit.how == GraphFit::How::kNo || match.ambiguous) continue;
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
