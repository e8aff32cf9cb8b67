// The parts of a rank's time add up to it, with collectives of the GPU and of the host.
#include <algorithm>

#include "analyze/ranks/rank_facts.h"
#include "checks.h"
#include "invariants/every_trace.h"

namespace fathom {
namespace {

class RankLaws : public test::LawOfTraces {};

struct Edge {
  Nanos time;
  RankPart part;
  int change;
};

// Counted another way: at each moment the first of computation, communication and copies that is
// open; idle where none is.
RankParts parts_by_edges(const SheetInput& input, const DeviceWork& gpu, Nanos begin, Nanos end) {
  const EventStore& store = input.store;
  std::vector<Edge> edges;
  const auto add = [&](EventId e, RankPart part) {
    if (store.end(e) <= begin || store.start(e) >= end) return;
    edges.push_back({std::max(begin, store.start(e)), part, 1});
    edges.push_back({std::min(end, store.end(e)), part, -1});
  };
  for (const EventId e : gpu.work) {
    add(e, is_copy_event(store, e)               ? RankPart::kCopies
           : input.selection.is_communication(e) ? RankPart::kCommunication
                                                 : RankPart::kComputation);
  }
  for (const Collective& c : store.collectives()) {
    if (store.kind(c.event) == EventKind::kAnnotation) add(c.event, RankPart::kCommunication);
  }
  std::ranges::stable_sort(edges, {}, &Edge::time);
  edges.push_back({end, RankPart::kFirstIdle, 0});
  RankParts parts = {};
  int open[part_index(RankPart::kFirstIdle) + 1] = {};
  open[part_index(RankPart::kFirstIdle)] = 1;
  Nanos at = begin;
  for (const Edge& edge : edges) {
    const size_t part =
        static_cast<size_t>(std::ranges::find_if(open, [](int n) { return n > 0; }) - open);
    parts[part] += edge.time - at;
    at = edge.time;
    open[part_index(edge.part)] += edge.change;
  }
  return parts;
}

TEST_P(RankLaws, PartsOfTimeAddUpWithHostCollectivesToo) {
  const SheetInput input(trace().store, trace().tree, Scope{});
  const RankFacts facts = extract_rank(input, "trace");
  for (const Nanos part : facts.parts) EXPECT_GE(part.count, 0);
  EXPECT_EQ(total_of(facts.parts), facts.wall());
  EXPECT_GE(facts.hidden.count, 0);
  EXPECT_LE(facts.hidden, facts.communication);
  EXPECT_LE(facts.communication, facts.wall());
  const std::vector<DeviceWork> devices = work_by_device(input);
  if (devices.empty()) return;
  const DeviceWork& gpu =
      *std::ranges::max_element(devices, {}, [](const DeviceWork& d) { return d.work.size(); });
  const RankParts counted =
      parts_by_edges(input, gpu, facts.begin - facts.base_time.value_or(Nanos{}),
                     facts.end - facts.base_time.value_or(Nanos{}));
  for (const RankPart part : {RankPart::kComputation, RankPart::kCommunication, RankPart::kCopies})
    EXPECT_EQ(facts.parts[part_index(part)], counted[part_index(part)]) << part_index(part);
  EXPECT_EQ(facts.idle(), counted[part_index(RankPart::kFirstIdle)]);
}

FATHOM_FOR_EVERY_TRACE(RankLaws);

}  // namespace
}  // namespace fathom
