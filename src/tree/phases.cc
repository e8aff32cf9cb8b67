#include "tree/phases.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "tree/attention_lengths.h"
#include "tree/communication.h"
#include "tree/phase_autograd.h"
#include "tree/phase_runs.h"
#include "tree/repetition.h"

namespace fathom {
namespace {

constexpr int32_t kNoRange = PhaseRanges::kNone;
// Where collectives alone make a phase; the least share of the GPU time that is searched for
// repeats.
constexpr size_t kLittleWork = 8;
constexpr double kMostlyCollectives = 0.8, kWorthSearching = 0.15;

// A stretch of items that may be one step of text generation.
struct Stretch {
  size_t begin = 0, end = 0;
  size_t prompts = 0, tokens = 0;  // attention of either use
  size_t first = 0, layer = 0;     // the place of the first, the distance to the next
  EventId example;
  bool is_decode = false;

  void append(const Stretch& next) {
    if (!example.valid()) {
      example = next.example;
      first = next.first;
      layer = next.layer;
    } else if (layer == 0 && next.example.valid()) {
      layer = next.first - first;
    }
    end = next.end;
    prompts += next.prompts;
    tokens += next.tokens;
  }
};

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
    label_repeats();
    label_by_attention();
    return collect();
  }

 private:
  void add_items(const std::vector<EventId>& work);
  std::vector<int32_t> innermost_ranges() const;
  void label_by_ranges();
  void label_by_code(PhaseItem& item, int32_t own, int32_t other);
  void join_collectives();
  void fill_gaps();
  void join_ranges();
  void label_repeats();
  void search_repeats(size_t begin, size_t end, size_t least, int depth);
  void label_by_attention();
  Stretch look_for_attention(const AttentionLengths& attention, size_t begin, size_t end) const;
  void label_collectives(size_t begin, size_t end);
  WorkSequence sequence_of(size_t begin, size_t end) const;
  std::vector<RepeatedPart> parts_by_step(size_t begin, size_t end) const;
  std::vector<Phase> collect() const;
  Nanos time_of(size_t begin, size_t end) const;

  const EventStore& store_;
  const CallTree& tree_;
  PhaseRanges ranges_;
  CodeKinds code_;
  std::vector<PhaseItem> items_;  // in the order of their launches
  std::vector<std::optional<bool>> collective_names_;
  uint32_t parts_ = 0, repetitions_ = 0;
};

