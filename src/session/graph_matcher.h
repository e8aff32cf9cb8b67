#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "session/captured_graphs.h"

namespace fathom {

// The GPU work of one graph launch, in the order in which it ran.
struct GraphReplay {
  EventId launch;
  std::vector<EventId> work;
};

std::vector<GraphReplay> find_graph_replays(const Trace& trace);

// How a captured graph fits a replay: the node of each piece of work.
struct GraphFit {
  enum class How : uint8_t { kNo, kByKind, kByName };
  How how = How::kNo;
  std::vector<size_t> nodes;
};

// Finds the captured graph of a launch.
class GraphMatcher {
 public:
  GraphMatcher(const EventStore& replayed, const EventStore& capture,
               const std::vector<CapturedGraph>& graphs);

  struct Match {
    size_t graph = 0;
    GraphFit fit;
    bool ambiguous = false;
  };
  const Match& match(const GraphReplay& replay);

 private:
  using NodeKey = std::tuple<EventKind, std::string_view, uint32_t, uint32_t, uint32_t>;

  static NodeKey key_of(EventKind kind, const SeenKernel& kernel);
  Match find(const GraphReplay& replay) const;
  bool same_calls(const CapturedGraph& a, const CapturedGraph& b) const;
  std::string_view category_of(EventId kernel) const;
  GraphFit fit_of(const GraphReplay& replay, const CapturedGraph& graph) const;
  GraphFit fit_in_order(const GraphReplay& replay, const CapturedGraph& graph) const;
  GraphFit fit_by_name(const GraphReplay& replay, const CapturedGraph& graph) const;

  const EventStore& store_;
  const EventStore& capture_;
  const std::vector<CapturedGraph>& graphs_;
  mutable std::vector<std::optional<std::string_view>> categories_;  // of kernels, by name
  std::map<size_t, std::vector<size_t>> by_size_;  // graphs, by their number of nodes
  std::map<std::vector<uint64_t>, Match> matches_;
};

}  // namespace fathom
