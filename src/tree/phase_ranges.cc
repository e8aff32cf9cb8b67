#include "tree/phase_ranges.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/hash.h"

namespace fathom {
namespace {

// More names than this are no overview: those with the least work are left to the ranges around.
constexpr size_t kMostInnerNames = 12;
constexpr int64_t kMostNames = 20;
// A range around (nearly) everything; ranges inside that make up (nearly) all of it.
constexpr double kAround = 0.9, kMadeUp = 0.8;

bool is_serving(PhaseKind kind) {
  return kind == PhaseKind::kPrefill || kind == PhaseKind::kDecode;
}

// Whether a range inside another is a phase of its own. Recomputed forward work belongs to the
// backward pass, a collective to the phase that waits for it. A closure runs the whole step inside
// the optimiser's range.
bool inner_wins(PhaseKind outer, PhaseKind inner) {
  if (outer == inner || inner == PhaseKind::kNamed) return false;
  if (inner == PhaseKind::kCommunication) return false;
  if (outer == PhaseKind::kNamed || outer == PhaseKind::kCommunication) return true;
  if (is_serving(inner)) return true;
  if (is_serving(outer)) return inner != PhaseKind::kForward;
  if (outer == PhaseKind::kBackward) return inner == PhaseKind::kOptimizer;
  return true;
}

}  // namespace

PhaseRanges::PhaseRanges(const EventStore& store) {
  read_names(store);
  doubt_decoding();
  nest();
  find_mirrors(store);
  // A library that annotates everything it does tells nothing of another thread's work.
  const bool few_names =
      std::ranges::count(names_, NameRole::kNamed, &PhaseName::role) <= kMostNames;
  std::vector<LatestOpen::Span> spans, steps;
  tracks_.resize(store.track_count());
  for (size_t i = 0; i < ranges_.size(); ++i) {
    const Range& r = ranges_[i];
    if (may_be_phase(r)) tracks_[r.track.index] = true;
    has_images_ = has_images_ || on_gpu_[r.event.index];
    if (on_gpu_[r.event.index]) continue;
    const PhaseName& of = name(r);
    if (of.role == NameRole::kStep) steps.push_back({r.begin, r.end, i});
    if (of.role == NameRole::kNamed
            ? few_names
            : of.role == NameRole::kPhase && of.kind != PhaseKind::kCommunication) {
      spans.push_back({r.begin, r.end, i});
    }
  }
  any_thread_ = LatestOpen(std::move(spans));
  steps_ = LatestOpen(std::move(steps));
}

void PhaseRanges::read_names(const EventStore& store) {
  std::unordered_map<StringId, int32_t> by_id;
  std::unordered_map<std::string, NameMeaning, TableHash> meanings;  // by words
  std::unordered_map<std::string, int32_t, TableHash> by_text;
  const auto number_of = [&](std::string_view name) {
    const std::string words = words_of_name(name);
    const auto [known, is_new] = meanings.emplace(words, NameMeaning{});
    if (is_new) known->second = meaning_of_words(words);
    PhaseName read{known->second, text_of_name(name)};
    // One text may be of two kinds: which numbers a name has may tell them apart.
    std::string key = read.text;
    key += static_cast<char>(read.kind);
    key += static_cast<char>(read.role);
    const auto [same, is_first] = by_text.emplace(key, static_cast<int32_t>(names_.size()));
    if (is_first) names_.push_back(std::move(read));
    return same->second;
  };
  on_gpu_.resize(store.size());
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId e(i);
    if (!is_annotation(store.kind(e))) continue;
    on_gpu_[i] = store.kind(e) == EventKind::kGpuAnnotation;
    const auto [known, is_new] = by_id.emplace(store.name_id(e), 0);
    if (is_new) known->second = number_of(store.name(e));
    ranges_.push_back({e, store.track_id(e), store.start(e), store.end(e), kNone, known->second});
  }
}

// An image model encodes and decodes too. Without a prefill its "decode" is a name like another.
void PhaseRanges::doubt_decoding() {
  bool prefill = false, image = false;
  for (const PhaseName& n : names_) {
    prefill = prefill || n.kind == PhaseKind::kPrefill;
    const std::string words = words_of_name(n.text);
    for (std::string_view word : {" encode ", " denoise ", " denoising ", " unet ", " vae "}) {
      image = image || words.find(word) != std::string::npos;
    }
  }
  if (prefill || !image) return;
  for (PhaseName& n : names_) {
    if (n.kind != PhaseKind::kDecode) continue;
    n.kind = PhaseKind::kNamed;
    n.role = NameRole::kNamed;
  }
}

