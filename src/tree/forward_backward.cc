#include "tree/forward_backward.h"

#include <algorithm>
#include <vector>

namespace fathom {
namespace {

constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function:";

struct Numbered {
  int64_t sequence;
  Nanos start;
  EventId event;
};

}  // namespace

std::unordered_map<EventId, EventId> link_backward_to_forward(const EventStore& store) {
  std::vector<Numbered> ops;
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId event(i);
    if (const AutogradFacts* facts = store.autograd(event)) {
      ops.push_back({facts->sequence, store.start(event), event});
    }
  }
  std::ranges::sort(ops, [](const Numbered& a, const Numbered& b) {
    return std::tie(a.sequence, a.start, a.event) < std::tie(b.sequence, b.start, b.event);
  });
  std::unordered_map<EventId, EventId> forward;
  // Of one sequence number: the last op, and the last one on a thread other than that one's.
  EventId last, other;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (i > 0 && ops[i - 1].sequence != ops[i].sequence) last = other = {};
    const EventId op = ops[i].event;
    const bool same_thread = last.valid() && store.track_id(last) == store.track_id(op);
    if (store.name(op).starts_with(kEvaluate)) {
      if (const EventId begun = same_thread ? other : last; begun.valid())
        forward.emplace(op, begun);
    }
    if (!same_thread) other = last;
    last = op;
  }
  return forward;
}

}  // namespace fathom
