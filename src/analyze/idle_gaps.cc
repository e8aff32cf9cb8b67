#include "analyze/idle_gaps.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "analyze/host_waits.h"

namespace fathom {
namespace {

constexpr int64_t kLongQuiet = 1'000'000;   // ns: longer than Python takes from op to op
constexpr int64_t kSlowLaunch = 1'000'000;  // ns: a launch call that loads code
constexpr int64_t kLatency = 20'000;        // ns from a launch to its start on a dry GPU
constexpr int64_t kTurnaround = 10'000;     // ns between kernels that are queued back to back
constexpr int64_t kRealWait = 50'000;       // ns: the host had been ahead
constexpr int64_t kRealLoading =
    100'000;  // ns of a gap: more than a function that is loaded lazily

size_t count_waits(const HostThreads& threads) {
  return static_cast<size_t>(std::ranges::count_if(
      threads.waits(), [&threads](EventId e) { return threads.role(e) == HostRole::kWait; }));
}

// Explains the gaps of one device after the other. Calls sink.begin(gap), sink.part(...) in the
// order of time, and sink.end().
template <typename Sink>
class GapExplainer {
 public:
  GapExplainer(const SheetInput& input, HostThreads& threads, const HostWaits& waits, TrackId main,
               Sink& sink)
      : input_(input),
        store_(input.store),
        threads_(threads),
        recorded_(waits.recorded),
        drains_(waits.drains),
        waiting_ops_(waits.ops),
        sink_(sink) {
    main_ = main.valid() ? main : threads.main();
    threads_.rewind();
  }

  // Work in the order of time; gaps of the window.
  void explain(const std::vector<EventId>& work, const Interval& window) {
    Nanos busy_until = window.begin;
    EventId last;
    std::unordered_set<StringId> names;
    for (const EventId e : work) {
      const Nanos begin = std::max(store_.start(e), window.begin);
      if (begin > window.end) break;
      is_first_run_ = names.insert(store_.name_id(e)).second && !is_copy_event(store_, e);
      if (begin > busy_until) gap({busy_until, begin}, last, e);
      // Work may have ended before the window.
      if (!last.valid() || store_.end(e) > busy_until) last = e;
      // A duration may be 0, or damaged.
      busy_until = std::max({busy_until, begin, std::min(window.end, store_.end(e))});
    }
    is_first_run_ = false;
    if (busy_until < window.end) gap({busy_until, window.end}, last, {});
  }

 private:
  struct Part {
    Interval when;
    IdleCause cause;
    EventId blamed;
  };

  EventId launch_of(EventId work) const {
    if (!work.valid() || !input_.tree.has_launches()) return {};
    const CallId call = input_.tree.launch(work);
    return call.valid() ? input_.tree.event(call) : EventId{};
  }

  void gap(const Interval& when, EventId before, EventId after) {
    sink_.begin(when, before, after);
    after_ = after;
    launch_ = launch_of(after);
    const EventId launched_before = launch_of(before);
    is_long_ = (when.end - when.begin).count >= kLongQuiet;
    if (!input_.tree.has_launches() || (after.valid() && !launch_.valid())) {
      emit(when, IdleCause::kNoLaunch, after);
    } else if (!after.valid()) {
      set_threads(main_, launched_before);
      on_host(when);
    } else {
      set_threads(store_.track_id(launch_), launched_before);
      until_launch(when);
    }
    pass_parts_on();
    sink_.end();
  }

  // A library that a kernel's first run loads also initialises itself, in host code and allocations
  // between the recorded calls: the whole of such a gap is first use.
  void pass_parts_on() {
    Nanos loading;
    for (const Part& part : parts_)
      if (part.cause == IdleCause::kFirstUse) loading += part.when.end - part.when.begin;
    const bool is_start_up = is_first_run_ && loading.count >= kRealLoading;
    for (const Part& part : parts_) {
      const bool is_hosts = part.cause == IdleCause::kHostCode ||
                            part.cause == IdleCause::kHostWork ||
                            part.cause == IdleCause::kAllocation;
      sink_.part(part.when, is_start_up && is_hosts ? IdleCause::kFirstUse : part.cause,
                 part.blamed);
    }
    parts_.clear();
  }

