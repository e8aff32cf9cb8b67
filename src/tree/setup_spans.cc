#include "tree/setup_spans.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/glob.h"
#include "base/tsv.h"

extern const std::string_view phase_setup_tsv;

namespace fathom {
namespace {

struct SetupRule {
  std::string pattern;
  SetupKind kind;
};

const std::vector<SetupRule>& setup_rules() {
  static const std::vector<SetupRule> rules = [] {
    std::vector<SetupRule> read;
    for (const auto& row : read_tsv(phase_setup_tsv, 3)) {
      const SetupKind kind = row[1] == "autotuning" ? SetupKind::kAutotuning
                             : row[1] == "capture"  ? SetupKind::kCapture
                                                    : SetupKind::kCompilation;
      read.push_back({std::string(row[0]), kind});
    }
    return read;
  }();
  return rules;
}

}  // namespace

std::optional<SetupKind> setup_kind(std::string_view name) {
  constexpr size_t kLongest = 400;  // a longer name is text of the program's user
  if (name.size() > kLongest) return std::nullopt;
  for (const SetupRule& rule : setup_rules())
    if (glob_matches(rule.pattern, name)) return rule.kind;
  return std::nullopt;
}

SetupSpans::SetupSpans(const EventStore& store) {
  std::unordered_map<StringId, bool> names;
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId e(i);
    const EventKind kind = store.kind(e);
    if (!is_host_call(kind) && kind != EventKind::kAnnotation && kind != EventKind::kPython)
      continue;
    if (store.end(e) <= store.start(e)) continue;
    const auto [known, is_new] = names.try_emplace(store.name_id(e));
    if (is_new) known->second = setup_kind(store.name(e)).has_value();
    if (!known->second) continue;
    if (by_track_.empty()) by_track_.resize(store.track_count());
    by_track_[store.track_id(e).index].push_back({store.start(e), store.end(e)});
    if (!example_.valid() || store.duration(e) > store.duration(example_)) example_ = e;
  }
  for (std::vector<Interval>& spans : by_track_) {
    spans = merge_intervals(std::move(spans));
    spans_.insert(spans_.end(), spans.begin(), spans.end());
  }
}

bool SetupSpans::contains(TrackId thread, Nanos time) const {
  if (!thread.valid() || thread.index >= by_track_.size()) return false;
  const std::vector<Interval>& spans = by_track_[thread.index];
  const auto after = std::ranges::upper_bound(spans, time, {}, &Interval::begin);
  return after != spans.begin() && time < (after - 1)->end;
}

}  // namespace fathom
