#include "tree/annotations.h"

#include <algorithm>
#include <tuple>

namespace fathom {

Annotations::Annotations(const EventStore& store) : store_(store) {
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId event(i);
    if (store.kind(event) != EventKind::kAnnotation) continue;
    spans_.push_back({store.track_id(event), store.start(event), store.end(event), event, -1});
  }
  std::ranges::sort(spans_, [](const Span& a, const Span& b) {
    return std::tie(a.track.index, a.begin, b.end, a.event) <
           std::tie(b.track.index, b.begin, a.end, b.event);
  });
  int64_t open = -1;
  for (size_t i = 0; i < spans_.size(); ++i) {
    Span& span = spans_[i];
    const auto is_over = [&](const Span& other) {
      return other.track != span.track || other.end <= span.begin;
    };
    while (open >= 0 && is_over(spans_[static_cast<size_t>(open)])) {
      open = spans_[static_cast<size_t>(open)].parent;
    }
    span.parent = open;
    open = static_cast<int64_t>(i);
  }
}

std::vector<EventId> Annotations::around(EventId event) const {
  const auto key = std::tuple(store_.track_id(event).index, store_.start(event));
  const auto later = std::ranges::upper_bound(
      spans_, key, {}, [](const Span& s) { return std::tuple(s.track.index, s.begin); });
  std::vector<EventId> found;
  constexpr int kLookedAt = 100;
  int64_t at = later - spans_.begin() - 1;
  for (int i = 0; i < kLookedAt && at >= 0; ++i, at = spans_[static_cast<size_t>(at)].parent) {
    const Span& span = spans_[static_cast<size_t>(at)];
    if (span.track != store_.track_id(event)) break;
    if (span.end >= store_.end(event)) found.push_back(span.event);
  }
  return found;
}

}  // namespace fathom