  void until_launch(const Interval& when) {
    // A copy that blocks is launched when its call begins.
    const bool blocks = input_.tree.has_launches() && store_.kind(after_) == EventKind::kMemcpy &&
                        store_.end(after_) <= store_.end(launch_);
    const Nanos launched = blocks ? store_.start(launch_) : store_.end(launch_);
    if (launched <= when.begin) return emit(when, IdleCause::kQueued, what_holds_up(when));
    const Nanos late = std::min(launched, when.end);
    is_long_ = (late - when.begin).count >= kLongQuiet;
    on_host({when.begin, late});
    is_long_ = false;
    const Nanos started = std::min(when.end, late + Nanos{kLatency});
    if (late < started) late_launch({late, started}, launch_);
    if (started < when.end) emit({started, when.end}, IdleCause::kQueued, what_holds_up(when));
  }

  // Of queued work: the call that made its stream wait for work of another GPU that ended in the
  // gap, where that is recorded; else the work.
  EventId what_holds_up(const Interval& gap) const {
    for (const RecordedWaits::OfStream& wait : recorded_.of_stream(after_)) {
      const Nanos reached = store_.end(wait.source);
      if (reached > gap.begin && reached <= gap.end) return wait.call;
    }
    return after_;
  }

  // Which threads tell, in this order.
  void set_threads(TrackId thread, EventId launched_before) {
    thread_count_ = 0;
    const TrackId before = launched_before.valid() ? store_.track_id(launched_before) : TrackId{};
    for (const TrackId track : {thread, main_, before}) {
      HostThread* found = track.valid() ? threads_.find(track) : nullptr;
      if (found == nullptr) continue;
      const auto end = asked_.begin() + static_cast<std::ptrdiff_t>(thread_count_);
      if (std::find(asked_.begin(), end, found) == end) asked_[thread_count_++] = found;
    }
  }

  void on_host(const Interval& when) {
    threads_.overheads().read(when, [&](const HostStretch& s) {
      if (s.role == HostRole::kProfiler) return emit(s.when, IdleCause::kProfiler, s.event);
      if (s.event.valid()) return emit(s.when, IdleCause::kFirstUse, s.event);
      on_thread(s.when, 0);
    });
  }

  void on_thread(const Interval& when, size_t thread) {
    if (thread == thread_count_) return quiet(when);
    asked_[thread]->calls.read(when, [&](const HostStretch& s) {
      if (!s.event.valid()) return between_calls(s.when, thread);
      if (const auto cause = cause_of(s)) return emit(s.when, *cause, s.event);
      in_call(s, thread);
    });
  }

  static std::optional<IdleCause> cause_around(HostRole around) {
    if (around == HostRole::kFirstUse) return IdleCause::kFirstUse;
    if (around == HostRole::kInput) return IdleCause::kDataLoading;
    if (around == HostRole::kCommunication) return IdleCause::kCommunication;
    return {};
  }

  std::optional<IdleCause> cause_of(const HostStretch& s) const {
    if (const auto around = cause_around(s.around)) return around;
    if (s.role == HostRole::kWait) return IdleCause::kSynchronization;
    if (s.role == HostRole::kAllocation) return IdleCause::kAllocation;
    if (s.role == HostRole::kLaunch && store_.duration(s.event).count > kSlowLaunch &&
        !copies(s.event))
      return IdleCause::kFirstUse;
    return {};
  }

  // A copy loads no code, however long its call takes: it may do the copying itself.
  bool copies(EventId call) const {
    const std::string_view name = store_.name(call);
    return name.find("Memcpy") != std::string_view::npos ||
           name.find("Memset") != std::string_view::npos;
  }

  // A range has no line of code; the frames in it do.
  void in_range(const HostStretch& range, IdleCause cause, size_t thread) {
    asked_[thread]->frames.read(range.when, [&](const HostStretch& frame) {
      const bool is_within =
          frame.event.valid() && store_.start(frame.event) >= store_.start(range.event);
      emit(frame.when, cause, is_within ? frame.event : range.event);
    });
  }

