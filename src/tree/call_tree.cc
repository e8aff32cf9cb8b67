#include "tree/call_tree.h"

#include <algorithm>

#include "base/sort_runs.h"

namespace fathom {
namespace {

// Events of one thread such that each comes after those that enclose it. Of two that begin
// together the longer encloses the other; equal ones keep the order of the file.
std::vector<EventId> nesting_order(const EventStore& store) {
  std::vector<EventId> order;
  for (size_t i = 0; i < store.size(); ++i) {
    const EventKind kind = store.kind(EventId(i));
    if (is_host_call(kind) || kind == EventKind::kPython) order.emplace_back(i);
  }
  sort_runs(order, [&store](EventId a, EventId b) {
    if (store.track_id(a) != store.track_id(b)) return store.track_id(a) < store.track_id(b);
    if (store.start(a) != store.start(b)) return store.start(a) < store.start(b);
    if (store.duration(a) != store.duration(b)) return store.duration(a) > store.duration(b);
    return a < b;
  });
  return order;
}

// The events open at a moment, outermost first.
class OpenEvents {
 public:
  explicit OpenEvents(const EventStore& store) : store_(store) {}

  void clear() { open_.clear(); }
  void close_before(Nanos time) {
    while (!open_.empty() && store_.end(open_.back()) <= time) open_.pop_back();
  }
  // True when open events end inside `event`. They are closed then: it is no child of theirs.
  bool close_overlapped_by(EventId event) {
    bool any = false;
    for (; !open_.empty() && store_.end(open_.back()) < store_.end(event); any = true)
      open_.pop_back();
    return any;
  }
  EventId innermost() const { return open_.empty() ? EventId{} : open_.back(); }
  void open(EventId event) { open_.push_back(event); }

 private:
  const EventStore& store_;
  std::vector<EventId> open_;
};

struct KeyedLaunch {
  LaunchKey key;
  Nanos start;
  CallId call;
};

constexpr Nanos kClockError{20'000};

}  // namespace

CallTree build_call_tree(const EventStore& store) {
  CallTree tree;
  tree.call_of_event_.resize(store.size());
  tree.frame_parents_.resize(store.size());
  tree.nest_calls(store);
  tree.link_gpu_work(store);
  tree.order_linked(store);
  return tree;
}

// Calls and Python frames are nested apart: a frame's clock is coarser, and one that ends a little
// too early must not tear a call from the call around it.
void CallTree::nest_calls(const EventStore& store) {
  OpenEvents calls(store), frames(store);
  TrackId track;
  for (EventId event : nesting_order(store)) {
    if (store.track_id(event) != track) {
      track = store.track_id(event);
      calls.clear();
      frames.clear();
    }
    frames.close_before(store.start(event));
    if (store.kind(event) == EventKind::kPython) {
      frames.close_overlapped_by(event);
      frame_parents_[event.index] = frames.innermost();
      frames.open(event);
      continue;
    }
    calls.close_before(store.start(event));
    if (calls.close_overlapped_by(event))
      diagnostics_.add(Flaw::kPartialOverlap, store.name(event));
    const EventId around = calls.innermost();
    call_of_event_[event.index] = CallId(calls_.size());
    calls_.push_back(event);
    const CallId parent = around.valid() ? call_of_event_[around.index] : CallId{};
    parents_.push_back(parent);
    has_ops_ = has_ops_ || store.kind(event) == EventKind::kCpuOp;
    ops_.push_back(store.kind(event) == EventKind::kCpuOp ? call_of_event_[event.index]
                                                          : enclosing_op(parent));
    frames_.push_back(frames.innermost());
    calls.open(event);
  }
  // Descendants come right after their ancestor, so walking backwards a call's end is known before
  // its parent asks for it.
  subtree_ends_.resize(calls_.size());
  for (size_t i = calls_.size(); i-- > 0;) {
    subtree_ends_[i] = std::max(subtree_ends_[i], static_cast<uint32_t>(i + 1));
    if (const CallId parent = parents_[i]; parent.valid()) {
      subtree_ends_[parent.index] = std::max(subtree_ends_[parent.index], subtree_ends_[i]);
    }
  }
}

void CallTree::link_gpu_work(const EventStore& store) {
  std::vector<KeyedLaunch> launches;
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (!is_launch(store.kind(calls_[i]))) continue;
    if (const auto& key = store.launch(calls_[i]).key) {
      launches.push_back({*key, store.start(calls_[i]), CallId(i)});
    }
  }
  if (launches.empty() && !has_ops_) return launch_by_itself(store);
  sort_runs(launches, [](const KeyedLaunch& a, const KeyedLaunch& b) {
    return std::tie(a.key, a.start, a.call) < std::tie(b.key, b.start, b.call);
  });
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId event(i);
    if (!is_gpu_work(store.kind(event))) continue;
    const std::optional<LaunchKey>& key = store.gpu_work(event).key;
    const auto candidates = key ? std::ranges::equal_range(launches, *key, {}, &KeyedLaunch::key)
                                : std::ranges::subrange(launches.end(), launches.end());
    if (candidates.empty()) {
      unlinked_.push_back(event);
      diagnostics_.add(Flaw::kUnlinkedGpuEvent, store.name(event));
      continue;
    }
    // Correlation ids restart in each process: in a file of several processes one id may name
    // several launches. Work never begins before its launch.
    auto chosen = candidates.begin();
    if (candidates.size() > 1) {
      diagnostics_.add(Flaw::kAmbiguousCorrelation, store.name(event));
      const auto later =
          std::ranges::upper_bound(candidates, store.start(event), {}, &KeyedLaunch::start);
      if (later != candidates.begin()) chosen = std::prev(later);
    }
    // Clocks that are brought together afterwards differ by microseconds.
    if (chosen->start - store.start(event) > kClockError)
      diagnostics_.add(Flaw::kBeforeItsLaunch, store.name(event));
    call_of_event_[event.index] = chosen->call;
    linked_.push_back(event);
  }
}

void CallTree::launch_by_itself(const EventStore& store) {
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId event(i);
    if (!is_gpu_work(store.kind(event))) continue;
    has_launches_ = false;
    call_of_event_[event.index] = CallId(calls_.size());
    calls_.push_back(event);
    parents_.emplace_back();
    ops_.emplace_back();
    frames_.emplace_back();
    subtree_ends_.push_back(static_cast<uint32_t>(calls_.size()));
    linked_.push_back(event);
  }
}

void CallTree::order_linked(const EventStore& store) {
  sort_runs(linked_, [this, &store](EventId a, EventId b) {
    return std::tuple(launch(a), store.start(a), a) < std::tuple(launch(b), store.start(b), b);
  });
  launched_begin_.assign(calls_.size() + 1, 0);
  for (EventId event : linked_) ++launched_begin_[launch(event).index + 1];
  for (size_t i = 1; i < launched_begin_.size(); ++i) launched_begin_[i] += launched_begin_[i - 1];
}

std::span<const EventId> CallTree::launched_by(CallId call) const {
  return linked().subspan(launched_begin_[call.index],
                          launched_begin_[call.index + 1] - launched_begin_[call.index]);
}

std::span<const EventId> CallTree::launched_in_subtree(CallId call) const {
  const uint32_t begin = launched_begin_[call.index];
  return linked().subspan(begin, launched_begin_[subtree_ends_[call.index]] - begin);
}

}  // namespace fathom
