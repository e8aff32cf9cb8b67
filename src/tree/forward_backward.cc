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
  for (size_t i = 0; i < ops.size(); ++i) {
    const EventId backward = ops[i].event;
    if (!store.name(backward).starts_with(kEvaluate)) continue;
    for (size_t j = i; j > 0 && ops[j - 1].sequence == ops[i].sequence; --j) {
      if (store.track_id(ops[j - 1].event) == store.track_id(backward)) continue;
      forward.emplace(backward, ops[j - 1].event);
      break;
    }
  }
  return forward;
}

}  // namespace fathom
