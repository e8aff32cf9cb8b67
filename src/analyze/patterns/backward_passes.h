#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyze/patterns/pattern_input.h"

namespace fathom::patterns {

// Which call of backward() each node of the graph runs in. The engine takes the node with the
// highest sequence number of those that are ready: in one pass the numbers fall.
class BackwardPasses {
 public:
  explicit BackwardPasses(const PatternInput& in);

  // Of an autograd::engine::evaluate_function; 0 of others.
  size_t of(EventId node) const;
  // Nodes that ran in an earlier pass of the step, in the order of their calls.
  const std::vector<CallId>& again() const { return again_; }
  // How often the node that ran most often ran in one step.
  size_t most_times() const { return most_times_; }

 private:
  void find_recorded_graphs(const PatternInput& in);
  void add(const PatternInput& in, CallId node);

  struct Node {
    int64_t sequence, forward_thread;
    StringId name;
    size_t step;  // numbers may begin again in the next one
    bool operator==(const Node&) const = default;
  };
  struct NodeHash {
    size_t operator()(const Node& node) const {
      return std::hash<int64_t>{}(node.sequence * 31 + node.forward_thread) ^ node.name.index;
    }
  };
  std::unordered_map<EventId, size_t> pass_of_;
  std::unordered_map<Node, size_t, NodeHash> times_;
  std::unordered_set<size_t> with_graph_;  // steps whose backward passes record a graph themselves
  std::vector<CallId> again_;
  size_t pass_ = 0, most_times_ = 0;
  TrackId track_;
  std::optional<int64_t> last_sequence_;
};

}  // namespace fathom::patterns