void PhaseRanges::nest() {
  std::ranges::sort(ranges_, [](const Range& a, const Range& b) {
    return std::tie(a.track.index, a.begin, b.end, a.event) <
           std::tie(b.track.index, b.begin, a.end, b.event);
  });
  int32_t open = kNone;
  for (size_t i = 0; i < ranges_.size(); ++i) {
    Range& r = ranges_[i];
    while (open != kNone && (range(open).track != r.track || range(open).end <= r.begin)) {
      open = range(open).parent;
    }
    r.parent = open;
    if (open != kNone) r.pass = range(open).pass;
    if (name(r).role == NameRole::kPart && name(r).kind != PhaseKind::kNamed) {
      // What autograd's op calls is part of it.
      if (r.pass != PhaseKind::kBackward) r.pass = name(r).kind;
      has_backward_ = has_backward_ || r.pass == PhaseKind::kBackward;
    }
    open = static_cast<int32_t>(i);
  }
}

void PhaseRanges::find_mirrors(const EventStore& store) {
  std::map<std::pair<LaunchKey, int32_t>, int32_t> by_key;
  mirrors_.resize(ranges_.size());
  for (size_t i = 0; i < ranges_.size(); ++i) {
    mirrors_[i] = static_cast<int32_t>(i);
    const auto& key = store.launch(ranges_[i].event).key;
    if (key && !on_gpu_[ranges_[i].event.index]) {
      by_key.emplace(std::pair(*key, ranges_[i].name), static_cast<int32_t>(i));
    }
  }
  for (size_t i = 0; i < ranges_.size(); ++i) {
    const auto& key = store.launch(ranges_[i].event).key;
    if (!key || !on_gpu_[ranges_[i].event.index]) continue;
    const auto host = by_key.find(std::pair(*key, ranges_[i].name));
    if (host != by_key.end()) mirrors_[i] = host->second;
  }
}

std::optional<PhaseKind> PhaseRanges::pass_of(int32_t index) const {
  if (index == kNone || !has_backward_ || range(index).pass == PhaseKind::kNamed) return {};
  return range(index).pass;
}

std::vector<int32_t> PhaseRanges::innermost(std::vector<Query> queries, size_t items) const {
  std::ranges::sort(queries, [](const Query& a, const Query& b) {
    return std::tie(a.track, a.time, a.item) < std::tie(b.track, b.time, b.item);
  });
  std::vector<int32_t> found(items, kNone);
  int32_t open = kNone;
  size_t next = 0;
  for (const Query& query : queries) {
    const auto begins_before = [&](const Range& r) {
      return std::tie(r.track, r.begin) <= std::tie(query.track, query.time);
    };
    for (; next < ranges_.size() && begins_before(ranges_[next]); ++next) {
      open = static_cast<int32_t>(next);
    }
    while (open != kNone && (range(open).track != query.track || range(open).end <= query.time)) {
      open = range(open).parent;
    }
    found[query.item] = open;
  }
  return found;
}

int32_t PhaseRanges::on_any_thread(Nanos time) const {
  const auto found = any_thread_.at(time);
  return found ? static_cast<int32_t>(*found) : kNone;
}

int32_t PhaseRanges::step_at(Nanos time) const {
  const auto found = steps_.at(time);
  return found ? static_cast<int32_t>(*found) : kNone;
}

