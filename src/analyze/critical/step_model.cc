#include "analyze/critical/step_model.h"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

// ns of a call, or between two of them, that can be the profiler's.
constexpr int64_t kMostOverhead = 40'000;
// ns between two calls that Python needs from one to the next.
constexpr int64_t kFromCallToCall = 200'000;
// What is left of a short host call without a profiler that records ops and stacks, and without
// one that records ops: steps recorded against steps that were not (tests/faults/times.tsv).
constexpr StepModel::HostLeft kLeftWithStacks = {0.35, 0.52, 0.7}, kLeftWithOps = {0.6, 0.8, 0.9},
                              kNotProfiled = {0.9, 1, 1};

StepModel::HostLeft left_without_profiler(const SheetInput& input) {
  if (!input.tree.has_ops()) return kNotProfiled;
  for (size_t i = 0; i < input.store.size(); ++i)
    if (input.store.kind(EventId(i)) == EventKind::kPython) return kLeftWithStacks;
  return kLeftWithOps;
}

}  // namespace

StepModel::StepModel(const SheetInput& input, const CriticalPath& path)
    : StepModel(input, path, left_without_profiler(input)) {}

StepModel::StepModel(const SheetInput& input, const CriticalPath& path, const HostLeft& left)
    : input_(input),
      graph_(path.graph()),
      left_of_calls_(left),
      change_(graph_),
      left_(input.store.size(), 1.F),
      is_gone_(input.store.size()),
      in_window_(input.store.size()),
      is_wait_(input.store.size()) {
  for (uint32_t i = 0; i < graph_.size(); ++i) {
    if (graph_.event[i].valid()) in_window_[graph_.event[i].index] = true;
    if (graph_.kind[i] == NodeKind::kSync) is_wait_[graph_.event[i].index] = true;
    for (const HostSlice& slice : graph_.slices_of(i))
      if (slice.event.valid()) in_window_[slice.event.index] = true;
  }
  if (graph_.empty()) return;
  find_tracks();
  find_profiler_code();
}

// What PyTorch's profiler does between two steps.
void StepModel::find_profiler_code() {
  const EventStore& store = input_.store;
  std::vector<bool> is_step(store.text_count());
  bool any = false;
  for (size_t i = 0; i < store.text_count(); ++i) {
    const std::string_view text = store.text(StringId(i));
    is_step[i] = text.ends_with(": step") &&
                 text.find("torch/profiler/profiler.py(") != std::string_view::npos;
    any = any || is_step[i];
  }
  if (!any) return;
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId e(i);
    if (store.kind(e) != EventKind::kPython || !is_step[store.name_id(e).index]) continue;
    remove_code({store.track_id(e), {store.start(e), store.end(e)}}, true);
  }
  profiler_code_ = merged(std::move(code_));
  code_.clear();
}

const std::vector<int64_t>& StepModel::durations() {
  for (const auto& [left, known] : durations_)
    if (left == host_left_) return known;
  std::vector<int64_t> made = graph_.duration;
  for (uint32_t i = 0; i < graph_.size(); ++i)
    if (!is_on_gpu(graph_.kind[i])) made[i] = host_time(i, false);
  return durations_.emplace_back(host_left_, std::move(made)).second;
}

int64_t StepModel::whole(Outlook outlook) {
  for (const auto& [left, of, length] : lengths_)
    if (left == host_left_ && of == outlook) return length;
  visited_ += graph_.size();
  GraphChange change(graph_);
  change.duration = durations();
  replay(graph_, change, outlook, replayed_);
  lengths_.emplace_back(host_left_, outlook, replayed_.length);
  return replayed_.length;
}

// Nodes by event, as ranges of one list.
void StepModel::index_nodes() {
  first_node_.assign(input_.store.size() + 1, 0);
  const auto visit = [this](auto take) {
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (graph_.event[i].valid()) take(graph_.event[i].index, i);
      for (const HostSlice& slice : graph_.slices_of(i))
        if (slice.event.valid()) take(slice.event.index, i);
    }
  };
  visit([this](uint32_t event, uint32_t) { ++first_node_[event + 1]; });
  for (size_t i = 1; i < first_node_.size(); ++i) first_node_[i] += first_node_[i - 1];
  nodes_.resize(first_node_.back());
  changed_in_.assign(graph_.size(), 0);
  std::vector<uint32_t> next(first_node_.begin(), first_node_.end() - 1);
  visit([&](uint32_t event, uint32_t node) { nodes_[next[event]++] = node; });
}

