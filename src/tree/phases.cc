#include "tree/phases.h"

#include <algorithm>
#include <tuple>

#include "tree/communication.h"
#include "tree/phase_autograd.h"
#include "tree/phase_repeats.h"
#include "tree/setup_spans.h"
#include "tree/training_kernels.h"

namespace fathom {
namespace {

constexpr int32_t kNoRange = PhaseRanges::kNone;
// Where collectives alone make a phase; the least share of the GPU time that is searched for
// repeats.
constexpr size_t kLittleWork = 8;
constexpr double kMostlyCollectives = 0.8, kWorthSearching = 0.15;

class PhaseFinder {
 public:
  PhaseFinder(const EventStore& store, const CallTree& tree, const std::vector<EventId>& work)
      : store_(store),
        tree_(tree),
        ranges_(store),
        code_(store, tree),
        collective_names_(store.text_count()) {
    add_items(work);
  }

  std::vector<Phase> find() {
    label_by_ranges();
    join_collectives();
    fill_gaps();
    join_ranges();
    label_rest();
    return collect();
  }

 private:
  void add_items(const std::vector<EventId>& work);
  std::vector<int32_t> innermost_ranges() const;
  bool is_looked_for_elsewhere(const PhaseItem& item) const;
  void label_by_ranges();
  std::optional<PhaseKind> training_of(const PhaseItem& item, int32_t innermost) const {
    const std::optional<PhaseKind> by_ops = code_.training(item.event);
    return by_ops ? by_ops : ranges_.pass_of(innermost);
  }
  void label_by_code(PhaseItem& item, std::optional<PhaseKind> training, int32_t own,
                     int32_t other);
  void join_collectives();
  void fill_gaps();
  void join_ranges();
  void label_rest();
  bool label_by_kernels(size_t begin, size_t end);
  bool label_collectives(size_t begin, size_t end);
  std::vector<Phase> collect() const;
  Nanos time_of(size_t begin, size_t end) const;