  // A call that explains nothing itself: what is around it, else it is late.
  void in_call(const HostStretch& call, size_t thread) {
    asked_[thread]->ranges.read(call.when, [&](const HostStretch& range) {
      if (const auto cause = cause_around(range.around)) return in_range(range, *cause, thread);
      asked_[thread]->frames.read(range.when, [&](const HostStretch& frame) {
        if (const auto cause = cause_around(frame.around))
          return emit(frame.when, *cause, frame.event);
        late_launch(frame.when, call.op.valid() ? call.op : call.event);
      });
    });
  }

  void between_calls(const Interval& when, size_t thread) {
    asked_[thread]->ranges.read(when, [&](const HostStretch& range) {
      if (const auto cause = cause_around(range.around)) return in_range(range, *cause, thread);
      asked_[thread]->frames.read(range.when, [&](const HostStretch& frame) {
        if (const auto cause = cause_around(frame.around))
          return emit(frame.when, *cause, frame.event);
        if (!frame.event.valid()) return on_thread(frame.when, thread + 1);
        late_launch(frame.when, frame.event);
      });
    });
  }

  // No thread that launches has anything open.
  void quiet(const Interval& when) {
    const EventId blamed = launch_.valid() ? launch_ : after_;
    if (!is_long_) return late_launch(when, blamed);
    emit(when, IdleCause::kHostWork, blamed);
  }

  void late_launch(const Interval& when, EventId blamed) {
    // No op takes so long to launch something: the host did other work.
    if (is_long_) return emit(when, IdleCause::kHostCode, blamed);
    for (; next_drain_ < drains_.size() && drains_[next_drain_].end <= when.begin; ++next_drain_) {
      const Drain& drain = drains_[next_drain_];
      // After a short wait the host is still as late as the one before it made it.
      const bool is_real = drain.waited.count > kRealWait;
      if (is_real || drain.waited >= credit_) {
        last_wait_ = drain.wait;
        wait_cause_ = drain.cause;
      }
      credit_ = is_real ? drain.waited : credit_ + drain.waited;
    }
    if (waiting_ops_.contains(blamed)) return emit(when, IdleCause::kSynchronization, blamed);
    const Nanos until = when.begin + std::min(credit_, when.end - when.begin);
    credit_ = credit_ - (until - when.begin);
    if (when.begin < until) emit({when.begin, until}, wait_cause_, last_wait_);
    if (until < when.end) emit({until, when.end}, IdleCause::kHost, blamed);
  }

  void emit(const Interval& when, IdleCause cause, EventId blamed) {
    if (when.begin < when.end) parts_.push_back({when, cause, blamed});
  }

  const SheetInput& input_;
  const EventStore& store_;
  HostThreads& threads_;
  const RecordedWaits& recorded_;
  const std::vector<Drain>& drains_;
  const std::unordered_set<EventId>& waiting_ops_;
  Sink& sink_;
  TrackId main_;
  EventId after_, launch_;  // of the gap
  std::vector<Part> parts_;
  bool is_first_run_ = false;  // of the work after the gap, by its name
  std::array<HostThread*, 3> asked_ = {};
  size_t thread_count_ = 0;
  size_t next_drain_ = 0;
  EventId last_wait_;
  IdleCause wait_cause_ = IdleCause::kSynchronization;
  bool is_long_ = false;  // for over a millisecond nothing was launched
  Nanos credit_;          // of late launches that the last wait accounts for
};

// One gap's parts together.
class GapBuilder {
 public:
  void begin(const Interval& when, EventId before, EventId after) {
    gap_ = {when, before, after, IdleCause::kOther, {}, {}, {}};
    longest_ = {};
    hosts_ = {};
  }
  void part(const Interval& when, IdleCause cause, EventId blamed) {
    const auto place = static_cast<size_t>(cause);
    const Nanos length = when.end - when.begin;
    gap_.parts[place] += length;
    if (length <= longest_[place]) return;
    longest_[place] = length;
    hosts_[place] = blamed;
  }
  IdleGap finish(const EventStore& store) {
    const auto largest = std::ranges::max_element(gap_.parts);
    const auto place = static_cast<size_t>(largest - gap_.parts.begin());
    gap_.cause = static_cast<IdleCause>(place);
    gap_.host = hosts_[place];
    if (gap_.host.valid() && !is_gpu_work(store.kind(gap_.host)))
      gap_.blamed = store.name_id(gap_.host);
    return gap_;
  }

