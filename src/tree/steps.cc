#include "tree/steps.h"

#include <algorithm>
#include <map>

#include "base/glob.h"

namespace fathom {
namespace {

// Profilers before PyTorch 1.11 write steps as operators.
bool is_profiler_step(std::string_view name) { return name.starts_with("ProfilerStep#"); }

}  // namespace

Steps::Steps(const EventStore& store, std::string_view pattern) {
  std::vector<EventId> on_gpu;
  std::vector<Step> as_ops;
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId event(i);
    const EventKind kind = store.kind(event);
    if (kind == EventKind::kCpuOp && is_profiler_step(store.name(event)) &&
        glob_matches(pattern, store.name(event)))
      as_ops.push_back({event, store.start(event), store.end(event)});
    if (!is_annotation(kind) || !glob_matches(pattern, store.name(event))) continue;
    if (kind == EventKind::kAnnotation) {
      steps_.push_back({event, store.start(event), store.end(event)});
    } else {
      on_gpu.push_back(event);
    }
  }
  if (steps_.empty()) steps_ = std::move(as_ops);
  std::ranges::sort(steps_, [](const Step& a, const Step& b) {
    return std::tie(a.begin, a.annotation) < std::tie(b.begin, b.annotation);
  });
  // An image has its annotation's id. Without ids the name must do.
  std::map<LaunchKey, size_t> by_key;
  std::map<StringId, size_t> by_name;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const EventId step = steps_[i].annotation;
    if (store.kind(step) == EventKind::kAnnotation && store.launch(step).key)
      by_key.emplace(*store.launch(step).key, i);
    by_name.emplace(store.name_id(steps_[i].annotation), i);
  }
  std::vector<LatestOpen::Span> spans;
  for (const Step& step : steps_) spans.push_back({step.begin, step.end, spans.size()});
  on_cpu_ = LatestOpen(std::move(spans));
  spans.clear();
  for (EventId event : on_gpu) {
    const auto& key = store.launch(event).key;
    const auto same_key = key ? by_key.find(*key) : by_key.end();
    const auto same_name = by_name.find(store.name_id(event));
    if (same_key != by_key.end()) {
      spans.push_back({store.start(event), store.end(event), same_key->second});
    } else if (same_name != by_name.end()) {
      spans.push_back({store.start(event), store.end(event), same_name->second});
    }
  }
  on_gpu_ = LatestOpen(std::move(spans));
}

std::optional<size_t> Steps::at(Nanos time) const { return on_cpu_.at(time); }

std::optional<size_t> Steps::on_gpu_at(Nanos time) const { return on_gpu_.at(time); }

}  // namespace fathom
