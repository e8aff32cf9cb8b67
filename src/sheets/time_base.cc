#include "sheets/time_base.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "base/sort_runs.h"
#include "sheets/repeated_steps.h"

namespace fathom {
namespace {

constexpr double kNearlyAll = 0.9;  // of the GPU work, that steps must have launched
constexpr double kMinor = 0.01;     // of the busiest GPU's work
constexpr Nanos kPause{1'000'000};

struct HostStep {
  EventId annotation;
  size_t number;  // of all that match
  Nanos begin, end;
};

// Steps of one thread that follow each other, from a place on. Those inside others are left out.
std::vector<HostStep> in_a_row(const EventStore& store, const std::vector<Step>& all,
                               size_t first = 0) {
  std::vector<HostStep> row;
  for (size_t i = first; i < all.size(); ++i) {
    const Step& step = all[i];
    if (!row.empty()) {
      if (store.track_id(step.annotation) != store.track_id(row.front().annotation)) continue;
      // Neighbours may overlap by the clock's step.
      const Nanos slack{(row.back().end - row.back().begin).count / 20};
      if (step.begin < row.back().end - slack) continue;
    }
    row.push_back({step.annotation, i, step.begin, step.end});
  }
  return row;
}

// "iteration 12" and "iteration 13" are one range that repeats.
std::string_view without_number(std::string_view name) {
  const size_t last = name.find_last_not_of("0123456789");
  return last == std::string_view::npos ? name : name.substr(0, last + 1);
}

// Ranges that libraries open inside an iteration.
bool is_of_library(std::string_view name) {
  return name.find("DataLoader") != std::string_view::npos || name.starts_with("Optimizer.") ||
         name.starts_with("ProfilerStep#") || name.starts_with("nccl:") ||
         name.starts_with("## Call CompiledFxGraph") || name.starts_with("Torch-Compiled");
}

std::vector<DeviceWork> without_start_up(const SheetInput& input,
                                         const std::vector<DeviceWork>& devices) {
  if (!input.scope.steady) return {};
  std::vector<DeviceWork> steady = devices;
  for (DeviceWork& device : steady)
    std::erase_if(device.work, [&](EventId e) {
      return !input.scope.steady->contains(launched_or_begun(input.store, input.tree, e));
    });
  return steady;
}

class TimeBaseFinder {
 public:
  TimeBaseFinder(const SheetInput& input, const std::vector<DeviceWork>& devices)
      : input_(input),
        store_(input.store),
        all_devices_(devices),
        steady_devices_(without_start_up(input, devices)),
        devices_(input.scope.steady ? steady_devices_ : devices) {}

  TimeBase find() {
    for (const DeviceWork& device : devices_) all_ += device.work.size();
    if (all_ == 0) return base_;
    order_launches();
    use_steps();
    if (base_.steps.empty() && !input_.scope.steps) use_annotation();
    if (base_.steps.empty() && !input_.scope.steps && base_.steps_found == 0) use_repetition();
    if (base_.steps.empty()) use_recording();
    if (const auto& steady = input_.scope.steady)
      base_.start_up = {base_.begin() - steady->recorded.begin, steady->first_use,
                        steady->recorded.end - steady->recorded.begin};
    measure_devices();
    return base_;
  }

 private:
  struct LaunchedWork {
    Nanos launched, start, end, duration;
    size_t lane = 0;  // of its stream; those of many share the last
    bool is_known() const { return launched.count != INT64_MIN; }
  };

  // Without a launch, work counts as launched when it began. What ran before the first work with a
  // launch was launched before the recording: the host was ahead.
  void order_launches() {
    for (const DeviceWork& device : devices_) {
      const auto first_known = std::ranges::find_if(
          device.work, [this](EventId e) { return launch_time(e).has_value(); });
      const bool any_known = first_known != device.work.end();
      for (auto e = device.work.begin(); e != device.work.end(); ++e) {
        const bool is_earlier = any_known && e < first_known;
        if (is_earlier) left_over_ = std::max(left_over_, store_.end(*e));
        work_.push_back({is_earlier ? Nanos{INT64_MIN} : launch_time(*e).value_or(store_.start(*e)),
                         store_.start(*e), store_.end(*e), std::max(store_.duration(*e), Nanos{}),
                         lane_of(*e)});
      }
    }
    sort_runs(work_,
              [](const LaunchedWork& x, const LaunchedWork& y) { return x.launched < y.launched; });
  }