 private:
  IdleGap gap_;
  IdleTimesByCause longest_ = {};
  std::array<EventId, kIdleCauses> hosts_;
};

struct GapList {
  const EventStore& store;
  GapBuilder gap = {};
  std::vector<IdleGap> gaps = {};

  void begin(const Interval& when, EventId before, EventId after) {
    gap.begin(when, before, after);
  }
  void part(const Interval& when, IdleCause cause, EventId blamed) {
    gap.part(when, cause, blamed);
  }
  void end() { gaps.push_back(gap.finish(store)); }
};

// Sums of one device's gaps.
class DeviceSums {
 public:
  DeviceSums(const EventStore& store, const TimeBase& base, IdleTime& all, DeviceIdle& device,
             StretchEnds ends)
      : store_(store), base_(base), all_(all), device_(device), ends_(ends) {}

  void begin(const Interval& when, EventId before, EventId after) {
    gap_.begin(when, before, after);
  }
  void part(const Interval& when, IdleCause cause, EventId blamed) {
    const auto place = static_cast<size_t>(cause);
    gap_.part(when, cause, blamed);
    device_.by_cause[place] += when.end - when.begin;
    keep_stretch(when, cause, blamed);
    // What the GPU takes itself between two kernels is put down to neither.
    const bool is_turnaround =
        cause == IdleCause::kQueued && (when.end - when.begin).count < kTurnaround;
    if (blamed.valid() && !is_turnaround) {
      std::vector<IdleBlame>& list = all_.blamed[place];
      if (list.empty() || list.back().event != blamed) list.push_back({blamed, {}});
      list.back().time += when.end - when.begin;
    }
    for (Nanos at = when.begin; at < when.end;) {
      while (step_ + 1 < base_.steps.size() && base_.steps[step_].end <= at) ++step_;
      const Nanos to =
          step_ + 1 < base_.steps.size() ? std::min(when.end, base_.steps[step_].end) : when.end;
      device_.by_step[step_][place] += to - at;
      at = to;
    }
  }
  void end() {
    constexpr size_t kLongest = 10;
    const IdleGap gap = gap_.finish(store_);
    ++all_.gaps[static_cast<size_t>(gap.cause)];
    const auto length = [](const IdleGap& g) { return g.gap.end - g.gap.begin; };
    std::vector<IdleGap>& longest = device_.longest;
    if (longest.size() == kLongest && length(gap) <= length(longest.back())) return;
    const auto place = std::ranges::find_if(
        longest, [&](const IdleGap& other) { return length(other) < length(gap); });
    longest.insert(place, gap);
    if (longest.size() > kLongest) longest.pop_back();
  }

 private:
  void keep_stretch(const Interval& when, IdleCause cause, EventId blamed) {
    std::vector<IdleStretch>& all = device_.stretches;
    const bool goes_on = !all.empty() && all.back().cause == cause &&
                         all.back().when.end == when.begin &&
                         (ends_ == StretchEnds::kCause || all.back().blamed == blamed);
    if (!goes_on) {
      longest_blamed_ = when.end - when.begin;
      all.push_back({when, blamed, cause});
      return;
    }
    all.back().when.end = when.end;
    if (when.end - when.begin <= longest_blamed_) return;
    longest_blamed_ = when.end - when.begin;
    all.back().blamed = blamed;
  }