std::vector<PhaseRanges::NameFacts> PhaseRanges::weigh(
    const std::vector<Inside>& work, const std::vector<Nanos>& backward_launches) const {
  std::vector<Nanos> inside(ranges_.size()), explained(ranges_.size());
  for (const Inside& w : work) {
    if (w.range == kNone) continue;
    inside[static_cast<size_t>(w.range)] += w.time;
    if (w.explained) explained[static_cast<size_t>(w.range)] += w.time;
  }
  for (size_t i = ranges_.size(); i-- > 0;) {  // those inside come later
    if (ranges_[i].parent == kNone) continue;
    inside[static_cast<size_t>(ranges_[i].parent)] += inside[i];
    explained[static_cast<size_t>(ranges_[i].parent)] += explained[i];
  }
  std::vector<NameFacts> facts(names_.size());
  std::vector<int32_t> above(ranges_.size(), kNone);  // the nearest that may be a phase
  std::vector<bool> on_host(names_.size());
  for (const Range& r : ranges_) {
    if (!on_gpu_[r.event.index]) on_host[static_cast<size_t>(r.name)] = true;
  }
  std::unordered_set<uint64_t> pairs;
  for (size_t i = 0; i < ranges_.size(); ++i) {
    const Range& r = ranges_[i];
    if (r.parent != kNone) {
      above[i] = may_be_phase(range(r.parent)) ? r.parent : above[static_cast<size_t>(r.parent)];
    }
    const int32_t around = above[i];
    const bool nested = around != kNone && range(around).name == r.name;
    if (nested || !may_be_phase(r)) continue;
    NameFacts& of = facts[static_cast<size_t>(r.name)];
    of.inside += inside[i];
    of.covered += explained[i];
    // Images on the GPU are not counted again.
    const size_t one = on_gpu_[r.event.index] && on_host[static_cast<size_t>(r.name)] ? 0 : 1;
    of.ranges += one;
    if (!on_gpu_[r.event.index]) {
      const auto later = std::ranges::lower_bound(backward_launches, r.begin);
      of.with_backward += later != backward_launches.end() && *later < r.end ? 1 : 0;
    }
    if (around == kNone) continue;
    NameFacts& outer = facts[static_cast<size_t>(range(around).name)];
    outer.covered += inside[i] - explained[i];
    if (name(range(around)).kind == name(r).kind) outer.covered_by_kind += inside[i];
    outer.inner_ranges += one;
    const uint64_t pair =
        static_cast<uint64_t>(range(around).name) << 32 | static_cast<uint32_t>(r.name);
    outer.inner_names += pairs.insert(pair).second ? 1 : 0;
  }
  Nanos all;
  for (const Inside& w : work) all += w.time;
  for (size_t i = 0; i < names_.size(); ++i) {
    NameFacts& of = facts[i];
    if (names_[i].role == NameRole::kPhase) {
      // A loop named after what it repeats.
      of.is_container =
          of.ranges == 1 && of.inner_ranges >= 3 && ratio(of.covered_by_kind, of.inside) >= kMadeUp;
      continue;
    }
    const bool splits = of.inner_names <= kMostInnerNames &&
                        (of.inner_names > 1 || of.inner_ranges > of.ranges || of.inner_names == 0);
    of.is_container =
        2 * of.with_backward > of.ranges ||
        (splits && ratio(of.inside, all) >= kAround && ratio(of.covered, of.inside) >= kMadeUp);
  }
  return facts;
}

void PhaseRanges::choose_ranges(const std::vector<NameFacts>& facts) {
  for (size_t i = 0; i < ranges_.size(); ++i) {
    Range& r = ranges_[i];
    const int32_t outer = r.parent == kNone ? kNone : range(r.parent).chosen;
    r.chosen = outer;
    if (!may_be_phase(r) || facts[static_cast<size_t>(r.name)].is_container) continue;
    if (outer == kNone || inner_wins(kind(outer), name(r).kind)) {
      r.chosen = static_cast<int32_t>(i);
    }
  }
}

void PhaseRanges::drop_rare_names(const std::vector<Inside>& work, std::vector<NameFacts>& facts) {
  std::vector<std::pair<Nanos, size_t>> times;
  for (size_t i = 0; i < names_.size(); ++i) times.push_back({{}, i});
  for (const Inside& w : work) {
    const int32_t chosen = w.range == kNone ? kNone : range(w.range).chosen;
    if (chosen != kNone && kind(chosen) == PhaseKind::kNamed) {
      times[static_cast<size_t>(range(chosen).name)].first += w.time;
    }
  }
  std::erase_if(times, [](const auto& time) { return time.first == Nanos{}; });
  if (times.size() <= size_t{kMostNames}) return;
  std::ranges::sort(times, [](const auto& a, const auto& b) {
    return std::tie(b.first, a.second) < std::tie(a.first, b.second);
  });
  for (size_t i = size_t{kMostNames}; i < times.size(); ++i)
    facts[times[i].second].is_container = true;
}

void PhaseRanges::choose(const std::vector<Inside>& work,
                         const std::vector<Nanos>& backward_launches) {
  std::vector<NameFacts> facts = weigh(work, backward_launches);
  choose_ranges(facts);
  drop_rare_names(work, facts);
  choose_ranges(facts);
}

}  // namespace fathom