  size_t lane_of(EventId work) {
    const size_t next = std::min(lanes_.size(), kLanes - 1);
    return lanes_.try_emplace(store_.track_id(work), next).first->second;
  }

  std::optional<Nanos> launch_time(EventId work) const {
    const CallId launch = input_.tree.launch(work);
    if (!launch.valid() || !input_.tree.has_launches()) return {};
    return store_.start(input_.tree.event(launch));
  }

  void use_steps() {
    const Steps steps(store_, input_.scope.step_pattern);
    base_.steps_found = steps.all().size();
    const std::vector<HostStep> row = step_row(steps.all());
    Scope::StepRange range;
    if (input_.scope.steps) range = *input_.scope.steps;
    if (row.empty()) return;
    if (!input_.scope.steps) {
      base_.outside_steps = 1 - share_within(row);
      if (base_.outside_steps > 1 - kNearlyAll) return;
    }
    set_steps(row, range);
    if (base_.steps.empty()) return;
    base_.kind = TimeBaseKind::kSteps;
    base_.name = input_.scope.step_pattern;
  }

  // A range around all others is no step; what repeats inside it is.
  std::vector<HostStep> step_row(const std::vector<Step>& all) const {
    constexpr size_t kNested = 8;
    std::vector<HostStep> outer = in_a_row(store_, all);
    for (size_t depth = 1; outer.size() == 1 && depth < std::min(kNested, all.size()); ++depth) {
      std::vector<HostStep> inner = in_a_row(store_, all, outer.front().number + depth);
      if (inner.size() < 2 || inner.back().end > outer.front().end) continue;
      if (share_within(inner) >= kNearlyAll * share_within(outer)) return inner;
    }
    return outer;
  }

  // Share of the work's time that was launched inside some of these, which are in order.
  double share_within(const std::vector<HostStep>& row) const {
    double all = 0, within = 0;
    size_t next = 0;
    for (const LaunchedWork& w : work_) {
      if (!w.is_known()) continue;
      while (next < row.size() && row[next].end <= w.launched) ++next;
      const double time = static_cast<double>(w.duration.count);
      all += time;
      if (next < row.size() && w.launched >= row[next].begin) within += time;
    }
    return all > 0 ? within / all : 0;
  }

  // When the first work of each step began to run.
  std::vector<Nanos> first_starts(const std::vector<HostStep>& row) const {
    std::vector<Nanos> first(row.size(), Nanos{INT64_MAX});
    size_t step = 0;
    for (const LaunchedWork& w : work_) {
      if (!w.is_known()) continue;
      while (step < row.size() && row[step].end <= w.launched) ++step;
      if (step < row.size() && w.launched >= row[step].begin)
        first[step] = std::min(first[step], w.start);
    }
    return first;
  }

