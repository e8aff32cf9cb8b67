#pragma once

#include <span>
#include <vector>

#include "events/event_store.h"
#include "events/intervals.h"
#include "measure/kernel_measures.h"
#include "sheets/scope.h"
#include "tree/call_tree.h"
#include "tree/communication.h"

namespace fathom {

// The GPU work of a trace that a scope takes in. Work belongs to the step in which it was launched;
// without a launch, to the step that its device was in.
class GpuSelection {
 public:
  GpuSelection(const EventStore& store, const CallTree& tree, const Scope& scope);

  // In the order of the launches, and in file order.
  const std::vector<EventId>& linked() const { return linked_; }
  const std::vector<EventId>& unlinked() const { return unlinked_; }
  bool contains(EventId gpu_event) const { return selected_[gpu_event.index]; }
  // Those of a range of the tree's linked work that are selected.
  std::span<const EventId> among(std::span<const EventId> of_linked) const;
  // How many that are, whatever the length of the range.
  size_t count(std::span<const EventId> of_linked) const {
    if (of_linked.empty()) return 0;  // one of nothing has no place in all
    const size_t begin = static_cast<size_t>(of_linked.data() - all_linked_.data());
    return selected_before_[begin + of_linked.size()] - selected_before_[begin];
  }
  bool any(std::span<const EventId> of_linked) const { return count(of_linked) > 0; }
  bool is_communication(EventId gpu_event) const { return communication_[gpu_event.index]; }

 private:
  std::vector<bool> selected_, communication_;  // by event
  std::vector<EventId> linked_, unlinked_;
  std::span<const EventId> all_linked_;    // the tree's
  std::vector<uint32_t> selected_before_;  // of those up to a place in it
};

// The step that GPU work belongs to: the one in which it was launched; without a launch, the one
// that its device was in.
std::optional<size_t> step_of(const Steps& steps, const EventStore& store, const CallTree& tree,
                              EventId work);

// When GPU work was launched; without a launch, when it began.
Nanos launched_or_begun(const EventStore& store, const CallTree& tree, EventId work);

// What every sheet is made from.
struct SheetInput {
  const EventStore& store;
  const CallTree& tree;
  const Scope& scope;
  GpuSelection selection;
  KernelMeasures kernels;  // what is known of them from elsewhere

  SheetInput(const EventStore& s, const CallTree& t, const Scope& sc, KernelMeasures k = {})
      : store(s), tree(t), scope(sc), selection(s, t, sc), kernels(std::move(k)) {}
};

// Union of the events' intervals.
Nanos busy_time(const EventStore& store, std::span<const EventId> events);

// From the first start to the last end.
Nanos time_span(const EventStore& store, std::span<const EventId> events);

// All GPU work shown: linked and unlinked.
std::vector<EventId> all_selected(const SheetInput& input);
// Linked work, and unlinked where the scope asks for it.
std::vector<EventId> timeline_events(const SheetInput& input);

}  // namespace fathom
