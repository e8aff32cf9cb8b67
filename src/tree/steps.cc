#include "tree/steps.h"

#include <algorithm>
#include <map>

#include "base/glob.h"

namespace fathom {
namespace {

// The latest begun of those that are open: sorted by begin, they may nest and overlap.
template <typename Span>
const Span* find_open(const std::vector<Span>& sorted, Nanos time) {
  auto later = std::ranges::upper_bound(sorted, time, {}, &Span::begin);
  while (later != sorted.begin()) {
    --later;
    if (time < later->end) return &*later;
  }
  return nullptr;
}

}  // namespace

Steps::Steps(const EventStore& store, std::string_view pattern) {
  std::vector<EventId> on_gpu;
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId event(i);
    if (!is_annotation(store.kind(event)) || !glob_matches(pattern, store.name(event))) continue;
    if (store.kind(event) == EventKind::kAnnotation) {
      steps_.push_back({event, store.start(event), store.end(event)});
    } else {
      on_gpu.push_back(event);
    }
  }
  std::ranges::sort(steps_, [](const Step& a, const Step& b) {
    return std::tie(a.begin, a.annotation) < std::tie(b.begin, b.annotation);
  });
  // An image has its annotation's id. Without ids the name must do.
  std::map<LaunchKey, size_t> by_key;
  std::map<StringId, size_t> by_name;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (const auto& key = store.launch(steps_[i].annotation).key) by_key.emplace(*key, i);
    by_name.emplace(store.name_id(steps_[i].annotation), i);
  }
  for (EventId event : on_gpu) {
    const auto& key = store.launch(event).key;
    const auto same_key = key ? by_key.find(*key) : by_key.end();
    const auto same_name = by_name.find(store.name_id(event));
    if (same_key != by_key.end()) {
      images_.push_back({store.start(event), store.end(event), same_key->second});
    } else if (same_name != by_name.end()) {
      images_.push_back({store.start(event), store.end(event), same_name->second});
    }
  }
  std::ranges::sort(images_, [](const Image& a, const Image& b) {
    return std::tie(a.begin, a.step) < std::tie(b.begin, b.step);
  });
}

std::optional<size_t> Steps::at(Nanos time) const {
  const Step* open = find_open(steps_, time);
  if (open == nullptr) return {};
  return static_cast<size_t>(open - steps_.data());
}

std::optional<size_t> Steps::on_gpu_at(Nanos time) const {
  const Image* open = find_open(images_, time);
  return open == nullptr ? std::nullopt : std::optional(open->step);
}

}  // namespace fathom