  // The steps of a range, each from when it could begin to when the next could. Streams whose
  // earlier work runs on beside a step's own do not hold it up.
  void set_steps(const std::vector<HostStep>& row, const Scope::StepRange& range) {
    std::array<Nanos, kLanes> finished;  // by stream, work launched before a step
    finished.fill(Nanos{INT64_MIN});
    Nanos last{INT64_MIN};  // of those with a known launch
    size_t next = 0;
    const auto finish_before = [&](Nanos launched) {
      for (; next < work_.size() && work_[next].launched < launched; ++next) {
        const LaunchedWork& w = work_[next];
        finished[w.lane] = std::max(finished[w.lane], w.end);
        if (w.is_known()) last = std::max(last, w.end);
      }
    };
    const std::vector<Nanos> first = first_starts(row);
    Nanos begin{INT64_MIN};
    for (size_t i = 0; i < row.size(); ++i) {
      finish_before(row[i].begin);
      begin = std::max(begin, row[i].begin);
      for (const Nanos end : finished) {
        if (end <= first[i]) begin = std::max(begin, end);
      }
      if (!base_.steps.empty() && base_.steps.back().end == Nanos{INT64_MAX})
        base_.steps.back().end = begin;
      const bool is_left_out = input_.scope.steady && !input_.scope.steady->contains(row[i].begin);
      if (row[i].number < range.begin || is_left_out) continue;
      if (row[i].number >= range.end) return;
      base_.steps.push_back({row[i].annotation, begin, Nanos{INT64_MAX}, row[i].begin});
    }
    if (base_.steps.empty()) return;
    Nanos end = row.back().end;
    finish_before(end);
    if (const auto& steady = input_.scope.steady) end = std::min(end, steady->when.end);
    base_.steps.back().end = std::max({base_.steps.back().begin, end, last});
  }

  // A name that repeats on one thread, never inside itself.
  struct Repeated {
    std::string_view name;
    std::vector<Step> spans;
    Nanos time;
  };

  void use_annotation() {
    constexpr size_t kTried = 4;
    std::vector<Repeated> found = repeated_ranges();
    std::ranges::sort(found, [](const Repeated& x, const Repeated& y) {
      return std::tie(y.time, x.name) < std::tie(x.time, y.name);
    });
    for (size_t i = 0; i < std::min(kTried, found.size()); ++i) {
      const std::vector<HostStep> row = in_a_row(store_, found[i].spans);
      if (row.size() < 2 || row.size() < found[i].spans.size()) continue;
      if (share_within(row) < kNearlyAll) continue;
      set_steps(row, {});
      base_.kind = TimeBaseKind::kAnnotation;
      base_.name = found[i].name;
      return;
    }
  }

  // Of the GPU with the most work: the others follow it.
  void use_repetition() {
    const auto most = std::ranges::max_element(
        devices_, {}, [](const DeviceWork& device) { return device.work.size(); });
    const RepeatedSteps steps = find_repeated_steps(input_, most->work);
    base_.repeats = steps.repeats;
    std::vector<HostStep> row;
    for (size_t i = 0; i < steps.begins.size(); ++i) {
      const bool is_last = i + 1 == steps.begins.size();
      row.push_back({EventId{}, i, steps.begins[i], is_last ? steps.end : steps.begins[i + 1]});
    }
    if (row.empty() || share_within(row) < kNearlyAll) return;
    set_steps(row, {});
    base_.kind = TimeBaseKind::kRepetition;
    base_.name = "work that repeats";
  }

  std::vector<Repeated> repeated_ranges() const {
    std::unordered_map<StringId, size_t> of_name;  // place in found, or none
    std::unordered_map<std::string_view, size_t> of_stem;
    std::vector<Repeated> found;
    for (size_t i = 0; i < store_.size(); ++i) {
      const EventId e(i);
      if (store_.kind(e) != EventKind::kAnnotation || store_.duration(e).count <= 0) continue;
      const auto [known, is_new] = of_name.try_emplace(store_.name_id(e), SIZE_MAX);
      if (is_new && !is_of_library(store_.name(e))) {
        const std::string_view stem = without_number(store_.name(e));
        const auto [place, is_first] = of_stem.try_emplace(stem, found.size());
        if (is_first) found.push_back({stem, {}, {}});
        known->second = place->second;
      }
      if (known->second == SIZE_MAX) continue;
      found[known->second].spans.push_back({e, store_.start(e), store_.end(e)});
      found[known->second].time += store_.duration(e);
    }
    for (Repeated& range : found)
      std::ranges::sort(range.spans, [](const Step& a, const Step& b) {
        return std::tie(a.begin, a.annotation) < std::tie(b.begin, b.annotation);
      });
    return found;
  }

