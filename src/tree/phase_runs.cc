#include "tree/phase_runs.h"

#include <algorithm>

namespace fathom {

PhaseRuns::PhaseRuns(const EventStore& store, const CallTree& tree, const PhaseRanges& ranges,
                     const std::vector<PhaseItem>& items)
    : store_(store), tree_(tree), ranges_(ranges) {
  find_only_names(items);
  for (const PhaseItem& item : items) add(item);
  for (Phase& phase : phases_) {
    for (PhaseRun& run : phase.runs) finish(run);
    std::ranges::stable_sort(phase.runs, {}, &PhaseRun::gpu_begin);
  }
  std::ranges::stable_sort(phases_, {}, [](const Phase& p) { return p.runs.front().gpu_begin; });
}

void PhaseRuns::find_only_names(const std::vector<PhaseItem>& items) {
  for (const PhaseItem& item : items) {
    if (item.evidence != PhaseEvidence::kAnnotation) continue;
    const int32_t name = ranges_.range(item.range).name;
    const auto [known, is_new] = only_names_.emplace(item.kind, name);
    if (!is_new && known->second != name) known->second = PhaseRanges::kNone;
  }
}

void PhaseRuns::add(const PhaseItem& item) {
  const size_t phase = phase_of(item);
  const bool is_pass = item.kind != PhaseKind::kCommunication && item.kind != PhaseKind::kOther;
  // Much other work between two parts of a phase makes them two runs.
  constexpr size_t kMuchWork = 8;
  if (item.kind == PhaseKind::kOther) ++others_;
  if (item.device != device_ || (is_pass && (phase != last_pass_ || others_ > kMuchWork))) {
    last_pass_ = is_pass ? phase : SIZE_MAX;
    device_ = item.device;
    ++passes_;
  }
  if (is_pass) others_ = 0;
  add_work(phases_[phase].runs[run_of(item, phase)], item);
}

PhaseRuns::PhaseKey PhaseRuns::key_of(const PhaseItem& item) const {
  PhaseKey key{item.kind, item.evidence, PhaseRanges::kNone, {}};
  if (item.evidence == PhaseEvidence::kAnnotation) {
    std::get<2>(key) = ranges_.range(item.range).name;
  } else if (item.evidence == PhaseEvidence::kRepetition) {
    std::get<2>(key) = static_cast<int32_t>(item.repetition);
  } else if (item.evidence == PhaseEvidence::kModules) {
    std::get<3>(key) = store_.name_id(item.shown_by);
  } else if (item.evidence == PhaseEvidence::kAutograd) {
    // One backward pass is annotated and another is not: they are runs of one phase.
    const auto only = only_names_.find(item.kind);
    if (only != only_names_.end() && only->second != PhaseRanges::kNone) {
      key = {item.kind, PhaseEvidence::kAnnotation, only->second, {}};
    }
  }
  return key;
}

EventId PhaseRuns::example_of(const PhaseItem& item) const {
  if (item.kind == PhaseKind::kOther) return {};
  if (item.evidence == PhaseEvidence::kAnnotation) return ranges_.range(item.range).event;
  if (item.shown_by.valid()) return item.shown_by;
  if (item.evidence != PhaseEvidence::kAutograd) return item.event;
  CallId op = tree_.enclosing_op(tree_.launch(item.event));
  while (op.valid() && tree_.parent(op).valid()) op = tree_.parent(op);
  return op.valid() ? tree_.event(op) : item.event;
}

size_t PhaseRuns::phase_of(const PhaseItem& item) {
  const PhaseKey key = key_of(item);
  const auto [known, is_new] = by_key_.emplace(key, phases_.size());
  if (is_new) {
    phases_.push_back({item.kind, {}, std::get<1>(key), {}, {}});
    current_.emplace_back();
  }
  EventId& example = phases_[known->second].example;
  if (!example.valid() && !item.is_between) example = example_of(item);
  return known->second;
}

// The numbers in a name are kept where all ranges have the same.
void PhaseRuns::begin_range(Phase& phase, const PhaseItem& item) const {
  const PhaseRanges::Range& range = ranges_.range(item.range);
  if (store_.kind(range.event) == EventKind::kAnnotation) {
    phase.runs.back().host_begin = range.begin;
    phase.runs.back().host_end = range.end;
  }
  const std::string& text = ranges_.name(range).text;
  if (phase.name.empty()) {
    phase.example = range.event;
    phase.name = text.find('#') == std::string::npos ? text : store_.name(range.event);
  } else if (phase.name != store_.name(range.event)) {
    phase.name = text;
  }
}

size_t PhaseRuns::run_of(const PhaseItem& item, size_t phase) {
  std::vector<PhaseRun>& runs = phases_[phase].runs;
  std::optional<uint64_t> own;
  if (item.evidence == PhaseEvidence::kAnnotation) {
    own = static_cast<uint64_t>(item.range);
  } else if (item.evidence == PhaseEvidence::kModules) {
    own = item.shown_by.index;
  } else if (item.part != 0) {
    own = item.part;
  }
  if (own) {
    const auto [known, is_new] = runs_.emplace(std::pair(phase, *own), runs.size());
    if (is_new) {
      runs.emplace_back();
      if (item.evidence == PhaseEvidence::kAnnotation) begin_range(phases_[phase], item);
    }
    return known->second;
  }
  Current& now = current_[phase];
  if (runs.empty() || now.passes != passes_ || now.step != item.step) {
    now = {runs.size(), passes_, item.step};
    runs.emplace_back();
  }
  return now.run;
}

void PhaseRuns::add_work(PhaseRun& run, const PhaseItem& item) const {
  run.work.push_back(item.event);
  if (!item.thread.valid()) return;
  const EventId launch = tree_.event(tree_.launch(item.event));
  const Nanos begin = store_.start(launch), end = store_.end(launch);
  run.host_begin = std::min(run.host_begin.value_or(begin), begin);
  run.host_end = std::max(run.host_end.value_or(end), end);
}

void PhaseRuns::finish(PhaseRun& run) const {
  std::ranges::sort(run.work, [&](EventId a, EventId b) {
    return std::tuple(store_.start(a), a) < std::tuple(store_.start(b), b);
  });
  run.gpu_begin = store_.start(run.work.front());
  run.gpu_end = store_.end(run.work.front());
  for (EventId e : run.work) run.gpu_end = std::max(run.gpu_end, store_.end(e));
}

}  // namespace fathom
