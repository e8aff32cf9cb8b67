#include "sheets/gpu_selection.h"

#include <algorithm>

namespace fathom {
namespace {

// Each name is looked at once: a trace has millions of kernels and hundreds of names.
std::vector<bool> communication_events(const EventStore& store, const CallTree& tree) {
  std::vector<bool> communication(store.size());
  std::vector<std::optional<bool>> by_name(store.text_count());
  for (std::span<const EventId> events : {tree.linked(), tree.unlinked()}) {
    for (EventId e : events) {
      std::optional<bool>& known = by_name[store.name_id(e).index];
      if (!known) known = is_communication_name(store.name(e));
      communication[e.index] = *known;
    }
  }
  // What the trace itself says is a collective, whatever library's kernel runs it.
  for (const Collective& c : store.collectives()) {
    if (store.kind(c.event) == EventKind::kKernel) communication[c.event.index] = true;
  }
  return communication;
}

bool in_range(const Scope::StepRange& range, std::optional<size_t> step) {
  return step && *step >= range.begin && *step < range.end;
}

}  // namespace

std::optional<size_t> step_of(const Steps& steps, const EventStore& store, const CallTree& tree,
                              EventId work) {
  const CallId launch = tree.launch(work);
  if (launch.valid() && tree.has_launches()) return steps.at(store.start(tree.event(launch)));
  const std::optional<size_t> on_gpu = steps.on_gpu_at(store.start(work));
  // Where no launches are recorded, there are no images on the GPU either.
  return on_gpu || !launch.valid() ? on_gpu : steps.at(store.start(work));
}

Nanos launched_or_begun(const EventStore& store, const CallTree& tree, EventId work) {
  const CallId launch = tree.launch(work);
  const bool is_known = launch.valid() && tree.has_launches();
  return is_known ? store.start(tree.event(launch)) : store.start(work);
}

GpuSelection::GpuSelection(const EventStore& store, const CallTree& tree, const Scope& scope)
    : selected_(store.size()),
      communication_(communication_events(store, tree)),
      all_linked_(tree.linked()) {
  const auto on_device = [&](EventId e) {
    return !scope.device || store.gpu_work(e).device == scope.device;
  };
  const auto is_steady = [&](EventId e) {
    return !scope.steady || scope.steady->contains(launched_or_begun(store, tree, e));
  };
  const bool by_step = scope.steps.has_value();
  const Steps steps(store, by_step ? std::string_view(scope.step_pattern) : std::string_view());
  selected_before_.reserve(all_linked_.size() + 1);
  for (EventId e : all_linked_) {
    selected_before_.push_back(static_cast<uint32_t>(linked_.size()));
    if (!on_device(e) || !is_steady(e) ||
        (by_step && !in_range(*scope.steps, step_of(steps, store, tree, e))))
      continue;
    linked_.push_back(e);
    selected_[e.index] = true;
  }
  selected_before_.push_back(static_cast<uint32_t>(linked_.size()));
  for (EventId e : tree.unlinked()) {
    if (!on_device(e) || !is_steady(e) ||
        (by_step && !in_range(*scope.steps, step_of(steps, store, tree, e))))
      continue;
    unlinked_.push_back(e);
    selected_[e.index] = true;
  }
}

// The selected ones keep the order of the tree's, so those of a range are a range too.
std::span<const EventId> GpuSelection::among(std::span<const EventId> of_linked) const {
  if (of_linked.empty()) return {};
  const size_t begin = static_cast<size_t>(of_linked.data() - all_linked_.data());
  return std::span(linked_).subspan(selected_before_[begin], count(of_linked));
}

Nanos busy_time(const EventStore& store, std::span<const EventId> events) {
  if (events.size() == 1) return store.duration(events.front());
  std::vector<Interval> intervals;
  intervals.reserve(events.size());
  for (EventId e : events) intervals.push_back({store.start(e), store.end(e)});
  return total_length(merge_intervals(std::move(intervals)));
}

Nanos time_span(const EventStore& store, std::span<const EventId> events) {
  if (events.empty()) return {};
  Nanos first = store.start(events.front()), last = store.end(events.front());
  for (EventId e : events) {
    first = std::min(first, store.start(e));
    last = std::max(last, store.end(e));
  }
  return last - first;
}

std::vector<EventId> timeline_events(const SheetInput& input) {
  return input.scope.include_unlinked ? all_selected(input) : input.selection.linked();
}

std::vector<EventId> all_selected(const SheetInput& input) {
  std::vector<EventId> events = input.selection.linked();
  events.insert(events.end(), input.selection.unlinked().begin(), input.selection.unlinked().end());
  return events;
}

}  // namespace fathom