  // The GPU's work with the activity of the host that leads up to it and follows it. What starts a
  // program or ends it is no part of its run: pauses and calls of a millisecond that launch
  // nothing.
  void use_recording() {
    Nanos begin{INT64_MAX}, launched{INT64_MAX}, end{INT64_MIN};
    for (const LaunchedWork& w : work_) {
      if (w.is_known()) launched = std::min(launched, w.launched);
      end = std::max(end, w.end);
    }
    for (const DeviceWork& device : devices_)
      for (const EventId e : device.work) begin = std::min(begin, store_.start(e));
    base_.kind = TimeBaseKind::kGpuSpan;
    // Of some steps the time of the others is no part.
    if (!input_.scope.steps) {
      const HostActivitySpans host = host_activity(std::min(begin, launched), end);
      if (host.any) base_.kind = TimeBaseKind::kRecording;
      begin = std::min(begin, launched);
      for (size_t i = host.before.size(); i-- > 0;) {
        if (host.before[i].end + kPause < begin) break;
        begin = std::min(begin, host.before[i].begin);
      }
      begin = std::max({begin, host.setup_end, std::min(left_over_, end)});
      for (const Interval& span : host.after) {
        if (span.begin > end + kPause || span.begin >= host.teardown) break;
        end = std::max(end, std::min(span.end, host.teardown));
      }
    }
    if (const auto& steady = input_.scope.steady) {
      begin = std::max(begin, steady->when.begin);
      end = std::min(end, steady->when.end);
    }
    base_.steps = {{EventId{}, begin, std::max(begin, end), begin}};
  }

  struct HostActivitySpans {
    std::vector<Interval> before, after;  // merged; of the first launch, of the last work
    Nanos setup_end{INT64_MIN}, teardown{INT64_MAX};
    bool any = false;
  };
  // Of host calls and ranges before one time and after another.
  HostActivitySpans host_activity(Nanos first, Nanos last) const {
    HostActivitySpans spans;
    for (size_t i = 0; i < store_.size(); ++i) {
      const EventId e(i);
      const EventKind kind = store_.kind(e);
      if (!is_host_call(kind) && kind != EventKind::kAnnotation) continue;
      spans.any = true;
      const Interval when{store_.start(e), store_.end(e)};
      if (when.begin < first) spans.before.push_back(when);
      if (when.end > last) spans.after.push_back({std::max(when.begin, last), when.end});
      if (!is_launch(kind) || when.end - when.begin < kPause || !sets_up(store_.name(e))) continue;
      if (when.end <= first) spans.setup_end = std::max(spans.setup_end, when.end);
      if (when.begin >= last) spans.teardown = std::min(spans.teardown, when.begin);
    }
    spans.before = merge_intervals(std::move(spans.before));
    spans.after = merge_intervals(std::move(spans.after));
    return spans;
  }

  // cudaMalloc, cuInit, cuModuleLoadData, cudaFree, …: of calls that take long, all that neither
  // launch nor wait.
  static bool sets_up(std::string_view name) {
    for (const std::string_view part : {"Launch", "Memcpy", "Memset", "Synchronize"})
      if (name.find(part) != std::string_view::npos) return false;
    return true;
  }

  void measure_devices() {
    for (const DeviceWork& device : all_devices_) base_.devices.push_back(measure(device));
    Nanos most;
    for (const DeviceTime& d : base_.devices) most = std::max(most, d.busy);
    for (DeviceTime& d : base_.devices) d.is_minor = ratio(d.busy, most) < kMinor;
  }