  const EventStore& store_;
  const TimeBase& base_;
  IdleTime& all_;
  DeviceIdle& device_;
  StretchEnds ends_;
  GapBuilder gap_;
  size_t step_ = 0;
  Nanos longest_blamed_;  // of the last stretch
};

// Busy time is what is left of a step.
void fill_busy(const TimeBase& base, DeviceIdle& device) {
  for (size_t i = 0; i < base.steps.size(); ++i) {
    Nanos busy = base.steps[i].end - base.steps[i].begin;
    for (const Nanos part : device.by_step[i]) busy = busy - part;
    device.busy_by_step.push_back(busy);
  }
}

}  // namespace

std::string_view idle_cause_name(IdleCause cause) {
  constexpr std::string_view kNames[] = {"first_use",          "allocation",     "synchronization",
                                         "communication",      "data_loading",   "late_launch",
                                         "host_code",          "host_elsewhere", "queued",
                                         "no_launch_recorded", "profiler",       "unknown"};
  static_assert(std::size(kNames) == kIdleCauses);
  return kNames[static_cast<size_t>(cause)];
}

IdleGaps find_idle_gaps(const SheetInput& input, std::vector<EventId> work) {
  const EventStore& store = input.store;
  std::ranges::sort(work, [&store](EventId x, EventId y) {
    return std::tuple(store.start(x), x) < std::tuple(store.start(y), y);
  });
  IdleGaps found;
  if (work.empty()) return found;
  Interval window{store.start(work.front()), store.start(work.front())};
  for (const EventId e : work) window.end = std::max(window.end, store.end(e));
  HostThreads threads(store, input.tree);
  const HostWaits waits(input, threads);
  GapList list{store};
  GapExplainer<GapList>(input, threads, waits, {}, list).explain(work, window);
  found.gaps = std::move(list.gaps);
  found.waits = count_waits(threads);
  return found;
}

Nanos IdleTime::time(IdleCause cause) const {
  Nanos sum;
  for (const DeviceIdle& d : devices)
    if (d.is_explained) sum += d.by_cause[static_cast<size_t>(cause)];
  return explained == 0 ? Nanos{} : Nanos{sum.count / static_cast<int64_t>(explained)};
}

IdleTime explain_idle_time(const SheetInput& input, const TimeBase& base,
                           const std::vector<DeviceWork>& devices, StretchEnds ends) {
  constexpr size_t kMostDevices = 8;
  IdleTime all;
  if (base.steps.empty()) return all;
  std::vector<size_t> order;
  for (size_t i = 0; i < base.devices.size(); ++i)
    if (!base.devices[i].is_minor) order.push_back(i);
  std::ranges::stable_sort(
      order, [&](size_t x, size_t y) { return base.devices[y].busy < base.devices[x].busy; });
  order.resize(std::min(order.size(), kMostDevices));
  HostThreads threads(input.store, input.tree);
  const HostWaits waits(input, threads);
  const EventId annotation = base.steps.front().annotation;
  const TrackId main = annotation.valid() ? input.store.track_id(annotation) : TrackId{};
  all.waits = count_waits(threads);
  all.explained = order.size();
  for (size_t i = 0; i < base.devices.size(); ++i) {
    DeviceIdle& device = all.devices.emplace_back();
    device.device = base.devices[i].device;
    device.is_explained = std::ranges::find(order, i) != order.end();
    if (!device.is_explained) {
      device.by_cause[static_cast<size_t>(IdleCause::kOther)] = base.devices[i].idle;
      continue;
    }
    device.by_step.resize(base.steps.size());
    DeviceSums sums(input.store, base, all, device, ends);
    GapExplainer<DeviceSums>(input, threads, waits, main, sums)
        .explain(devices[i].work, {base.begin(), base.end()});
    fill_busy(base, device);
  }
  return all;
}

Nanos idle_time_in(const IdleTime& idle, const std::vector<Interval>& spans) {
  const auto device = std::ranges::find(idle.devices, true, &DeviceIdle::is_explained);
  if (device == idle.devices.end()) return {};
  Nanos sum;
  auto span = spans.begin();
  for (const IdleStretch& stretch : device->stretches) {
    while (span != spans.end() && span->end <= stretch.when.begin) ++span;
    for (auto s = span; s != spans.end() && s->begin < stretch.when.end; ++s)
      sum += std::min(s->end, stretch.when.end) - std::max(s->begin, stretch.when.begin);
  }
  return sum;
}

}  // namespace fathom