void StepModel::change_node(uint32_t node) {
  const EventId event = graph_.event[node];
  if (!is_on_gpu(graph_.kind[node])) {
    change_.duration[node] = host_time(node, true);
    change_.removed[node] = event.valid() && left_[event.index] == 0;
    return;
  }
  const double part = left_[event.index];
  change_.removed[node] = part == 0;
  change_.duration[node] = std::llround(static_cast<double>(graph_.duration[node]) * part);
}

int64_t StepModel::left_of(int64_t length) const {
  const auto part = static_cast<int64_t>(static_cast<double>(length) * host_left_);
  return std::max(part, length - kMostOverhead);
}

void StepModel::begin_repair() {
  // A repair is about a few events; a trace has many.
  for (const uint32_t event : changed_) {
    left_[event] = 1;
    is_gone_[event] = false;
  }
  changed_.clear();
  code_.clear();
  calls_left_ = 1;
}

void StepModel::keep_work(EventId work, double part) {
  leave(work.index, static_cast<float>(std::clamp(part, 0.0, 1.0)));
}

void StepModel::remove_call(CallId call) {
  // Calls inside one another are asked for one by one: what is gone is gone with all in it.
  const CallId end = input_.tree.subtree_end(call);
  for (CallId c = call; c < end;) {
    const uint32_t event = input_.tree.event(c).index;
    if (is_gone_[event]) {
      c = input_.tree.subtree_end(c);
      continue;
    }
    is_gone_[event] = true;
    leave(event, 0);
    ++c.index;
  }
}

void StepModel::remove_waits_in(CallId call) {
  const CallId end = input_.tree.subtree_end(call);
  for (CallId c = call; c < end; ++c.index) {
    const EventId event = input_.tree.event(c);
    if (is_wait_[event.index]) leave(event.index, 0);
  }
}

void StepModel::remove_code(const Code& code, bool all) {
  const int64_t begin = (code.when.begin - graph_.begin).count;
  const int64_t length = std::max<int64_t>(0, (code.when.end - code.when.begin).count);
  code_.push_back({code.track, begin, begin + length, all});
}

void StepModel::find_tracks() {
  track_.resize(graph_.size());
  // Nodes of a thread follow each other; the first that names a call tells which thread it is.
  std::vector<uint32_t> first(graph_.size(), kNoNode);
  for (uint32_t i = 0; i < graph_.size(); ++i) {
    if (is_on_gpu(graph_.kind[i])) continue;
    const uint32_t before = graph_.previous[i];
    first[i] = before == kNoNode ? i : first[before];
    EventId known = graph_.event[i];
    for (const HostSlice& slice : graph_.slices_of(i))
      if (!known.valid()) known = slice.event;
    if (known.valid() && !track_[first[i]].valid()) track_[first[i]] = input_.store.track_id(known);
  }
  for (uint32_t i = 0; i < graph_.size(); ++i)
    if (first[i] != kNoNode) track_[i] = track_[first[i]];
}

bool StepModel::is_removed(const std::vector<RemovedCode>& code, TrackId track, int64_t begin,
                           int64_t length) const {
  // The time between two calls may begin before the code or end after it.
  const int64_t middle = begin + length / 2;
  const auto after =
      std::ranges::upper_bound(code, std::pair(track, middle), {},
                               [](const RemovedCode& c) { return std::pair(c.track, c.begin); });
  if (after == code.begin()) return false;
  const RemovedCode& around = *(after - 1);
  return around.track == track && middle <= around.end && (around.all || length > kMostOverhead);
}

int64_t StepModel::host_time(uint32_t node, bool is_repaired) const {
  const double calls = is_repaired ? calls_left_ : 1;
  const auto left = [&](EventId event) {
    return is_repaired && event.valid() ? double{left_[event.index]} : 1.0;
  };
  const NodeKind kind = graph_.kind[node];
  if (kind != NodeKind::kHost) {
    const double part = kind == NodeKind::kPause ? 1 : calls;
    return std::llround(static_cast<double>(left_of(graph_.duration[node])) * part *
                        left(graph_.event[node]));
  }
  double time = 0;
  int64_t at = graph_.start[node];
  for (const HostSlice& slice : graph_.slices_of(node)) {
    const auto own = static_cast<double>(left_of(slice.length));
    if (slice.event.valid()) {
      time += own * left(slice.event) * calls;
    } else if (!is_removed(profiler_code_, track_[node], at, slice.length) &&
               !(is_repaired && is_removed(code_, track_[node], at, slice.length))) {
      time += own * (slice.length <= kFromCallToCall ? calls : 1);
    }
    at += slice.length;
  }
  return std::llround(time);
}