  DeviceTime measure(const DeviceWork& device) const {
    std::vector<Interval> computing, communicating, copying, any;
    const Nanos begin = base_.begin(), end = base_.end();
    DeviceTime time;
    time.device = device.device;
    for (const EventId e : device.work) {
      const Interval when{std::max(begin, store_.start(e)), std::min(end, store_.end(e))};
      if (when.begin >= when.end) continue;
      ++time.events;
      any.push_back(when);
      (is_copy_event(store_, e)               ? copying
       : input_.selection.is_communication(e) ? communicating
                                              : computing)
          .push_back(when);
    }
    computing = merge_intervals(std::move(computing));
    communicating = merge_intervals(std::move(communicating));
    copying = merge_intervals(std::move(copying));
    any = merge_intervals(std::move(any));
    time.computation = total_length(computing);
    time.exposed_communication = total_length(subtract_intervals(communicating, computing));
    time.exposed_copies =
        total_length(subtract_intervals(subtract_intervals(copying, computing), communicating));
    time.busy = total_length(any);
    time.idle = base_.wall() - time.busy;
    if (!any.empty()) time.span = any.back().end - any.front().begin;
    return time;
  }

  const SheetInput& input_;
  const EventStore& store_;
  const std::vector<DeviceWork>& all_devices_;
  const std::vector<DeviceWork> steady_devices_;  // where a start-up is left out
  const std::vector<DeviceWork>& devices_;        // what steps are found by
  std::vector<LaunchedWork> work_;                // by launch
  size_t all_ = 0;
  static constexpr size_t kLanes = 64;
  std::unordered_map<TrackId, size_t> lanes_;
  Nanos left_over_{INT64_MIN};  // end of the work that was launched before the recording
  TimeBase base_;
};

}  // namespace

std::string_view time_base_name(TimeBaseKind kind) {
  constexpr std::string_view kNames[] = {"steps", "annotation", "repetition", "recording",
                                         "gpu_span"};
  return kNames[static_cast<size_t>(kind)];
}

bool is_copy_event(const EventStore& store, EventId event) {
  if (store.kind(event) == EventKind::kMemcpy) return true;
  if (store.kind(event) != EventKind::kKernel) return false;
  const std::string_view name = store.name(event);
  return name.starts_with("MEMORY_COPY_") || name.starts_with("__amd_rocclr_copyBuffer");
}

size_t TimeBase::used_devices() const {
  return static_cast<size_t>(
      std::ranges::count_if(devices, [](const DeviceTime& d) { return !d.is_minor; }));
}

DeviceTime TimeBase::mean_device() const {
  DeviceTime mean;
  const auto count = static_cast<int64_t>(used_devices());
  if (count == 0) return mean;
  for (const DeviceTime& d : devices) {
    if (d.is_minor) continue;
    mean.events += d.events;
    mean.computation += d.computation;
    mean.exposed_communication += d.exposed_communication;
    mean.exposed_copies += d.exposed_copies;
    mean.busy += d.busy;
    mean.span = std::max(mean.span, d.span);
  }
  for (Nanos* part : {&mean.computation, &mean.exposed_communication, &mean.exposed_copies})
    part->count /= count;
  // The parts of means, rounded down, add up to it.
  mean.busy = mean.computation + mean.exposed_communication + mean.exposed_copies;
  mean.idle = wall() - mean.busy;
  return mean;
}

bool spans_nearly_all(Nanos span, Nanos wall) {
  constexpr double kNearlyAll = 0.98;
  return ratio(span, wall) >= kNearlyAll;
}

std::vector<DeviceWork> work_by_device(const SheetInput& input) {
  const EventStore& store = input.store;
  std::map<std::optional<int32_t>, std::vector<EventId>> by_device;
  for (const auto events : {input.tree.linked(), input.tree.unlinked()}) {
    for (const EventId e : events) {
      const std::optional<int32_t> device = store.gpu_work(e).device;
      if (input.scope.device && device != input.scope.device) continue;
      by_device[device].push_back(e);
    }
  }
  std::vector<DeviceWork> devices;
  for (auto& [device, work] : by_device) {
    sort_runs(work, [&store](EventId a, EventId b) {
      return std::tuple(store.start(a), a) < std::tuple(store.start(b), b);
    });
    devices.push_back({device, std::move(work)});
  }
  return devices;
}

TimeBase find_time_base(const SheetInput& input, const std::vector<DeviceWork>& devices) {
  return TimeBaseFinder(input, devices).find();
}

}  // namespace fathom
