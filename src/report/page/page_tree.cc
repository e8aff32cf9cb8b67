#include "report/page/page_tree.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analyze/place.h"
#include "base/hash.h"
#include "base/json_writer.h"
#include "base/utf8.h"

namespace fathom {
namespace {

constexpr size_t kMostNodes = 4000, kDeepest = 100, kNodeName = 200;

// Paths that share their beginnings.
class PathTree {
 public:
  PathTree() { nodes_.emplace_back(); }

  uint32_t child(uint32_t parent, StringId name) {
    if (nodes_[parent].depth >= kDeepest) return parent;
    const auto [known, is_new] =
        children_.try_emplace(uint64_t{parent} << 32 | name.index, nodes_.size());
    if (is_new) {
      nodes_.push_back({parent, nodes_[parent].depth + 1, name, {}, 0});
    }
    return known->second;
  }
  void add(uint32_t node, Nanos time) {
    nodes_[node].time += time;
    ++nodes_[node].events;
  }

  // A parent is made before its children.
  std::string json(const EventStore& store) {
    for (size_t i = nodes_.size(); i-- > 1;) {
      nodes_[nodes_[i].parent].time += nodes_[i].time;
      nodes_[nodes_[i].parent].events += nodes_[i].events;
    }
    std::vector<int64_t> times;
    for (const Node& node : nodes_) times.push_back(node.time.count);
    std::ranges::sort(times, std::greater{});
    least_ = times.size() > kMostNodes ? times[kMostNodes] + 1 : 1;
    below_.assign(nodes_.size(), {});
    for (uint32_t i = 1; i < nodes_.size(); ++i)
      if (nodes_[i].time.count >= least_) below_[nodes_[i].parent].push_back(i);
    JsonWriter json(false);
    write(json, store, 0);
    return json.take();
  }

 private:
  struct Node {
    uint32_t parent = 0, depth = 0;
    StringId name;
    Nanos time;
    size_t events = 0;
  };

  // At most kDeepest deep.
  void write(JsonWriter& json, const EventStore& store, uint32_t node) {
    std::vector<uint32_t>& below = below_[node];
    std::ranges::stable_sort(
        below, [this](uint32_t x, uint32_t y) { return nodes_[y].time < nodes_[x].time; });
    json.begin_array();
    json.value(with_unseen_escaped(cut_to_bytes(store.text(nodes_[node].name), kNodeName)));
    json.value(nodes_[node].time.count).value(static_cast<int64_t>(nodes_[node].events));
    json.begin_array();
    for (const uint32_t child : below) write(json, store, child);
    json.end_array().end_array();
  }

  std::vector<Node> nodes_;
  std::unordered_map<uint64_t, uint32_t, TableHash> children_;
  std::vector<std::vector<uint32_t>> below_;
  int64_t least_ = 1;
};

class TreeMaker {
 public:
  explicit TreeMaker(const SheetInput& input)
      : input_(input), store_(input.store), call_nodes_(input.tree.size(), kUnknown) {}

  std::string make() {
    for (const EventId e : all_selected(input_)) {
      const CallId launch = input_.tree.launch(e);
      const Nanos time = store_.duration(e);
      if (time.count < 0) continue;
      const bool has_launch = launch.valid() && input_.tree.event(launch) != e;
      const uint32_t around = has_launch ? node_of_call(launch) : 0;
      calls_.add(calls_.child(around, store_.name_id(e)), time);
      if (!has_launch) continue;
      const EventId frame = input_.tree.frame(launch);
      if (!frame.valid()) continue;
      modules_.add(modules_.child(node_of_module(frame), store_.name_id(e)), time);
    }
    std::string out = "{\"calls\":" + calls_.json(store_);
    if (has_modules_) out += ",\"modules\":" + modules_.json(store_);
    return out + "}";
  }

 private:
  static constexpr uint32_t kUnknown = UINT32_MAX;

  // The chain above is walked without recursion: a hostile trace nests deeply.
  uint32_t node_of_call(CallId call) {
    std::vector<CallId> chain;
    CallId at = call;
    for (; at.valid() && call_nodes_[at.index] == kUnknown; at = input_.tree.parent(at))
      chain.push_back(at);
    uint32_t node = at.valid() ? call_nodes_[at.index] : kUnknown;
    while (!chain.empty()) {
      const CallId next = chain.back();
      chain.pop_back();
      if (node == kUnknown) {
        const EventId frame = input_.tree.frame(next);
        node = frame.valid() ? node_of_frame(frame) : 0;
      }
      const EventId event = input_.tree.event(next);
      // The call that launches says less than the kernel below it.
      if (store_.kind(event) == EventKind::kCpuOp) node = calls_.child(node, store_.name_id(event));
      call_nodes_[next.index] = node;
    }
    return node;
  }

  template <typename Next>
  uint32_t node_of_chain(std::unordered_map<uint32_t, uint32_t>& known, EventId frame, Next next) {
    std::vector<EventId> chain;
    EventId at = frame;
    for (; at.valid() && !known.contains(at.index); at = input_.tree.parent_frame(at))
      chain.push_back(at);
    uint32_t node = at.valid() ? known[at.index] : 0;
    while (!chain.empty()) {
      node = next(node, chain.back());
      known[chain.back().index] = node;
      chain.pop_back();
    }
    return node;
  }

