#include "analyze/start_up.h"

#include <algorithm>

#include "tree/setup_spans.h"

namespace fathom {
namespace {

constexpr double kWorthIt = 0.10;    // of the wall time: first use, for the start-up to be left out
constexpr double kStillLeft = 0.05;  // of the steady state's wall time: first use in it
constexpr Nanos kLeastWall{1'000'000};  // a few steps after a compiler's minute are what counts
constexpr double kOfTheWork = 0.25;     // of the launches, and of the kernels' time
constexpr size_t kLeastWork = 20;       // launches
constexpr Nanos kLongCall{1'000'000};

// Whether first use can be a large part at all, without a look at the gaps: calls of the driver
// that take long and neither copy nor wait, or a compiler's spans.
bool may_start_up(const SheetInput& input, double worth_it) {
  const EventStore& store = input.store;
  Nanos first{INT64_MAX}, last{INT64_MIN}, loading;
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId e(i);
    const EventKind kind = store.kind(e);
    if (is_gpu_work(kind)) {
      first = std::min(first, store.start(e));
      last = std::max(last, store.end(e));
    }
    if (!is_launch(kind) || store.duration(e) < kLongCall) continue;
    const std::string_view name = store.name(e);
    const auto has = [name](std::string_view part) {
      return name.find(part) != std::string_view::npos;
    };
    if (!has("Memcpy") && !has("Memset") && !has("Synchronize")) loading += store.duration(e);
  }
  if (last <= first) return false;
  return ratio(loading, last - first) >= worth_it / 20 || !SetupSpans(store).empty();
}

// The GPU that most of the work is on.
std::optional<size_t> busiest(const TimeBase& base, const IdleTime& idle) {
  std::optional<size_t> most;
  for (size_t i = 0; i < base.devices.size(); ++i) {
    if (!idle.devices[i].is_explained) continue;
    if (!most || base.devices[i].busy > base.devices[*most].busy) most = i;
  }
  return most;
}

// Work of one GPU in the order of its launches, without that of compilers and autotuners. Its time
// is that of kernels: a program that copies its weights to the GPU first may copy for longer than
// it computes.
class LaunchedWork {
 public:
  LaunchedWork(const SheetInput& input, const std::vector<EventId>& work) {
    const SetupSpans setup(input.store);
    std::vector<std::pair<Nanos, Nanos>> launched;
    for (const EventId e : work) {
      const CallId launch = input.tree.launch(e);
      const EventId call = launch.valid() ? input.tree.event(launch) : e;
      const Nanos when = launched_or_begun(input.store, input.tree, e);
      if (setup.contains(input.store.track_id(call), when)) continue;
      const bool is_kernel = input.store.kind(e) == EventKind::kKernel;
      launched.emplace_back(when, is_kernel ? std::max(input.store.duration(e), Nanos{}) : Nanos{});
    }
    std::ranges::sort(launched);
    for (const auto& [when, time] : launched) {
      launched_.push_back(when);
      time_before_.push_back(time_before_.back() + time);
    }
  }

  struct Part {
    size_t launches = 0;
    Nanos time;
  };
  Part all() const { return {launched_.size(), time_before_.back()}; }
  Part in(const Interval& when) const {
    const auto begin = std::ranges::lower_bound(launched_, when.begin);
    const auto end = std::lower_bound(begin, launched_.end(), when.end);
    const auto time_at = [this](auto place) { return time_before_[place - launched_.begin()]; };
    return {static_cast<size_t>(end - begin), time_at(end) - time_at(begin)};
  }

 private:
  std::vector<Nanos> launched_;
  std::vector<Nanos> time_before_{Nanos{}};  // of the GPU, before each launch, and of all
};

// Finds the time between two first uses that holds the most launches.
class WindowFinder {
 public:
  WindowFinder(const TimeBase& base, const DeviceIdle& idle, const LaunchedWork& work)
      : base_(base), work_(work) {
    for (const IdleStretch& stretch : idle.stretches) {
      if (stretch.cause != IdleCause::kFirstUse) continue;
      before_.push_back(before_.empty() ? Nanos{} : before_.back() + length(spans_.back()));
      spans_.push_back(stretch.when);
    }
  }

