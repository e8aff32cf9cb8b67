#include "analyze/host_threads.h"

#include <algorithm>

#include "base/sort_runs.h"
#include "tree/setup_spans.h"

namespace fathom {
namespace {

constexpr int64_t kSlowFirstCall = 2'000'000;  // ns
constexpr int64_t kBlocked = 10'000;           // ns: longer than a call that only launches

constexpr uint8_t kNamedOp = 0x40;  // beside the role of a name

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_loading_of_code(std::string_view name) {
  return has(name, "odule loading") || has(name, "odule Loading") ||  // overhead
         has(name, "unction loading") || has(name, "unction Loading") || has(name, "ModuleLoad") ||
         has(name, "LibraryLoad") || has(name, "ModuleGetFunction") || has(name, "Inductor") ||
         has(name, "GraphInstantiate") || has(name, "BeginCapture") || has(name, "EndCapture");
}

bool is_allocation(std::string_view name) {
  if (has(name, "Async")) return false;  // in the order of the stream: the host does not wait
  for (const std::string_view part :
       {"Malloc", "HostAlloc", "HostRegister", "HostUnregister", "MemAlloc", "MemCreate", "MemMap",
        "MemUnmap", "MemRelease", "MemSetAccess", "MemAddress", "cudaFree", "hipFree", "MemFree",
        "MemHostAlloc"}) {
    if (has(name, part)) return true;
  }
  return false;
}

HostRole role_of_runtime(std::string_view name) {
  if (has(name, "Synchronize")) return HostRole::kWait;
  if (has(name, "Memcpy") && !has(name, "Async")) return HostRole::kWait;
  if (is_allocation(name)) return HostRole::kAllocation;
  if (is_loading_of_code(name) || setup_kind(name)) return HostRole::kFirstUse;
  if (has(name, "Launch") || has(name, "Memcpy") || has(name, "Memset")) return HostRole::kLaunch;
  return HostRole::kNone;
}

HostRole role_of_name(std::string_view name) {
  if (setup_kind(name) || is_loading_of_code(name)) return HostRole::kFirstUse;
  if (has(name, "DataLoader") || has(name, "dataloader")) return HostRole::kInput;
  if (name.starts_with("gloo:") || name.starts_with("MPI_") || has(name, "::barrier") ||
      has(name, "monitored_barrier"))
    return HostRole::kCommunication;
  return HostRole::kNone;
}

// A user's file may be called anything; torch's own loader is told by its folder.
HostRole role_of_frame(std::string_view name) {
  if (has(name, "utils/data/") || has(name, "DataLoader")) return HostRole::kInput;
  return setup_kind(name) ? HostRole::kFirstUse : HostRole::kNone;
}

HostRole role_of_overhead(std::string_view name) {
  if (is_loading_of_code(name)) return HostRole::kFirstUse;
  if (has(name, "Activity Buffer") || has(name, "Buffer Flush") || has(name, "Instrumentation"))
    return HostRole::kProfiler;
  return HostRole::kNone;
}

// A name can be that of a frame and of a call.
size_t slot_of(EventKind kind) {
  if (is_launch(kind)) return 0;
  if (kind == EventKind::kPython) return 1;
  return kind == EventKind::kOther ? 2 : 3;
}

// Ops that time their own work by events: the library tries its algorithms for a new size.
std::vector<EventId> searching_ops(const EventStore& store, const CallTree& tree) {
  constexpr size_t kTrials = 4;
  std::vector<bool> is_timing(store.text_count());
  bool any = false;
  for (size_t i = 0; i < store.text_count(); ++i) {
    const std::string_view text = store.text(StringId(i));
    is_timing[i] = text == "cudaEventSynchronize" || text == "hipEventSynchronize";
    any = any || is_timing[i];
  }
  std::vector<EventId> found;
  if (!any) return found;
  std::unordered_map<EventId, size_t> trials;
  for (CallId c(0); c.index < tree.size(); ++c.index) {
    const EventId e = tree.event(c);
    if (!is_launch(store.kind(e)) || !is_timing[store.name_id(e).index]) continue;
    const CallId op = tree.enclosing_op(c);
    if (op.valid() && ++trials[tree.event(op)] == kTrials) found.push_back(tree.event(op));
  }
  return found;
}

}  // namespace

HostRoles::HostRoles(const EventStore& store, const CallTree& tree)
    : store_(store), tree_(tree), by_name_(4 * store.text_count(), UINT8_MAX) {
  find_slow_first_calls();
  find_blocking_copies();
  find_captures();
}

void HostRoles::find_slow_first_calls() {
  struct Runs {
    EventId first;
    Nanos shortest;
  };
  std::unordered_map<StringId, Runs> ops;
  for (CallId c(0); c.index < tree_.size(); ++c.index) {
    const EventId e = tree_.event(c);
    if (store_.kind(e) != EventKind::kCpuOp) continue;
    const auto [known, is_new] = ops.try_emplace(store_.name_id(e), Runs{e, store_.duration(e)});
    Runs& runs = known->second;
    if (store_.start(e) < store_.start(runs.first)) runs.first = e;
    runs.shortest = std::min(runs.shortest, store_.duration(e));
  }
  for (const EventId op : searching_ops(store_, tree_)) slow_first_.insert(op);
  for (const auto& [name, runs] : ops) {
    const int64_t first = store_.duration(runs.first).count;
    if (first >= kSlowFirstCall && runs.shortest.count < first / 10) slow_first_.insert(runs.first);
  }
  find_slow_first_sizes([&](EventId e) {
    const int64_t shortest = ops.at(store_.name_id(e)).shortest.count;
    return store_.duration(e).count >= kSlowFirstCall && shortest < store_.duration(e).count / 10;
  });
}

// cuDNN's attention and torch.compile prepare an op anew for each new size: the first call with
// other arguments than all before.
void HostRoles::find_slow_first_sizes(const std::function<bool(EventId)>& is_slow) {
  std::unordered_map<StringId, std::vector<EventId>> calls;  // of ops with slow calls
  const auto for_each_op = [this](const auto& use) {
    for (CallId c(0); c.index < tree_.size(); ++c.index) {
      const EventId e = tree_.event(c);
      if (store_.kind(e) == EventKind::kCpuOp && store_.args_id(e).valid()) use(e);
    }
  };
  for_each_op([&](EventId e) {
    if (is_slow(e) && !slow_first_.contains(e)) calls[store_.name_id(e)];
  });
  if (calls.empty()) return;
  for_each_op([&](EventId e) {
    if (const auto found = calls.find(store_.name_id(e)); found != calls.end())
      found->second.push_back(e);
  });
  for (auto& [name, events] : calls) {
    std::ranges::sort(events, {}, [this](EventId e) { return std::pair(store_.start(e), e); });
    std::unordered_set<ArgsId> seen;
    for (const EventId e : events)
      if (seen.insert(store_.args_id(e)).second && is_slow(e)) slow_first_.insert(e);
  }
}

void HostRoles::find_blocking_copies() {
  if (!tree_.has_launches()) return;
  for (const EventId copy : tree_.linked()) {
    if (store_.kind(copy) != EventKind::kMemcpy) continue;
    const EventId call = tree_.event(tree_.launch(copy));
    if (store_.duration(call).count > kBlocked && store_.end(copy) <= store_.end(call) &&
        is_launch(store_.kind(call)))
      blocking_.insert(call);
  }
}

void HostRoles::find_captures() {
  std::vector<uint8_t> marks(store_.text_count());  // 1 begins, 2 ends a capture
  bool any = false;
  for (size_t i = 0; i < store_.text_count(); ++i) {
    const std::string_view text = store_.text(StringId(i));
    marks[i] = has(text, "StreamBeginCapture") ? 1 : has(text, "StreamEndCapture") ? 2 : 0;
    any = any || marks[i] != 0;
  }
  if (!any) return;
  for (CallId c(0); c.index < tree_.size(); ++c.index) {
    const EventId e = tree_.event(c);
    if (!is_launch(store_.kind(e)) || !store_.name_id(e).valid()) continue;
    const uint8_t mark = marks[store_.name_id(e).index];
    if (mark == 0) continue;
    std::vector<Interval>& spans = captures_[store_.track_id(e)];
    if (mark == 1) {
      spans.push_back({store_.start(e), store_.start(e)});
    } else if (!spans.empty() && spans.back().end == spans.back().begin) {
      spans.back().end = store_.end(e);
    }
  }
}

bool HostRoles::is_captured(EventId event) const {
  if (captures_.empty()) return false;
  const auto spans = captures_.find(store_.track_id(event));
  if (spans == captures_.end()) return false;
  const Nanos when = store_.start(event);
  const auto after = std::ranges::upper_bound(spans->second, when, {}, &Interval::begin);
  return after != spans->second.begin() && when < (after - 1)->end;
}

// The role of its name.
uint8_t HostRoles::known(EventId event) const {
  const EventKind kind = store_.kind(event);
  uint8_t& known = by_name_[4 * store_.name_id(event).index + slot_of(kind)];
  if (known == UINT8_MAX) {
    const std::string_view name = store_.name(event);
    known = static_cast<uint8_t>(is_launch(kind)              ? role_of_runtime(name)
                                 : kind == EventKind::kPython ? role_of_frame(name)
                                 : kind == EventKind::kOther  ? role_of_overhead(name)
                                                              : role_of_name(name));
    if (has(name, "::")) known |= kNamedOp;
  }
  return known;
}

bool HostRoles::is_named_op(EventId event) const {
  return store_.kind(event) == EventKind::kCpuOp && (known(event) & kNamedOp) != 0;
}

HostRole HostRoles::of(EventId event) const {
  const auto role = static_cast<HostRole>(known(event) & ~kNamedOp);
  if (role == HostRole::kLaunch && blocking_.contains(event)) return HostRole::kWait;
  if (role == HostRole::kNone && slow_first_.contains(event)) return HostRole::kFirstUse;
  return role;
}

HostReader::HostReader(const EventStore& store, const HostRoles& roles, std::vector<EventId> events)
    : store_(&store), roles_(&roles), events_(std::move(events)) {
  sort_runs(events_, [&store](EventId a, EventId b) {
    if (store.start(a) != store.start(b)) return store.start(a) < store.start(b);
    if (store.duration(a) != store.duration(b)) return store.duration(a) > store.duration(b);
    return a < b;
  });
}

void HostReader::open_until(Nanos time) {
  const auto close = [this](Nanos at) {
    while (!open_.empty() && open_.back().end <= at) open_.pop_back();
  };
  for (; next_ < events_.size() && store_->start(events_[next_]) <= time; ++next_) {
    const EventId e = events_[next_];
    close(store_->start(e));
    if (store_->end(e) <= store_->start(e)) continue;
    const HostRole role = roles_->of(e);
    HostRole around = open_.empty() ? HostRole::kNone : open_.back().around;
    if (around == HostRole::kNone && (role == HostRole::kFirstUse || role == HostRole::kInput ||
                                      role == HostRole::kCommunication))
      around = role;
    if (around == HostRole::kNone && roles_->is_captured(e)) around = HostRole::kFirstUse;
    EventId op = open_.empty() ? EventId{} : open_.back().op;
    if (!op.valid() && roles_->is_named_op(e)) op = e;
    open_.push_back({store_->end(e), e, op, role, around});
  }
  close(time);
}

HostThreads::HostThreads(const EventStore& store, const CallTree& tree) : roles_(store, tree) {
  struct Lists {
    std::vector<EventId> calls, frames, ranges;
  };
  std::vector<Lists> by_track(store.track_count());
  std::vector<EventId> overheads;
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId e(i);
    const EventKind kind = store.kind(e);
    if (kind == EventKind::kOther) {
      if (roles_.of(e) != HostRole::kNone) overheads.push_back(e);
      continue;
    }
    if (!store.track_id(e).valid()) continue;
    Lists& lists = by_track[store.track_id(e).index];
    if (is_host_call(kind)) lists.calls.push_back(e);
    if (kind == EventKind::kPython) lists.frames.push_back(e);
    if (kind == EventKind::kAnnotation && !store.name(e).starts_with("ProfilerStep#"))
      lists.ranges.push_back(e);
    has_frames_ = has_frames_ || kind == EventKind::kPython;
  }
  overheads_ = HostReader(store, roles_, std::move(overheads));
  for (size_t t = 0; t < by_track.size(); ++t) {
    Lists& lists = by_track[t];
    if (lists.calls.empty() && lists.frames.empty() && lists.ranges.empty()) continue;
    threads_.emplace(TrackId(t), HostThread{HostReader(store, roles_, std::move(lists.calls)),
                                            HostReader(store, roles_, std::move(lists.frames)),
                                            HostReader(store, roles_, std::move(lists.ranges)), 0});
  }
  if (!tree.has_launches()) return;
  for (const EventId work : tree.linked()) {
    HostThread* thread = find(store.track_id(tree.event(tree.launch(work))));
    if (thread != nullptr) ++thread->launches;
  }
  size_t most = 0;
  for (auto& [track, thread] : threads_) {
    if (thread.launches == 0) continue;
    if (thread.launches > most || (thread.launches == most && track < main_)) {
      most = thread.launches;
      main_ = track;
    }
    for (const EventId e : thread.calls.events()) {
      if (!is_launch(store.kind(e))) continue;
      const HostRole role = roles_.of(e);
      if (role == HostRole::kWait || role == HostRole::kAllocation) waits_.push_back(e);
    }
  }
  std::ranges::sort(waits_, [&store](EventId a, EventId b) {
    return std::tuple(store.start(a), a) < std::tuple(store.start(b), b);
  });
}

HostThread* HostThreads::find(TrackId track) {
  const auto found = threads_.find(track);
  return found == threads_.end() ? nullptr : &found->second;
}

void HostThreads::rewind() {
  for (auto& [track, thread] : threads_) {
    for (HostReader* reader : {&thread.calls, &thread.frames, &thread.ranges}) reader->rewind();
  }
  overheads_.rewind();
}

std::vector<Interval> profiler_overheads(const EventStore& store) {
  std::vector<uint8_t> is_own(store.text_count());  // by name: 1 no, 2 yes
  std::vector<Interval> spans;
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId e(i);
    if (store.kind(e) != EventKind::kOther || !store.name_id(e).valid()) continue;
    uint8_t& known = is_own[store.name_id(e).index];
    if (known == 0) known = role_of_overhead(store.name(e)) == HostRole::kProfiler ? 2 : 1;
    if (known == 2 && store.end(e) > store.start(e))
      spans.push_back({store.start(e), store.end(e)});
  }
  return merge_intervals(std::move(spans));
}

}  // namespace fathom