  uint32_t node_of_frame(EventId frame) {
    return node_of_chain(frame_nodes_, frame, [this](uint32_t node, EventId at) {
      return owner(at) == FrameOwner::kFramework ? node : calls_.child(node, store_.name_id(at));
    });
  }

  uint32_t node_of_module(EventId frame) {
    return node_of_chain(module_nodes_, frame, [this](uint32_t node, EventId at) {
      if (!store_.name(at).starts_with("nn.Module: ")) return node;  // source text: the profiler's
      has_modules_ = true;
      return modules_.child(node, store_.name_id(at));
    });
  }

  FrameOwner owner(EventId frame) {
    const auto [known, is_new] =
        owners_.try_emplace(store_.name_id(frame).index, FrameOwner::kFramework);
    if (is_new) known->second = owner_of_frame(store_.name(frame));
    return known->second;
  }

  const SheetInput& input_;
  const EventStore& store_;
  PathTree calls_, modules_;
  std::vector<uint32_t> call_nodes_;
  std::unordered_map<uint32_t, uint32_t> frame_nodes_, module_nodes_;
  std::unordered_map<uint32_t, FrameOwner> owners_;
  bool has_modules_ = false;
};

// What threads spent their time in: each call and each Python frame without what it calls.
class HostTreeMaker {
 public:
  explicit HostTreeMaker(const Assessment& a)
      : tree_(a.input().tree),
        store_(a.input().store),
        begin_(a.base().begin()),
        end_(a.base().end()),
        frame_nodes_(store_.size(), kUnknown) {}

  // Empty: no call was recorded.
  std::string make() {
    find_threads();
    std::vector<Nanos> own(store_.size());
    for (EventId e(0); e.index < store_.size(); ++e.index) {
      if (store_.kind(e) != EventKind::kPython) continue;
      own[e.index] += store_.duration(e);
      if (const EventId above = tree_.parent_frame(e); above.valid())
        own[above.index] = own[above.index] - store_.duration(e);
    }
    // A parent comes before its children.
    std::vector<uint32_t> nodes(tree_.size());
    std::vector<Nanos> own_calls(tree_.size());
    for (CallId call(0); call.index < tree_.size(); ++call.index) {
      const EventId e = tree_.event(call);
      if (!is_host_call(store_.kind(e))) continue;
      const CallId above = tree_.parent(call);
      const EventId frame = tree_.frame(call);
      uint32_t around = thread_node(e);
      if (above.valid()) {
        around = nodes[above.index];
        own_calls[above.index] = own_calls[above.index] - store_.duration(e);
      } else if (frame.valid()) {
        around = node_of_frame(frame);
        own[frame.index] = own[frame.index] - store_.duration(e);
      }
      nodes[call.index] = paths_.child(around, store_.name_id(e));
      own_calls[call.index] += store_.duration(e);
    }
    for (CallId call(0); call.index < tree_.size(); ++call.index)
      add(tree_.event(call), nodes[call.index], own_calls[call.index]);
    for (EventId e(0); e.index < store_.size(); ++e.index)
      if (store_.kind(e) == EventKind::kPython) add(e, node_of_frame(e), own[e.index]);
    return has_time_ ? paths_.json(store_) : std::string();
  }

 private:
  static constexpr uint32_t kUnknown = UINT32_MAX;

  // Of one thread its name says nothing.
  void find_threads() {
    uint32_t first = kUnknown;
    for (EventId e(0); e.index < store_.size() && !has_threads_; ++e.index) {
      if (!is_host_call(store_.kind(e)) && store_.kind(e) != EventKind::kPython) continue;
      if (first == kUnknown) first = store_.track_id(e).index;
      has_threads_ = store_.track_id(e).index != first;
    }
  }
  uint32_t thread_node(EventId e) {
    if (!has_threads_) return 0;
    const Track& track = store_.track(e);
    return paths_.child(0, track.thread_name.valid() && !store_.text(track.thread_name).empty()
                               ? track.thread_name
                               : track.tid);
  }
  // Frames nest as deep as a hostile trace has them: no recursion.
  uint32_t node_of_frame(EventId frame) {
    std::vector<EventId> chain;
    EventId at = frame;
    for (; at.valid() && frame_nodes_[at.index] == kUnknown; at = tree_.parent_frame(at))
      chain.push_back(at);
    uint32_t node = at.valid() ? frame_nodes_[at.index] : thread_node(frame);
    for (; !chain.empty(); chain.pop_back())
      frame_nodes_[chain.back().index] = node = paths_.child(node, store_.name_id(chain.back()));
    return node;
  }
  void add(EventId e, uint32_t node, Nanos time) {
    if (time.count <= 0 || (end_ > begin_ && (store_.end(e) <= begin_ || store_.start(e) >= end_)))
      return;
    paths_.add(node, time);
    has_time_ = true;
  }

  const CallTree& tree_;
  const EventStore& store_;
  Nanos begin_, end_;
  PathTree paths_;
  std::vector<uint32_t> frame_nodes_;
  bool has_threads_ = false, has_time_ = false;
};

}  // namespace

std::string page_trees(const Assessment& assessment) {
  std::string out = TreeMaker(assessment.input()).make();
  if (const std::string host = HostTreeMaker(assessment).make(); !host.empty()) {
    out.pop_back();
    out += ",\"host\":" + host + "}";
  }
  return out;
}

}  // namespace fathom