// By thread and time; of those that overlap one that holds both.
std::vector<StepModel::RemovedCode> StepModel::merged(std::vector<RemovedCode> code) {
  std::ranges::sort(code, {}, [](const RemovedCode& c) { return std::pair(c.track, c.begin); });
  size_t kept = 0;
  for (const RemovedCode& next : code) {
    RemovedCode* last = kept > 0 ? &code[kept - 1] : nullptr;
    if (last != nullptr && last->track == next.track && next.begin <= last->end) {
      last->end = std::max(last->end, next.end);
      last->all = last->all && next.all;
    } else {
      code[kept++] = next;
    }
  }
  code.resize(kept);
  return code;
}

double StepModel::saved(Outlook outlook, double HostLeft::* left) {
  host_left_ = left_of_calls_.*left;
  if (graph_.empty() || spent()) return 0;
  const int64_t before = whole(outlook);
  if (before <= 0) return 0;
  return std::max(0.0, 1 - static_cast<double>(repaired(outlook)) / static_cast<double>(before));
}

double StepModel::lengthened() {
  if (graph_.empty() || spent()) return 1;
  host_left_ = left_of_calls_.likely;
  const auto length = static_cast<double>(whole(Outlook::kOptimistic));
  return length > 0 ? static_cast<double>(graph_.length) / length : 1;
}

double StepModel::saved_at_most() {
  if (graph_.empty() || spent()) return 0;
  constexpr Outlook kOutlook = Outlook::kOptimistic;
  host_left_ = left_of_calls_.most;
  const auto gone = static_cast<double>(whole(kOutlook) - repaired(kOutlook));
  host_left_ = left_of_calls_.least;
  const auto rest = static_cast<double>(repaired(kOutlook));
  return gone <= 0 || rest < 0 ? 0 : gone / (gone + rest);
}

std::pair<double, double> StepModel::saved_by(const GraphChange& change) {
  std::pair<double, double> range(1, -INFINITY);
  change_.removed = change.removed;
  for (const auto left : {&HostLeft::least, &HostLeft::likely, &HostLeft::most}) {
    for (const Outlook outlook : {Outlook::kPessimistic, Outlook::kOptimistic}) {
      host_left_ = left_of_calls_.*left;
      const int64_t before = whole(outlook);
      if (before <= 0) return {0, 0};
      change_.duration = durations();
      for (uint32_t i = 0; i < graph_.size(); ++i) {
        if (change.duration[i] == graph_.duration[i] || graph_.duration[i] == 0) continue;
        const double part =
            static_cast<double>(change.duration[i]) / static_cast<double>(graph_.duration[i]);
        change_.duration[i] = std::llround(static_cast<double>(change_.duration[i]) * part);
      }
      replay(graph_, change_, outlook, replayed_);
      const double saved = 1 - static_cast<double>(replayed_.length) / static_cast<double>(before);
      range = {std::min(range.first, saved), std::max(range.second, saved)};
    }
  }
  return range;
}

// The length of the steps with the repair.
int64_t StepModel::repaired(Outlook outlook) {
  visited_ += 2 * graph_.size();
  code_ = merged(std::move(code_));
  if (calls_left_ == 1 && code_.empty()) {
    // Only what the repair is about differs from the step as it is.
    if (first_node_.empty()) index_nodes();
    change_.duration = durations();
    change_.removed.assign(graph_.size(), false);
    ++round_;  // a node has slices of many events, and is changed once
    for (const uint32_t event : changed_) {
      for (uint32_t i = first_node_[event]; i < first_node_[event + 1]; ++i) {
        const uint32_t node = nodes_[i];
        if (changed_in_[node] == round_) continue;
        changed_in_[node] = round_;
        change_node(node);
      }
    }
  } else {
    for (uint32_t i = 0; i < graph_.size(); ++i) change_node(i);
  }
  replay(graph_, change_, outlook, replayed_);
  return replayed_.length;
}

}  // namespace fathom