  const EventStore& store_;
  const CallTree& tree_;
  PhaseRanges ranges_;
  CodeKinds code_;
  std::vector<PhaseItem> items_;  // by device, then in the order of their launches
  std::vector<std::optional<bool>> collective_names_;
};

void PhaseFinder::add_items(const std::vector<EventId>& work) {
  items_.reserve(work.size());
  for (EventId e : work) {
    const CallId launch = tree_.launch(e);
    const bool known = tree_.has_launches() && launch.valid();
    const EventId from = known ? tree_.event(launch) : e;
    PhaseItem item{.event = e, .when = store_.start(from), .thread = {}};
    if (known) item.thread = store_.track_id(from);
    item.device = store_.gpu_work(e).device.value_or(-1);
    item.step = ranges_.step_at(item.when);
    items_.push_back(item);
  }
  std::ranges::sort(items_, [&](const PhaseItem& a, const PhaseItem& b) {
    return std::tuple(a.device, a.when, store_.start(a.event), a.event) <
           std::tuple(b.device, b.when, store_.start(b.event), b.event);
  });
}

Nanos PhaseFinder::time_of(size_t begin, size_t end) const {
  Nanos sum;
  for (size_t i = begin; i < end; ++i) sum += store_.duration(items_[i].event);
  return sum;
}

// On the thread of the launch; without a launch on the stream, where ranges have their images.
std::vector<int32_t> PhaseFinder::innermost_ranges() const {
  std::vector<PhaseRanges::Query> queries;
  for (size_t i = 0; i < items_.size(); ++i) {
    const PhaseItem& item = items_[i];
    const TrackId track = item.thread.valid() ? item.thread : store_.track_id(item.event);
    queries.push_back({track, item.when, static_cast<uint32_t>(i)});
  }
  return ranges_.innermost(std::move(queries), items_.size());
}

// In the ranges of other threads: work of a thread that has none. Without a launch: of any thread,
// if no images on the streams tell.
bool PhaseFinder::is_looked_for_elsewhere(const PhaseItem& item) const {
  return item.thread.valid() ? !ranges_.has_phases(item.thread) : !ranges_.has_images();
}

void PhaseFinder::label_by_ranges() {
  const std::vector<int32_t> own = innermost_ranges();
  std::vector<int32_t> other(items_.size(), kNoRange);
  std::vector<PhaseRanges::Inside> inside;
  std::vector<Nanos> backward;
  for (size_t i = 0; i < items_.size(); ++i) {
    const PhaseItem& item = items_[i];
    const auto training = training_of(item, own[i]);
    if (is_looked_for_elsewhere(item)) other[i] = ranges_.on_any_thread(item.when);
    if (training == PhaseKind::kBackward) backward.push_back(item.when);
    const int32_t range = other[i] != kNoRange ? other[i] : own[i];
    inside.push_back({range, store_.duration(item.event), training.has_value()});
  }
  std::ranges::sort(backward);
  ranges_.choose(inside, backward);
  for (size_t i = 0; i < items_.size(); ++i) {
    const auto chosen = [&](int32_t range) {
      return range == kNoRange ? kNoRange : ranges_.range(range).chosen;
    };
    int32_t elsewhere = chosen(other[i]);
    // A thread beside the one that prepares data is not preparing data.
    if (items_[i].thread.valid() && elsewhere != kNoRange &&
        ranges_.kind(elsewhere) == PhaseKind::kNamed) {
      elsewhere = kNoRange;
    }
    label_by_code(items_[i], training_of(items_[i], own[i]), chosen(own[i]), elsewhere);
  }
}

// `own`: the phase's range on the event's thread or stream; `other`: on another thread.
void PhaseFinder::label_by_code(PhaseItem& item, std::optional<PhaseKind> training, int32_t own,
                                int32_t other) {
  const auto take_range = [&](int32_t range) {
    item.range = ranges_.on_host(range);
    item.kind = ranges_.kind(range);
    item.evidence = PhaseEvidence::kAnnotation;
  };
  const auto is_collective = [&](int32_t range) {
    return range != kNoRange && ranges_.kind(range) == PhaseKind::kCommunication;
  };
  const auto is_known = [&](int32_t range) {
    return range != kNoRange && ranges_.kind(range) != PhaseKind::kNamed &&
           ranges_.kind(range) != PhaseKind::kCommunication;
  };
  if (training == PhaseKind::kBackward) {
    // Whatever the program's thread has open, this is the backward pass; but a range may name it.
    for (int32_t range : {own, other}) {
      if (!is_known(range)) continue;
      const PhaseKind kind = ranges_.kind(range);
      if (kind == PhaseKind::kBackward || (range == own && kind == PhaseKind::kOptimizer)) {
        return take_range(range);
      }
    }
  } else if (is_known(own)) {
    return take_range(own);
  }
  if (is_collective(own) && !ranges_.name(ranges_.range(own)).of_library) return take_range(own);
  if (training && (*training != PhaseKind::kForward || own == kNoRange || is_collective(own))) {
    item.kind = *training;
    item.evidence = PhaseEvidence::kAutograd;
    return;
  }
  if (own != kNoRange) return take_range(own);
  if (other != kNoRange) return take_range(other);
  if (const EventId function = code_.function(item.event); function.valid()) {
    item.kind = code_.kind_of_function(function);
    item.evidence = PhaseEvidence::kModules;
    item.shown_by = function;
  }
}

// A collective is a phase by itself on a thread of its own, and where the program gave it a range
// beside those of other phases. Else its range tells what it is, not what it is for: fill_gaps
// gives it to the phase around.
void PhaseFinder::join_collectives() {
  std::vector<bool> mixed(store_.track_count());
  bool has_phases = false;
  for (const PhaseItem& item : items_) {
    has_phases = has_phases || (item.has_phase() && item.kind != PhaseKind::kCommunication);
    if (item.thread.valid() && item.kind != PhaseKind::kCommunication) {
      mixed[item.thread.index] = true;
    }
  }
  for (PhaseItem& item : items_) {
    if (item.kind != PhaseKind::kCommunication) continue;
    if (item.thread.valid() && !mixed[item.thread.index]) continue;
    if (has_phases && !ranges_.name(ranges_.range(item.range)).of_library) continue;
    item.kind = PhaseKind::kOther;
    item.evidence = PhaseEvidence::kNone;
    item.range = kNoRange;
  }
}

// Work between two parts of one pass belongs to it: copies, collectives, ops without a number. What
// is between the forward and the backward pass begins the latter: the gradient of the loss itself.
void PhaseFinder::fill_gaps() {
  size_t last = items_.size();  // the last one with a phase
  for (size_t i = 0; i < items_.size(); ++i) {
    const PhaseItem& item = items_[i];
    if (!item.has_phase() || item.kind == PhaseKind::kCommunication) continue;
    const bool joins =
        last < i && item.evidence == PhaseEvidence::kAutograd && items_[last].step == item.step &&
        items_[last].device == item.device &&
        ((items_[last].evidence == PhaseEvidence::kAutograd && items_[last].kind == item.kind) ||
         (items_[last].kind == PhaseKind::kForward && item.kind == PhaseKind::kBackward));
    // More work than a little is another pass that nothing tells of.
    const size_t most = item.kind == PhaseKind::kForward ? items_.size() : kLittleWork;
    if (joins && i - last - 1 <= most) {
      for (size_t gap = last + 1; gap < i; ++gap) {
        if (items_[gap].has_phase()) continue;
        items_[gap].kind = item.kind;
        items_[gap].evidence = item.evidence;
        items_[gap].is_between = true;
      }
    }
    last = i;
  }
}

// The loss after an annotated forward pass belongs to that run, not to one of its own.
void PhaseFinder::join_ranges() {
  size_t last = items_.size();  // the last one of a pass
  const auto join = [&](size_t i) {
    PhaseItem& item = items_[i];
    if (!item.has_phase() || item.kind == PhaseKind::kCommunication) return;
    if (last < items_.size() && item.evidence == PhaseEvidence::kAutograd) {
      const PhaseItem& before = items_[last];
      if (before.evidence == PhaseEvidence::kAnnotation && before.kind == item.kind &&
          before.step == item.step && before.device == item.device) {
        item.evidence = PhaseEvidence::kAnnotation;
        item.range = before.range;
      }
    }
    last = i;
  };
  for (size_t i = 0; i < items_.size(); ++i) join(i);
  last = items_.size();
  for (size_t i = items_.size(); i-- > 0;) join(i);
}

// Work that no known name tells of. A range of the user's own name may hold a whole text
// generation: it is searched too, and keeps its name where no decode steps are found.
void PhaseFinder::label_rest() {
  PhaseRepeats repeats(store_, tree_, items_);
  const Nanos all = time_of(0, items_.size());
  for (size_t begin = 0, end = 0; begin < items_.size(); begin = end) {
    const PhaseItem first = items_[begin];
    while (end < items_.size() && items_[end].kind == first.kind &&
           items_[end].evidence == first.evidence && items_[end].range == first.range &&
           items_[end].device == first.device) {
      ++end;
    }
    if (first.kind == PhaseKind::kNamed) {
      if (!repeats.may_generate(begin, end)) continue;
      for (size_t i = begin; i < end; ++i) {
        items_[i].kind = PhaseKind::kOther;
        items_[i].evidence = PhaseEvidence::kNone;
      }
      repeats.search(begin, end);
    } else if (!first.has_phase() && !label_collectives(begin, end) &&
               !label_by_kernels(begin, end) &&
               ratio(time_of(begin, end), all) >= kWorthSearching) {
      repeats.search(begin, end);
    }
  }
  repeats.label_generation();
  for (PhaseItem& item : items_) {
    const bool is_known = item.has_phase() && item.evidence != PhaseEvidence::kRepetition;
    if (item.range == kNoRange || is_known) continue;
    item.kind = PhaseKind::kNamed;
    item.evidence = PhaseEvidence::kAnnotation;
    item.part = item.repetition = 0;
  }
}

bool PhaseFinder::label_collectives(size_t begin, size_t end) {
  Nanos collectives;
  size_t count = 0;
  for (size_t i = begin; i < end; ++i) {
    std::optional<bool>& known = collective_names_[store_.name_id(items_[i].event).index];
    if (!known) known = is_communication_name(store_.name(items_[i].event));
    if (*known) {
      ++count;
      collectives += store_.duration(items_[i].event);
    }
  }
  // A collective that waits for another GPU may last longer than all the work between.
  if (2 * count < end - begin) return false;
  if (ratio(collectives, time_of(begin, end)) < kMostlyCollectives) return false;
  for (size_t i = begin; i < end; ++i) items_[i].kind = PhaseKind::kCommunication;
  return true;
}

bool PhaseFinder::label_by_kernels(size_t begin, size_t end) {
  if (code_.has_backward() || ranges_.has_backward()) return false;  // better known by ops
  std::vector<EventId> sequence;
  for (size_t i = begin; i < end; ++i) sequence.push_back(items_[i].event);
  const std::vector<PhaseKind> kinds = passes_of_kernels(store_, sequence);
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] == PhaseKind::kOther) continue;
    items_[begin + i].kind = kinds[i];
    items_[begin + i].evidence = PhaseEvidence::kAutograd;
  }
  return !kinds.empty();
}