void PhaseFinder::add_items(const std::vector<EventId>& work) {
  items_.reserve(work.size());
  for (EventId e : work) {
    const CallId launch = tree_.launch(e);
    const bool known = tree_.has_launches() && launch.valid();
    const EventId from = known ? tree_.event(launch) : e;
    PhaseItem item{.event = e, .when = store_.start(from), .thread = {}};
    if (known) item.thread = store_.track_id(from);
    item.step = ranges_.step_at(item.when);
    items_.push_back(item);
  }
  std::ranges::sort(items_, [&](const PhaseItem& a, const PhaseItem& b) {
    return std::tuple(a.when, store_.start(a.event), a.event) <
           std::tuple(b.when, store_.start(b.event), b.event);
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

void PhaseFinder::label_by_ranges() {
  const std::vector<int32_t> own = innermost_ranges();
  std::vector<int32_t> other(items_.size(), kNoRange);
  std::vector<PhaseRanges::Inside> inside;
  std::vector<Nanos> backward;
  for (size_t i = 0; i < items_.size(); ++i) {
    const PhaseItem& item = items_[i];
    const auto training = code_.training(item.event);
    if (own[i] == kNoRange) other[i] = ranges_.on_any_thread(item.when);
    if (training == PhaseKind::kBackward) backward.push_back(item.when);
    const int32_t range = own[i] != kNoRange ? own[i] : other[i];
    inside.push_back({range, store_.duration(item.event), training.has_value()});
  }
  ranges_.choose(inside, backward);
  for (size_t i = 0; i < items_.size(); ++i) {
    const auto chosen = [&](int32_t range) {
      return range == kNoRange ? kNoRange : ranges_.range(range).chosen;
    };
    label_by_code(items_[i], chosen(own[i]), chosen(own[i] == kNoRange ? other[i] : kNoRange));
  }
}

// `own`: the phase's range on the event's thread or stream; `other`: on another thread.
void PhaseFinder::label_by_code(PhaseItem& item, int32_t own, int32_t other) {
  const auto take_range = [&](int32_t range) {
    item.range = ranges_.on_host(range);
    item.kind = ranges_.kind(range);
    item.evidence = PhaseEvidence::kAnnotation;
  };
  const auto is_known = [&](int32_t range) {
    return range != kNoRange && ranges_.kind(range) != PhaseKind::kNamed &&
           ranges_.kind(range) != PhaseKind::kCommunication;
  };
  const auto training = code_.training(item.event);
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
  if (training && (*training != PhaseKind::kForward || own == kNoRange ||
                   ranges_.kind(own) == PhaseKind::kCommunication)) {
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

// A collective is a phase by itself only on a thread of its own. Among other work its range tells
// what it is, not what it is for: fill_gaps gives it to the phase around.
void PhaseFinder::join_collectives() {
  std::vector<bool> mixed(store_.track_count());
  for (const PhaseItem& item : items_) {
    if (item.thread.valid() && item.kind != PhaseKind::kCommunication) {
      mixed[item.thread.index] = true;
    }
  }
  for (PhaseItem& item : items_) {
    if (item.kind != PhaseKind::kCommunication) continue;
    if (item.thread.valid() && !mixed[item.thread.index]) continue;
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
          before.step == item.step) {
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

void PhaseFinder::label_repeats() {
  const Nanos all = time_of(0, items_.size());
  for (size_t begin = 0; begin < items_.size();) {
    size_t end = begin;
    while (end < items_.size() && !items_[end].has_phase()) ++end;
    if (end > begin) {
      label_collectives(begin, end);
      if (!items_[begin].has_phase() && ratio(time_of(begin, end), all) >= kWorthSearching) {
        search_repeats(begin, end, 0, 0);
      }
    }
    begin = std::max(end, begin + 1);
  }
}

void PhaseFinder::label_collectives(size_t begin, size_t end) {
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
  if (2 * count < end - begin) return;
  if (ratio(collectives, time_of(begin, end)) < kMostlyCollectives) return;
  for (size_t i = begin; i < end; ++i) items_[i].kind = PhaseKind::kCommunication;
}

WorkSequence PhaseFinder::sequence_of(size_t begin, size_t end) const {
  WorkSequence sequence;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>, uint32_t> numbers;
  Nanos busy_until = store_.start(items_[begin].event);
  for (size_t i = begin; i < end; ++i) {
    const EventId e = items_[i].event;
    const Dim3 grid = store_.gpu_work(e).grid.value_or(Dim3{});
    const auto number = static_cast<uint32_t>(numbers.size());
    sequence.symbols.push_back(
        numbers.emplace(std::tuple(store_.name_id(e).index, grid.x, grid.y, grid.z), number)
            .first->second);
    sequence.times.push_back(store_.duration(e));
    sequence.gaps.push_back(std::max(store_.start(e) - busy_until, Nanos{}));
    busy_until = std::max(busy_until, store_.end(e));
  }
  return sequence;
}

std::vector<RepeatedPart> PhaseFinder::parts_by_step(size_t begin, size_t end) const {
  std::vector<RepeatedPart> parts;
  for (size_t i = begin; i < end; ++i) {
    if (items_[i].step == kNoRange) continue;
    if (i == begin || items_[i].step != items_[i - 1].step) parts.push_back({i - begin, 0});
    parts.back().end = i + 1 - begin;
  }
  return parts;
}

// `least`: the length of a part that counts; `depth`: how often a rest was searched.
void PhaseFinder::search_repeats(size_t begin, size_t end, size_t least, int depth) {
  const WorkSequence sequence = sequence_of(begin, end);
  const std::vector<RepeatedPart> steps = parts_by_step(begin, end);
  std::vector<RepeatedPart> parts = alike_parts(sequence, steps);
  if (parts.empty()) parts = find_repetition(sequence);
  if (parts.empty() || parts[parts.size() / 2].end - parts[parts.size() / 2].begin < least) return;
  ++repetitions_;
  for (RepeatedPart part : parts) {
    ++parts_;
    for (size_t i = begin + part.begin; i < begin + part.end; ++i) {
      items_[i].kind = PhaseKind::kRepeat;
      items_[i].evidence = PhaseEvidence::kRepetition;
      items_[i].part = parts_;
      items_[i].repetition = repetitions_;
    }
  }
  // What is left may repeat by itself: training steps after the decode steps. Much shorter parts
  // are the layers of one step.
  constexpr int kMostDepth = 3;
  if (depth == kMostDepth) return;
  const size_t first = begin + parts.front().begin, last = begin + parts.back().end;
  const Nanos whole = time_of(begin, end);
  const size_t length = (parts.front().end - parts.front().begin) / 2;
  if (ratio(time_of(begin, first), whole) >= kWorthSearching) {
    search_repeats(begin, first, length, depth + 1);
  }
  if (ratio(time_of(last, end), whole) >= kWorthSearching)
    search_repeats(last, end, length, depth + 1);
}

Stretch PhaseFinder::look_for_attention(const AttentionLengths& attention, size_t begin,
                                        size_t end) const {
  Stretch stretch{.begin = begin, .end = end, .example = {}};
  uint32_t last = UINT32_MAX;
  for (size_t i = begin; i < end; ++i) {
    const AttentionUse use = attention.use(items_[i].event);
    if (use == AttentionUse::kNone || attention.source(items_[i].event) == last) continue;
    last = attention.source(items_[i].event);
    if (!stretch.example.valid()) {
      stretch.example = EventId(last);
      stretch.first = i;
    } else if (stretch.layer == 0) {
      stretch.layer = i - stretch.first;
    }
    ++(use == AttentionUse::kToken ? stretch.tokens : stretch.prompts);
  }
  stretch.is_decode =
      items_[begin].kind == PhaseKind::kRepeat && stretch.prompts == 0 && stretch.tokens >= 2;
  return stretch;
}

// Repeated parts with attention of few queries in two layers or more are decode steps. Only where
// the trace has such, work with attention of many queries is a prefill: an encoder has it as well.
void PhaseFinder::label_by_attention() {
  const AttentionLengths attention(store_, tree_);
  std::vector<Stretch> stretches;
  size_t decodes = 0;
  for (size_t i = 0; i < items_.size();) {
    const size_t begin = i;
    while (i < items_.size() && items_[i].kind == items_[begin].kind &&
           items_[i].part == items_[begin].part) {
      ++i;
    }
    if (items_[begin].has_phase() && items_[begin].part == 0) continue;
    Stretch stretch = look_for_attention(attention, begin, i);
    decodes += stretch.is_decode ? 1 : 0;
    // What is between decode steps is one stretch, whatever repeats in it: layers or chunks.
    const bool joins = !stretches.empty() && stretches.back().end == begin &&
                       !stretches.back().is_decode && !stretch.is_decode;
    if (joins) {
      stretches.back().append(stretch);
    } else {
      stretches.push_back(stretch);
    }
  }
  if (decodes < 2) return;
  for (const Stretch& stretch : stretches) {
    const bool prefill = !stretch.is_decode && stretch.tokens == 0 && stretch.prompts >= 2;
    if (!stretch.is_decode && !prefill) continue;
    // Before the first attention is the first half of a layer; what comes earlier is set-up.
    const size_t before = stretch.layer + kLittleWork;
    const size_t begin =
        prefill && stretch.first > stretch.begin + before ? stretch.first - before : stretch.begin;
    ++parts_;
    for (size_t i = stretch.begin; i < stretch.end; ++i) {
      const bool set_up = i < begin;
      items_[i].kind = set_up              ? PhaseKind::kOther
                       : stretch.is_decode ? PhaseKind::kDecode
                                           : PhaseKind::kPrefill;
      items_[i].evidence = set_up ? PhaseEvidence::kNone : PhaseEvidence::kShapes;
      items_[i].part = set_up ? 0 : parts_;
      if (!set_up) items_[i].shown_by = stretch.example;
    }
  }
}

std::vector<Phase> PhaseFinder::collect() const {
  return PhaseRuns(store_, tree_, ranges_, items_).take();
}

}  // namespace

std::vector<Phase> find_phases(const EventStore& store, const CallTree& tree,
                               const std::vector<EventId>& gpu_work) {
  return PhaseFinder(store, tree, gpu_work).find();
}

}  // namespace fathom