  std::optional<Interval> find() const {
    const LaunchedWork::Part all = work_.all();
    const size_t least =
        std::max(kLeastWork, static_cast<size_t>(kOfTheWork * static_cast<double>(all.launches)));
    const std::vector<size_t> borders = longest();
    std::optional<Interval> best;
    size_t most = least;
    for (size_t i = 0; i <= borders.size(); ++i) {
      const Nanos begin = i == 0 ? base_.begin() : spans_[borders[i - 1]].end;
      for (size_t k = i; k <= borders.size(); ++k) {
        const Nanos end = k == borders.size() ? base_.end() : spans_[borders[k]].begin;
        const LaunchedWork::Part part = work_.in({begin, end});
        if (part.launches <= most || end - begin < kLeastWall) continue;
        if (ratio(part.time, all.time) < kOfTheWork) continue;
        const size_t first = i == 0 ? 0 : borders[i - 1] + 1;
        const size_t last = k == borders.size() ? spans_.size() : borders[k];
        if (ratio(first_use(first, last), end - begin) > kStillLeft) continue;
        most = part.launches;
        best = Interval{begin, end};
      }
    }
    return best;
  }

 private:
  static Nanos length(const Interval& span) { return span.end - span.begin; }

  // A few of them, in the order of time: the cost stays linear.
  std::vector<size_t> longest() const {
    constexpr size_t kBorders = 64;
    std::vector<size_t> all(spans_.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    const size_t kept = std::min(kBorders, all.size());
    std::ranges::partial_sort(
        all, all.begin() + static_cast<std::ptrdiff_t>(kept), [this](size_t x, size_t y) {
          return std::tuple(length(spans_[y]), x) < std::tuple(length(spans_[x]), y);
        });
    all.resize(kept);
    std::ranges::sort(all);
    return all;
  }
  // Of the spans from one place to another.
  Nanos first_use(size_t begin, size_t end) const {
    if (begin >= end) return {};
    return before_[end - 1] + length(spans_[end - 1]) - before_[begin];
  }

  const TimeBase& base_;
  const LaunchedWork& work_;
  std::vector<Interval> spans_;  // of first use
  std::vector<Nanos> before_;    // their sum before each
};

struct StartUp {
  bool is_there = false;  // first use of at least the part asked for
  std::optional<Scope::SteadyState> steady;
};

// When the host begins the first step of the steady state: what it does before, after all first
// uses, belongs to no step and is part of the start-up.
Nanos first_step(const SheetInput& input, const Scope::SteadyState& steady) {
  Scope scope = input.scope;
  scope.steady = steady;
  const SheetInput of_steady(input.store, input.tree, scope);
  const TimeBase base = find_time_base(of_steady, work_by_device(of_steady));
  const bool has_steps =
      base.kind == TimeBaseKind::kAnnotation || base.kind == TimeBaseKind::kRepetition;
  return has_steps ? base.steps.front().host_begin : steady.when.begin;
}

StartUp find_start_up(const SheetInput& input, double worth_it) {
  if (input.scope.steps || input.scope.steady || !input.tree.has_launches() ||
      !may_start_up(input, worth_it))
    return {};
  const std::vector<DeviceWork> devices = work_by_device(input);
  const TimeBase base = find_time_base(input, devices);
  if (base.kind == TimeBaseKind::kSteps || base.kind == TimeBaseKind::kGpuSpan) return {};
  const IdleTime idle = explain_idle_time(input, base, devices);
  const auto device = busiest(base, idle);
  if (!device || ratio(idle.time(IdleCause::kFirstUse), base.wall()) < worth_it) return {};
  StartUp found;
  found.is_there = true;
  const DeviceIdle& of_device = idle.devices[*device];
  const std::vector<EventId>& work = devices[*device].work;
  const auto window = WindowFinder(base, of_device, LaunchedWork(input, work)).find();
  if (!window || window->begin <= base.begin()) return found;
  // What was launched before is part of the start-up, until it has run.
  Nanos begin = window->begin, first_use;
  for (const EventId e : work)
    if (launched_or_begun(input.store, input.tree, e) < window->begin)
      begin = std::max(begin, std::min(input.store.end(e), window->end));
  for (const IdleStretch& stretch : of_device.stretches)
    if (stretch.cause == IdleCause::kFirstUse && stretch.when.end <= window->begin)
      first_use += stretch.when.end - stretch.when.begin;
  found.steady = {{begin, window->end}, {base.begin(), base.end()}, first_use};
  found.steady->when.begin = std::max(begin, first_step(input, *found.steady));
  return found;
}

}  // namespace

std::optional<Scope::SteadyState> find_steady_state(const SheetInput& input) {
  return find_start_up(input, kWorthIt).steady;
}

SteadyPair find_steady_states(const SheetInput& a, const SheetInput& b) {
  constexpr double kAnyAtAll = 0.01;  // of the wall time
  SteadyPair found{find_steady_state(a), find_steady_state(b)};
  if (found.first.has_value() == found.second.has_value()) return found;
  const StartUp other = find_start_up(found.first ? b : a, kAnyAtAll);
  if (other.is_there && !other.steady) return {};
  (found.first ? found.second : found.first) = other.steady;
  return found;
}

}  // namespace fathom
