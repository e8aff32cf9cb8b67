#include "tree/steps.h"

#include <algorithm>

#include "base/glob.h"

namespace fathom {

Steps::Steps(const EventStore& store, EventKind kind, std::string_view pattern) {
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId event(i);
    if (store.kind(event) != kind || !glob_matches(pattern, store.name(event))) continue;
    steps_.push_back({event, store.start(event), store.end(event)});
  }
  std::ranges::sort(steps_, [](const Step& a, const Step& b) {
    return std::tie(a.begin, a.annotation) < std::tie(b.begin, b.annotation);
  });
}

std::optional<size_t> Steps::at(Nanos time) const {
  auto later = std::ranges::upper_bound(steps_, time, {}, &Step::begin);
  while (later != steps_.begin()) {
    --later;
    if (time < later->end) return static_cast<size_t>(later - steps_.begin());
  }
  return {};
}

}  // namespace fathom