std::vector<Phase> PhaseFinder::collect() const {
  return PhaseRuns(store_, tree_, ranges_, items_).take();
}

}  // namespace

std::vector<Phase> find_phases(const EventStore& store, const CallTree& tree,
                               const std::vector<EventId>& gpu_work) {
  const SetupSpans setup(store);
  if (setup.empty() || !tree.has_launches()) return PhaseFinder(store, tree, gpu_work).find();
  std::vector<EventId> steps;
  PhaseRun prepared;
  for (const EventId e : gpu_work) {
    const CallId launch = tree.launch(e);
    const EventId call = launch.valid() ? tree.event(launch) : EventId{};
    const bool is_setup = call.valid() && setup.contains(store.track_id(call), store.start(call));
    (is_setup ? prepared.work : steps).push_back(e);
  }
  std::vector<Phase> phases = PhaseFinder(store, tree, steps).find();
  if (prepared.work.empty()) return phases;
  std::ranges::sort(prepared.work, [&store](EventId a, EventId b) {
    return std::tuple(store.start(a), a) < std::tuple(store.start(b), b);
  });
  prepared.gpu_begin = store.start(prepared.work.front());
  prepared.gpu_end = prepared.gpu_begin;
  for (const EventId e : prepared.work) prepared.gpu_end = std::max(prepared.gpu_end, store.end(e));
  Phase phase{PhaseKind::kSetup, {}, PhaseEvidence::kSetupCalls, setup.example(), {}};
  phase.runs.push_back(std::move(prepared));
  const auto place =
      std::ranges::upper_bound(phases, phase.runs.front().gpu_begin, {},
                               [](const Phase& p) { return p.runs.front().gpu_begin; });
  phases.insert(place, std::move(phase));
  return phases;
}

}  // namespace fathom
