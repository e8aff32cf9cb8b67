#include "session/captured_graphs.h"

#include <algorithm>
#include <map>
#include <set>

#include "cost/op_catalog.h"
#include "cost/op_category.h"

namespace fathom {
namespace {

bool has_part(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

// What a call puts into a graph that is captured; nothing for calls that put in nothing.
std::optional<EventKind> node_kind(std::string_view call) {
  if (has_part(call, "GraphLaunch") || has_part(call, "LaunchHostFunc")) return {};
  if (has_part(call, "Memset")) return EventKind::kMemset;
  if (has_part(call, "Memcpy")) return EventKind::kMemcpy;
  if (has_part(call, "LaunchKernel") || has_part(call, "LaunchCooperativeKernel"))
    return EventKind::kKernel;
  return {};
}

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
      if (call && has_part(store_.name(e), "StreamBeginCapture")) {
        open = CapturedGraph{store_.end(e), {}, {}, {}};
        inside.clear();
        continue;
      }
      if (!open) continue;
      if (call && has_part(store_.name(e), "StreamEndCapture")) {
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

}  // namespace

std::vector<CapturedGraph> find_captured_graphs(const Trace& capture) {
  return CaptureReader(capture).take();
}

}  // namespace fathom
