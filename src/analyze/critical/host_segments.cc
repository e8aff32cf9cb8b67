// The host's side of a critical graph: each thread cut where it releases GPU work or waits for it.
#include <algorithm>
#include <unordered_map>

#include "analyze/critical/host_parts.h"
#include "tree/recorded_waits.h"

namespace fathom {
namespace {

// A call that waits for work returns a little after the work has ended.
constexpr int64_t kReturnTime = 20'000;
// Waits of unknown streams are looked up in each stream, up to so many.
constexpr size_t kMostStreams = 64;
// A launch that takes so long, with so much work queued, waits for a place in the queue.
constexpr int64_t kLongLaunch = 50'000;
constexpr size_t kFullQueue = 256;
constexpr int64_t kLongGap = 5'000;

bool names(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Memory of the GPU is freed once all its work has ended.
bool is_free(std::string_view name) {
  return name == "cudaFree" || name == "hipFree" || name.starts_with("cuMemFree_v2");
}

class HostSegments {
 public:
  HostSegments(const SheetInput& input, HostParts& parts)
      : input_(input), store_(input.store), parts_(parts), waits_(input.store, input.tree) {}

  void cut() {
    if (input_.tree.has_launches()) {
      // The most there can be; what is not used costs no memory, and growing would need both.
      parts_.slices.reserve(2 * input_.tree.size() + 1);
      parts_.segments.reserve(2 * parts_.works.size() + input_.tree.size() / 4 + 1);
      measure_launches();
      list_recorded_waits();
      for (size_t first = 0; first < input_.tree.size();) first = cut_thread(first);
      link_waiting_streams();
    }
    choose_main();
  }

 private:
  EventId event(size_t call) const { return input_.tree.event(CallId(call)); }
  int64_t after_begin(Nanos time) const {
    if (time <= parts_.begin) return 0;
    if (time >= parts_.begin + Nanos{parts_.host_end}) return parts_.host_end;
    return (time - parts_.begin).count;
  }
  int64_t begin_of(EventId e) const { return after_begin(store_.start(e)); }
  int64_t end_of(EventId e) const { return after_begin(std::max(store_.start(e), store_.end(e))); }

  // The usual length of a launch, and whether launches return only when their work has ended.
  void measure_launches() {
    std::vector<int64_t> lengths;
    size_t ended = 0;
    for (const GraphWork& work : parts_.works) {
      if (work.launched < 0) continue;
      const EventId call = input_.tree.event(input_.tree.launch(work.event));
      lengths.push_back(store_.duration(call).count);
      ended += work.end <= end_of(call);
      launches_.push_back(work.launched);
      ends_.push_back(work.end);
    }
    if (lengths.empty()) return;
    // Those that waited for something are no measure.
    const auto quarter = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 4);
    std::ranges::nth_element(lengths, quarter);
    usual_launch_ = std::min(*quarter, kReturnTime);
    all_block_ = lengths.size() >= 10 && ended * 10 >= lengths.size() * 9;
    std::ranges::sort(launches_);
    by_end_.resize(parts_.works.size());
    for (uint32_t i = 0; i < by_end_.size(); ++i) by_end_[i] = i;
    std::ranges::sort(by_end_, [this](uint32_t a, uint32_t b) {
      return std::pair(parts_.works[a].end, a) < std::pair(parts_.works[b].end, b);
    });
    std::ranges::sort(ends_);
  }

  // What a wait is for, where the recorder notes it: on the stream, at the time of the call. That
  // is the stream that is waited for, or, of an event that a stream waits for, the stream that
  // waits.
  void list_recorded_waits() {
    std::unordered_map<TrackId, uint32_t> streams;
    for (uint32_t i = 0; i < parts_.streams.size(); ++i)
      streams.emplace(parts_.works[parts_.streams[i].begin].track, i);
    for (size_t i = 0; i < store_.size(); ++i) {
      const EventId e(i);
      if (store_.kind(e) != EventKind::kOther) continue;
      const std::string_view name = store_.name(e);
      const bool by_stream = name == "Stream Wait Event";                  // source text
      const bool by_host = name == "Stream Sync" || name == "Event Sync";  // source text
      if (!by_stream && !by_host) continue;
      const auto stream = streams.find(store_.track_id(e));
      if (stream == streams.end()) continue;
      recorded_.push_back({begin_of(e), stream->second, by_stream});
    }
    for (const RecordedWait& wait : store_.waits()) {
      const auto stream = streams.find(store_.track_id(wait.event));
      if (wait.call && stream != streams.end()) stream_of_call_.emplace(*wait.call, stream->second);
    }
    for (size_t i = 0; i < input_.tree.size(); ++i)
      if (is_launch(store_.kind(event(i))) && names(store_.name(event(i)), "EventRecord"))
        event_records_.push_back(begin_of(event(i)));
    std::ranges::sort(event_records_);
    std::ranges::sort(recorded_, {}, [](const WaitOnTrack& w) {
      return std::tuple(w.begin, w.stream, w.by_stream);
    });
  }

  // The stream of the wait that was recorded during a call; kNoNode: none was.
  uint32_t recorded_stream(EventId call, bool by_stream) const {
    if (const auto& key = store_.launch(call).key; key && !key->external) {
      const auto known = stream_of_call_.find(key->id);
      if (known != stream_of_call_.end()) return known->second;
    }
    const int64_t end = end_of(call);
    auto at = std::ranges::lower_bound(recorded_, begin_of(call), {}, &WaitOnTrack::begin);
    constexpr int kLooked = 16;
    for (int n = 0; n < kLooked && at != recorded_.end() && at->begin <= end; ++at, ++n)
      if (at->by_stream == by_stream) return at->stream;
    return kNoNode;
  }

  // An event that is waited for was recorded before: it is behind no work that was launched after
  // the last record.
  int64_t recorded_before(int64_t wait) const {
    const auto after = std::ranges::upper_bound(event_records_, wait);
    return after == event_records_.begin() ? wait : *std::prev(after);
  }

  size_t cut_thread(size_t first) {
    thread_ = {};
    thread_.track = store_.track_id(event(first));
    thread_.pid = store_.track(event(first)).pid;
    thread_.begin = static_cast<uint32_t>(parts_.segments.size());
    open_.clear();
    last_stream_ = kNoNode;
    waiting_since_ = -1;
    waiting_stream_ = kNoNode;
    now_ = thread_.track == parts_.step_track ? 0 : -1;
    is_open_ = false;
    size_t call = first;
    for (; call < input_.tree.size(); ++call) {
      const EventId e = event(call);
      if (store_.track_id(e) != thread_.track) break;
      if (!is_host_call(store_.kind(e)) || store_.end(e) < parts_.begin ||
          store_.start(e) >= parts_.begin + Nanos{parts_.host_end})
        continue;
      close_until(begin_of(e));
      if (now_ < 0) now_ = begin_of(e);
      emit(open_.empty() ? EventId{} : event(open_.back()), begin_of(e));
      open_.push_back(static_cast<uint32_t>(call));
      ++thread_.calls;
      if (const AutogradFacts* facts = store_.autograd(e); facts && facts->forward_thread != 0)
        thread_.is_autograd = true;
    }
    close_until(INT64_MAX);
    // The thread of the steps runs to the end of the last.
    if (thread_.track == parts_.step_track && thread_.calls > 0) emit({}, parts_.host_end);
    thread_.end = static_cast<uint32_t>(parts_.segments.size());
    if (thread_.end > thread_.begin) parts_.threads.push_back(thread_);
    return call;
  }

  void close_until(int64_t time) {
    while (!open_.empty() && end_of(event(open_.back())) <= time) {
      const uint32_t call = open_.back();
      open_.pop_back();
      finish(CallId(call));
    }
  }

  void push(EventId e, int64_t begin, int64_t end, NodeKind kind) {
    GraphSegment segment;
    segment.begin = begin;
    segment.end = end;
    segment.event = e;
    segment.kind = kind;
    segment.first_slice = static_cast<uint32_t>(parts_.slices.size());
    parts_.segments.push_back(segment);
    now_ = end;
    is_open_ = kind == NodeKind::kHost;
  }
  // Host time up to a time, in an event or in none.
  void emit(EventId e, int64_t until) {
    // Of other threads than that of the steps, such time may be a wait for work: a node of its own.
    const bool is_apart =
        !e.valid() && until - now_ >= kLongGap && now_ >= 0 && thread_.track != parts_.step_track;
    if (is_apart) is_open_ = false;
    while (until > now_) {
      const int64_t end = std::min(until, now_ + int64_t{UINT32_MAX});
      if (!is_open_) push({}, now_, now_, NodeKind::kHost);
      GraphSegment& segment = parts_.segments.back();
      if (!add_slice(parts_, segment, e, end - now_)) {
        is_open_ = false;
        continue;
      }
      segment.end = now_ = end;
    }
    if (is_apart) is_open_ = false;
  }
  uint32_t last_segment() const {
    const auto size = static_cast<uint32_t>(parts_.segments.size());
    return size > thread_.begin ? size - 1 : kNoNode;
  }

  // The rest of a call, after all calls inside it.
  void finish(CallId call) {
    const EventId e = input_.tree.event(call);
    const int64_t until = std::max(now_, end_of(e));
    if (!is_launch(store_.kind(e))) return emit(e, until);
    works_.clear();
    for (const EventId work : input_.tree.launched_by(call))
      if (const uint32_t w = parts_.work_of_event[work.index]; w != kNoNode) works_.push_back(w);
    const std::string_view name = store_.name(e);
    if (!works_.empty()) return finish_launch(e, until);
    if (names(name, "Synchronize") || is_free(name)) return finish_wait(e, until, name);
    if (names(name, "StreamWaitEvent") && !waits_.of_host(e)) {
      waiting_since_ = recorded_before(begin_of(e));
      waiting_stream_ = recorded_stream(e, true);
    }
    emit(e, until);
  }

  void finish_launch(EventId e, int64_t until) {
    thread_.launches = true;
    const int64_t begin = begin_of(e);
    uint32_t first = works_.front(), ended = kNoNode;
    for (const uint32_t w : works_) {
      if (parts_.works[w].start < parts_.works[first].start) first = w;
      const bool may_block = all_block_ || store_.kind(parts_.works[w].event) != EventKind::kKernel;
      if (may_block && parts_.works[w].end > now_ && parts_.works[w].end <= until) ended = w;
    }
    const GraphWork& work = parts_.works[first];
    int64_t release = std::clamp(work.start, now_, until);
    // Work that comes right after other work of its stream may have been released long before.
    const bool queued = work.previous != kNoNode && parts_.works[work.previous].end > begin;
    if (queued && work.start < until) release = std::clamp(begin + usual_launch_, now_, release);
    if (ended == kNoNode && until - now_ > std::max(kLongLaunch, 10 * usual_launch_))
      ended = place_in_queue(begin, until);
    const int64_t waited = ended == kNoNode ? -1 : parts_.works[ended].end;
    if (waited >= 0 && work.start >= until) release = std::min(release, now_ + usual_launch_);
    if (release > now_) push(e, now_, release, NodeKind::kLaunch);
    const uint32_t segment = last_segment();
    is_open_ = false;  // what it releases follows its end
    for (const uint32_t w : works_)
      if (parts_.works[w].start >= release) parts_.works[w].release = segment;
    if (waited > now_) {
      push(e, waited, until, NodeKind::kSync);
      wait_on(ended, GraphEdge::Kind::kWait);
    } else if (until > now_) {
      push(e, now_, until, NodeKind::kLaunch);
    }
    last_stream_ = work.stream;
    const bool other = waiting_stream_ != kNoNode && waiting_stream_ != work.stream;
    if (waiting_since_ < 0 || other) return;
    wait_for_events(first);
    waiting_since_ = -1;
    waiting_stream_ = kNoNode;
  }

  // Of a launch that waited because the queue was full: the work whose end made room.
  uint32_t place_in_queue(int64_t begin, int64_t until) const {
    const auto launched = std::ranges::lower_bound(launches_, begin) - launches_.begin();
    const auto ended = std::ranges::upper_bound(ends_, begin) - ends_.begin();
    if (launched - ended < static_cast<std::ptrdiff_t>(kFullQueue)) return kNoNode;
    const auto after = std::ranges::upper_bound(by_end_, until, {},
                                                [this](uint32_t w) { return parts_.works[w].end; });
    if (after == by_end_.begin()) return kNoNode;
    return parts_.works[*(after - 1)].end > begin ? *(after - 1) : kNoNode;
  }

  void wait_on(uint32_t work, GraphEdge::Kind kind) {
    parts_.edges.push_back({last_segment(), work, false, true, kind});
  }

  // The last work of a stream that was launched before a time and ended no later than another.
  uint32_t last_ended(const PartRange& stream, int64_t launched_before, int64_t ended_by) const {
    const auto begin = parts_.works.begin() + stream.begin;
    const auto end = parts_.works.begin() + stream.end;
    const auto launched = std::partition_point(
        begin, end, [&](const GraphWork& w) { return w.launched_by_then < launched_before; });
    auto at = std::partition_point(begin, launched,
                                   [&](const GraphWork& w) { return w.start <= ended_by; });
    constexpr int kLooked = 16;
    for (int n = 0; n < kLooked && at != begin; ++n) {
      if ((--at)->end <= ended_by) return static_cast<uint32_t>(at - parts_.works.begin());
    }
    return kNoNode;
  }

  template <typename Visit>
  void visit_streams(uint32_t own, Visit visit) const {
    if (parts_.streams.size() <= kMostStreams) {
      for (const PartRange& stream : parts_.streams) visit(stream);
    } else if (own != kNoNode) {
      visit(parts_.streams[own]);
    }
  }

  uint32_t work_of(EventId e) const { return e.valid() ? parts_.work_of_event[e.index] : kNoNode; }

  // Both ends are recorded: which work waits, and for what.
  void link_waiting_streams() {
    for (const RecordedWaits::OfStream& wait : waits_.of_streams()) {
      const uint32_t work = work_of(wait.work), source = work_of(wait.source);
      if (work == kNoNode || source == kNoNode) continue;
      parts_.edges.push_back({work, source, true, true, GraphEdge::Kind::kWait});
    }
  }

  void finish_known_wait(EventId e, int64_t until, EventId source) {
    const uint32_t work = work_of(source);
    // Work of an earlier step, or clocks that differ.
    const bool is_outside = work == kNoNode || parts_.works[work].end > until;
    const int64_t waited = is_outside ? now_ : std::max(now_, parts_.works[work].end);
    push(e, waited, until, NodeKind::kSync);
    if (!is_outside) wait_on(work, GraphEdge::Kind::kWait);
  }

  void finish_wait(EventId e, int64_t until, std::string_view name) {
    if (const auto known = waits_.of_host(e)) return finish_known_wait(e, until, known->source);
    const int64_t begin = begin_of(e);
    const bool of_all = names(name, "DeviceSynchronize") || names(name, "CtxSynchronize") ||
                        names(name, "ContextSynchronize") || is_free(name);
    const uint32_t recorded = of_all ? kNoNode : recorded_stream(e, false);
    const uint32_t stream_of_wait = recorded != kNoNode ? recorded : last_stream_;
    uint32_t own = kNoNode, latest = kNoNode;
    works_.clear();
    const auto look = [&](const PartRange& stream) {
      const uint32_t w = last_ended(stream, begin, until);
      if (w == kNoNode) return;
      works_.push_back(w);
      if (stream_of_wait == parts_.works[w].stream) own = w;
      if (latest == kNoNode || parts_.works[w].end > parts_.works[latest].end) latest = w;
    };
    if (recorded != kNoNode) {
      look(parts_.streams[recorded]);
    } else {
      visit_streams(last_stream_, look);
    }
    keep_latest(works_, own);
    // A call that names no stream mostly waits for that of the thread's last launch.
    if (!of_all && own != kNoNode && until - parts_.works[own].end <= kReturnTime) latest = own;
    const int64_t waited =
        latest == kNoNode ? now_ : std::clamp(parts_.works[latest].end, now_, until);
    push(e, waited, until, NodeKind::kSync);
    const bool of_event = names(name, "EventSynchronize");
    for (const uint32_t w : works_) {
      if (parts_.works[w].end > waited) continue;
      const bool is_known = of_all || (w == latest && waited > begin) || (w == own && !of_event);
      wait_on(w, is_known ? GraphEdge::Kind::kWait : GraphEdge::Kind::kPossible);
    }
  }

  // A stream was told to wait for an event. Neither is recorded: it is taken to be the stream of
  // the thread's next launch, and the event to be behind what other streams had been given.
  void wait_for_events(uint32_t work) {
    if (parts_.streams.size() > kMostStreams) return;
    const GraphWork& waiting = parts_.works[work];
    works_.clear();
    for (const PartRange& stream : parts_.streams) {
      const uint32_t w = last_ended(stream, waiting_since_, waiting.start);
      if (w != kNoNode && parts_.works[w].stream != waiting.stream) works_.push_back(w);
    }
    keep_latest(works_, kNoNode);
    for (const uint32_t w : works_) {
      const bool explains = waiting.start - parts_.works[w].end <= kReturnTime;
      parts_.edges.push_back(
          {work, w, true, true, explains ? GraphEdge::Kind::kWait : GraphEdge::Kind::kPossible});
    }
  }

  // Of many streams those that ended last: the others hardly ever decide. Keeps the graph small.
  void keep_latest(std::vector<uint32_t>& works, uint32_t own) const {
    constexpr size_t kKept = 8;
    if (works.size() <= kKept) return;
    std::ranges::sort(works, [this](uint32_t a, uint32_t b) {
      return std::pair(parts_.works[a].end, a) > std::pair(parts_.works[b].end, b);
    });
    works.resize(kKept);
    if (own != kNoNode && std::ranges::find(works, own) == works.end()) works.push_back(own);
  }

  // The thread of the steps, or the one with the most calls.
  void choose_main() {
    GraphThread* main = nullptr;
    for (GraphThread& thread : parts_.threads) {
      const auto rank = [&](const GraphThread& t) {
        return std::tuple(t.track == parts_.step_track, !t.is_autograd, t.calls);
      };
      if (main == nullptr || rank(thread) > rank(*main)) main = &thread;
    }
    if (main != nullptr) main->is_main = true;
  }

  const SheetInput& input_;
  const EventStore& store_;
  HostParts& parts_;
  RecordedWaits waits_;
  int64_t usual_launch_ = 0;
  bool all_block_ = false;                // CUDA_LAUNCH_BLOCKING
  std::vector<int64_t> launches_, ends_;  // of all works, sorted
  std::vector<uint32_t> by_end_;
  struct WaitOnTrack {
    int64_t begin;
    uint32_t stream;
    bool by_stream;  // the stream waits, not the host for it
  };
  std::vector<WaitOnTrack> recorded_;                     // by begin
  std::unordered_map<int64_t, uint32_t> stream_of_call_;  // by correlation
  std::vector<int64_t> event_records_;                    // begins of calls
  // Of the thread that is cut.
  GraphThread thread_;
  std::vector<uint32_t> open_, works_;
  bool is_open_ = false;               // the last segment can be continued
  int64_t now_ = 0;                    // end of the last segment; -1: none yet
  int64_t waiting_since_ = -1;         // begin of a cudaStreamWaitEvent without a launch after it
  uint32_t waiting_stream_ = kNoNode;  // that it is for; kNoNode: not recorded
  uint32_t last_stream_ = kNoNode;
};

}  // namespace

bool add_slice(HostParts& parts, GraphSegment& segment, EventId event, int64_t length) {
  if (segment.slice_count == UINT16_MAX) return false;
  parts.slices.push_back({event, static_cast<uint32_t>(length)});
  ++segment.slice_count;
  return true;
}

void segment_threads(const SheetInput& input, HostParts& parts) {
  HostSegments(input, parts).cut();
  link_threads_of(input, parts);
}

}  // namespace fathom
