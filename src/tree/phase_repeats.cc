#include "tree/phase_repeats.h"

#include <algorithm>

#include "tree/work_sequence.h"

namespace fathom {
namespace {

// The least share of the time that is searched again.
constexpr double kWorthSearchingAgain = 0.15;
constexpr int kMostDepth = 3;

}  // namespace

WorkSequence PhaseRepeats::sequence_of(size_t begin, size_t end) const {
  std::vector<EventId> work;
  work.reserve(end - begin);
  for (size_t i = begin; i < end; ++i) work.push_back(items_[i].event);
  return work_sequence(store_, work);
}

std::vector<RepeatedPart> PhaseRepeats::parts_by_step(size_t begin, size_t end) const {
  std::vector<RepeatedPart> parts;
  for (size_t i = begin; i < end; ++i) {
    if (items_[i].step == PhaseRanges::kNone) continue;
    if (i == begin || items_[i].step != items_[i - 1].step) parts.push_back({i - begin, 0});
    parts.back().end = i + 1 - begin;
  }
  return parts;
}

// `least`: the length of a part that counts; `depth`: how often a rest was searched.
void PhaseRepeats::search(size_t begin, size_t end, size_t least, int depth) {
  std::vector<RepeatedPart> parts;
  {
    const WorkSequence sequence = sequence_of(begin, end);
    parts = alike_parts(sequence, parts_by_step(begin, end));
    if (parts.empty()) parts = find_repetition(sequence);
  }
  if (parts.empty()) return;
  const RepeatedPart usual = parts[parts.size() / 2];
  if (usual.end - usual.begin < least) return;
  // A part with a prefill and decode steps is a request: its steps are searched inside it.
  const Stretch attention = look_for_attention(begin + usual.begin, begin + usual.end);
  if (attention.prompts >= 2 && attention.tokens >= 4 && depth < kMostDepth) {
    for (RepeatedPart part : parts) search(begin + part.begin, begin + part.end, 0, depth + 1);
    return search_rest(begin, end, parts, depth);
  }
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
  search_rest(begin, end, parts, depth);
}

// What is left may repeat by itself: training steps after the decode steps. Much shorter parts are
// the layers of one step.
void PhaseRepeats::search_rest(size_t begin, size_t end, const std::vector<RepeatedPart>& parts,
                               int depth) {
  if (depth == kMostDepth) return;
  const auto time_of = [&](size_t from, size_t to) {
    Nanos sum;
    for (size_t i = from; i < to; ++i) sum += store_.duration(items_[i].event);
    return sum;
  };
  const size_t first = begin + parts.front().begin, last = begin + parts.back().end;
  const size_t least = (parts.front().end - parts.front().begin) / 2;
  const Nanos whole = time_of(begin, end);
  if (ratio(time_of(begin, first), whole) >= kWorthSearchingAgain) {
    search(begin, first, least, depth + 1);
  }
  if (ratio(time_of(last, end), whole) >= kWorthSearchingAgain) search(last, end, least, depth + 1);
}

void PhaseRepeats::Stretch::append(const Stretch& next) {
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

PhaseRepeats::Stretch PhaseRepeats::look_for_attention(size_t begin, size_t end) const {
  Stretch stretch{.begin = begin, .end = end, .example = {}};
  uint32_t last = UINT32_MAX;
  for (size_t i = begin; i < end; ++i) {
    const AttentionUse use = attention_.use(items_[i].event);
    if (use == AttentionUse::kNone || attention_.source(items_[i].event) == last) continue;
    last = attention_.source(items_[i].event);
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

bool PhaseRepeats::may_generate(size_t begin, size_t end) const {
  return look_for_attention(begin, end).tokens >= 4;
}

std::vector<PhaseRepeats::Stretch> PhaseRepeats::find_stretches() const {
  std::vector<Stretch> stretches;
  const auto are_together = [&](size_t a, size_t b) {
    return items_[a].device == items_[b].device && items_[a].range == items_[b].range;
  };
  for (size_t i = 0; i < items_.size();) {
    const size_t begin = i;
    while (i < items_.size() && items_[i].kind == items_[begin].kind &&
           items_[i].part == items_[begin].part && are_together(begin, i)) {
      ++i;
    }
    if (items_[begin].has_phase() && items_[begin].part == 0) continue;
    const Stretch stretch = look_for_attention(begin, i);
    // What is between decode steps is one stretch, whatever repeats in it: layers or chunks.
    const bool joins = !stretches.empty() && stretches.back().end == begin &&
                       are_together(begin - 1, begin) && !stretches.back().is_decode &&
                       !stretch.is_decode;
    if (joins) {
      stretches.back().append(stretch);
    } else {
      stretches.push_back(stretch);
    }
  }
  return stretches;
}

// Repeated parts with attention of few queries in two layers or more are decode steps. Only where
// the trace has such, work with attention of many queries is a prefill: an encoder has it as well.
void PhaseRepeats::label_generation() {
  const std::vector<Stretch> stretches = find_stretches();
  if (std::ranges::count_if(stretches, &Stretch::is_decode) < 2) return;
  const auto decode = std::ranges::find_if(stretches, &Stretch::is_decode);
  for (const Stretch& stretch : stretches) {
    if (stretch.is_decode || stretch.is_prefill()) label(stretch, decode->first - decode->begin);
  }
}

// `lead`: how many kernels a decode step has before its first attention. A prefill has about as
// many; what comes earlier is set-up.
void PhaseRepeats::label(const Stretch& stretch, size_t lead) {
  const size_t before = std::min(stretch.layer, lead);
  const bool has_set_up = stretch.is_prefill() && stretch.first > stretch.begin + before;
  const size_t begin = has_set_up ? stretch.first - before : stretch.begin;
  for (size_t i = stretch.begin; i < begin; ++i) {
    items_[i].kind = PhaseKind::kOther;
    items_[i].evidence = PhaseEvidence::kNone;
    items_[i].part = items_[i].repetition = 0;
  }
  ++parts_;
  for (size_t i = begin; i < stretch.end; ++i) {
    items_[i].kind = stretch.is_decode ? PhaseKind::kDecode : PhaseKind::kPrefill;
    items_[i].evidence = PhaseEvidence::kShapes;
    items_[i].part = parts_;
    items_[i].shown_by = stretch.example;
  }
}

}  // namespace fathom
