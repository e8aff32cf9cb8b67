#include "analyze/idle_sheets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analyze/finding_parts.h"
#include "analyze/place.h"
#include "analyze/sync_kind.h"
#include "base/sort_runs.h"
#include "base/utf8.h"

namespace fathom {
namespace {

constexpr size_t kNameShown = 400, kNameRead = 1000;  // bytes
constexpr std::string_view kBusy = "busy";            // of steps

void add_device(Column& column, std::optional<int32_t> device) {
  device ? column.add(static_cast<int64_t>(*device)) : column.add_unknown();
}

// Idle time of one cause at one place.
struct CausePlace {
  PlaceIds first;
  EventId example;
  StringId name;  // of what it is put down to
  size_t count = 0;
  Nanos time;
};

class IdleCauseRows {
 public:
  explicit IdleCauseRows(const Assessment& a) : a_(a), finder_(a.places()) {}

  Table table() {
    for (size_t c = 0; c < kIdleCauses; ++c) add_cause(c);
    add_other_gpus();
    return std::move(table_);
  }

 private:
  // Waits are told by how the program asked for them, the rest by the names of calls.
  std::vector<CausePlace> places_of(const std::vector<IdleBlame>& blamed, bool are_waits) {
    const EventStore& store = a_.input().store;
    const auto name = [&store](EventId e) { return e.valid() ? store.name_id(e) : StringId{}; };
    // Objects of a type have the same methods, under names with their addresses.
    std::unordered_map<StringId, StringId> plain;
    std::unordered_map<std::string, StringId> first_of;
    const auto plain_name = [&](EventId e) {
      const StringId id = name(e);
      if (!id.valid() || !store.text(id).starts_with("<built-in")) return id;
      const auto [known, is_new] = plain.try_emplace(id);
      if (is_new)
        known->second = first_of.try_emplace(shown_frame(store.text(id)), id).first->second;
      return known->second;
    };
    using Key = std::tuple<StringId, StringId, StringId, std::string_view>;
    std::map<Key, CausePlace> merged;
    for (const IdleBlame& blame : blamed) {
      const PlaceIds ids = finder_.of(blame.event);
      const Key key{name(ids.frame), ids.frame.valid() ? StringId{} : name(ids.op),
                    are_waits ? StringId{} : plain_name(blame.event),
                    are_waits ? sync_kind(a_.input(), blame.event).text : std::string_view{}};
      CausePlace& place = merged[key];
      if (place.count == 0) place = {ids, blame.event, plain_name(blame.event), 0, {}};
      ++place.count;
      place.time += blame.time;
    }
    std::vector<CausePlace> places;
    for (auto& [key, place] : merged) places.push_back(place);
    // Ids follow the file; texts do not. A name can be long and stand for many.
    const auto text = [&store](EventId e) {
      return e.valid() ? store.name(e).substr(0, 100) : std::string_view{};
    };
    std::ranges::stable_sort(places, [&](const CausePlace& x, const CausePlace& y) {
      if (x.time != y.time) return y.time < x.time;
      return std::tuple(text(x.first.frame), text(x.first.op), text(x.example)) <
             std::tuple(text(y.first.frame), text(y.first.op), text(y.example));
    });
    return places;
  }

  void add_cause(size_t c) {
    constexpr size_t kMostRows = 500;
    Nanos all;
    for (const DeviceIdle& device : a_.idle().devices)
      if (device.is_explained) all += device.by_cause[c];
    if (all.count == 0) return;
    const bool is_wait = static_cast<IdleCause>(c) == IdleCause::kSynchronization;
    const std::vector<CausePlace> places = places_of(a_.idle().blamed[c], is_wait);
    Nanos listed;
    for (size_t i = 0; i < std::min(kMostRows, places.size()); ++i) {
      const CausePlace& place = places[i];
      row(c, cut_to_bytes(place_text(finder_.describe(place.first)), kNameShown),
          is_wait ? std::string(sync_kind(a_.input(), place.example).text)
                  : shown_frame(a_.input().store.text(place.name).substr(0, kNameRead)),
          static_cast<int64_t>(place.count), place.time);
      listed += place.time;
    }
    if (listed != all) row(c, "", "", std::nullopt, all - listed);
  }

  // The GPUs whose idle time has no cause: percent are of their own wall time.
  void add_other_gpus() {
    Nanos all;
    size_t gpus = 0;
    for (const DeviceIdle& device : a_.idle().devices) {
      if (device.is_explained) continue;
      ++gpus;
      for (const Nanos time : device.by_cause) all += time;
    }
    if (all.count > 0) row("other_gpus", "", "", std::nullopt, all, gpus);
  }

  void row(size_t cause, std::string_view place, std::string_view call,
           std::optional<int64_t> count, Nanos time) {
    row(idle_cause_name(static_cast<IdleCause>(cause)), place, call, count, time,
        a_.idle().explained);
  }

  void row(std::string_view cause, std::string_view place, std::string_view call,
           std::optional<int64_t> count, Nanos time, size_t gpus) {
    cause_.add(cause);
    place.empty() ? place_.add_unknown() : place_.add(place);
    call.empty() ? call_.add_unknown() : call_.add(cut_to_bytes(call, kNameShown));
    count_.add(count);
    time_.add(time);
    percent_.add(ratio(time, a_.base().wall()) * 100 /
                 static_cast<double>(std::max<size_t>(1, gpus)));
  }

  const Assessment& a_;
  PlaceFinder& finder_;
  Table table_{"idle_causes"};
  Column& cause_ = table_.text_column("cause");
  Column& place_ = table_.text_column("place");
  Column& call_ = table_.text_column("call");
  Column& count_ = table_.count_column("count");
  Column& time_ = table_.time_column("time ms", Unit::kMillis);
  Column& percent_ = table_.real_column("percent of wall time", Unit::kPercent);
};

Nanos middle_of(std::vector<Nanos> values) {
  if (values.empty()) return {};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  const Nanos below = *std::max_element(values.begin(), middle);
  return below + Nanos{(*middle - below).count / 2};
}

// The times of one GPU in the steps, and their medians.
class StepRows {
 public:
  StepRows(const TimeBase& base, const DeviceIdle& device) : base_(base), device_(device) {
    const auto median = [&](auto value) {
      std::vector<Nanos> values;
      values.reserve(base.steps.size());
      for (size_t i = 0; i < base.steps.size(); ++i) values.push_back(value(i));
      return middle_of(std::move(values));
    };
    wall_ = median([&](size_t i) { return wall(i); });
    busy_ = median([&](size_t i) { return device.busy_by_step[i]; });
    for (size_t c = 0; c < kIdleCauses; ++c)
      idle_[c] = median([&](size_t i) { return device.by_step[i][c]; });
  }

  Nanos wall(size_t step) const { return base_.steps[step].end - base_.steps[step].begin; }
  std::optional<double> against_median(size_t step) const {
    if (wall_.count <= 0) return {};
    return (ratio(wall(step), wall_) - 1) * 100;
  }
  Nanos median() const { return wall_; }
  // What most of the difference to the median is.
  std::pair<std::string_view, Nanos> main_difference(size_t step) const {
    Nanos most = device_.busy_by_step[step] - busy_;
    std::string_view what = kBusy;
    for (size_t c = 0; c < kIdleCauses; ++c) {
      const Nanos more = device_.by_step[step][c] - idle_[c];
      if (more <= most) continue;
      most = more;
      what = idle_cause_name(static_cast<IdleCause>(c));
    }
    return {what, most};
  }
  // Empty where it is small.
  std::string difference(size_t step) const {
    constexpr double kNoted = 0.05;
    const Nanos excess = wall(step) - wall_;
    if (excess.count <= 0 || ratio(excess, wall_) < kNoted) return {};
    const auto [what, most] = main_difference(step);
    return fmt::format("{} +{}", what, micros_text(most));
  }

 private:
  const TimeBase& base_;
  const DeviceIdle& device_;
  Nanos wall_, busy_;
  IdleTimesByCause idle_ = {};
};

std::string step_name(const Assessment& a, size_t i) {
  const BaseStep& step = a.base().steps[i];
  const TimeBaseKind kind = a.base().kind;
  if (step.annotation.valid())
    return cut_to_bytes(a.input().store.name(step.annotation), kNameShown);
  if (kind == TimeBaseKind::kRepetition) return fmt::format("{} {}", time_base_name(kind), i);
  return std::string(time_base_name(kind));
}

Table steps_sheet(const Assessment& a) {
  const TimeBase& base = a.base();
  Table table("steps");
  Column& step = table.text_column("step");
  Column& device_column = table.count_column("device");
  Column& start = table.time_column("start ms", Unit::kMillis);
  Column& wall = table.time_column("wall ms", Unit::kMillis);
  Column& busy = table.time_column("busy ms", Unit::kMillis);
  Column& idle = table.time_column("idle ms", Unit::kMillis);
  std::vector<Column*> causes;
  for (size_t c = 0; c < kIdleCauses; ++c)
    causes.push_back(&table.time_column(
        fmt::format("idle {} ms", idle_cause_name(static_cast<IdleCause>(c))), Unit::kMillis));
  Column& against = table.real_column("wall against median percent", Unit::kPercent);
  Column& difference = table.text_column("differs by");
  for (const DeviceIdle& device : a.idle().devices) {
    if (!device.is_explained) continue;
    const StepRows rows(base, device);
    for (size_t i = 0; i < base.steps.size(); ++i) {
      const BaseStep& s = base.steps[i];
      step.add(step_name(a, i));
      add_device(device_column, device.device);
      start.add(s.begin - base.begin());
      wall.add(rows.wall(i));
      busy.add(device.busy_by_step[i]);
      idle.add(rows.wall(i) - device.busy_by_step[i]);
      for (size_t c = 0; c < kIdleCauses; ++c) causes[c]->add(device.by_step[i][c]);
      against.add(rows.against_median(i));
      const std::string differs = rows.difference(i);
      differs.empty() ? difference.add_unknown() : difference.add(differs);
    }
  }
  return table;
}

// From the return of a launch to the start of its work, and how much work was waiting then.
struct StreamDelays {
  std::vector<Nanos> delays, launched, started;

  void add(Nanos launch, Nanos returned, Nanos start) {
    delays.push_back(start - returned);
    launched.push_back(launch);
    started.push_back(start);
  }
  // Work launched but not started when each launch was called.
  std::vector<int64_t> queue_lengths() {
    std::ranges::sort(launched, {}, &Nanos::count);
    std::ranges::sort(started, {}, &Nanos::count);
    std::vector<int64_t> lengths;
    size_t begun = 0;
    for (size_t i = 0; i < launched.size(); ++i) {
      while (begun < started.size() && started[begun] <= launched[i]) ++begun;
      lengths.push_back(static_cast<int64_t>(i) - static_cast<int64_t>(begun));
    }
    return lengths;
  }
};

template <typename T>
T percentile(std::vector<T>& values, size_t percent) {
  const size_t rank = (values.size() - 1) * percent / 100;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::ranges::nth_element(values, at);
  return *at;
}

Table launch_delay_sheet(const Assessment& a) {
  constexpr size_t kMostStreams = 200;
  const SheetInput& input = a.input();
  const EventStore& store = input.store;
  std::map<std::pair<std::optional<int32_t>, std::optional<int64_t>>, StreamDelays> streams;
  StreamDelays all;
  if (input.tree.has_launches()) {
    for (const EventId e : input.selection.linked()) {
      const EventId call = input.tree.event(input.tree.launch(e));
      const GpuWork& work = store.gpu_work(e);
      all.add(store.start(call), store.end(call), store.start(e));
      streams[{work.device, work.stream}].add(store.start(call), store.end(call), store.start(e));
    }
  }
  Table table("launch_delay");
  Column& device = table.count_column("device");
  Column& stream = table.count_column("stream");
  Column& launches = table.count_column("launches");
  Column& median = table.time_column("median delay us", Unit::kMicros);
  Column& high = table.time_column("p99 delay us", Unit::kMicros);
  Column& most = table.time_column("max delay us", Unit::kMicros);
  Column& queue = table.count_column("median queue length");
  Column& longest = table.count_column("max queue length");
  const auto add = [&](StreamDelays& delays) {
    launches.add(static_cast<int64_t>(delays.delays.size()));
    median.add(percentile(delays.delays, 50));
    high.add(percentile(delays.delays, 99));
    most.add(std::ranges::max(delays.delays));
    std::vector<int64_t> lengths = delays.queue_lengths();
    queue.add(std::max<int64_t>(0, percentile(lengths, 50)));
    longest.add(std::max<int64_t>(0, std::ranges::max(lengths)));
  };
  if (all.delays.empty()) return table;
  device.add_unknown();
  stream.add_unknown();
  add(all);
  for (auto& [key, delays] : streams) {
    if (table.rows() > kMostStreams) break;
    add_device(device, key.first);
    key.second ? stream.add(*key.second) : stream.add_unknown();
    add(delays);
  }
  return table;
}

// What the host did: the call or frame that stands for most of a gap, and what called it.
std::string host_stack(const Assessment& a, const IdleGap& gap) {
  if (!gap.host.valid()) return {};
  const SheetInput& input = a.input();
  EventId host = gap.host;
  if (is_gpu_work(input.store.kind(host))) {
    const CallId launch = input.tree.launch(host);
    if (!launch.valid() || !input.tree.has_launches()) return {};
    host = input.tree.event(launch);
  }
  std::vector<std::string> lines = {
      cut_to_bytes(shown_frame(input.store.name(host).substr(0, kNameRead)), kNameShown)};
  for (std::string& line : call_stack_of(input, host)) lines.push_back(std::move(line));
  return fmt::format("{}", fmt::join(lines, " < "));
}

Table longest_gaps_sheet(const Assessment& a) {
  const EventStore& store = a.input().store;
  Table table("longest_gaps");
  Column& device_column = table.count_column("device");
  Column& start = table.time_column("start ms", Unit::kMillis);
  Column& length = table.time_column("length ms", Unit::kMillis);
  Column& cause = table.text_column("cause");
  Column& share = table.real_column("percent of the gap", Unit::kPercent);
  Column& host = table.text_column("host");
  Column& before = table.text_column("work before");
  Column& after = table.text_column("work after");
  const auto name = [&](Column& column, EventId e) {
    e.valid() ? column.add(cut_to_bytes(store.name(e), kNameShown)) : column.add_unknown();
  };
  for (const DeviceIdle& device : a.idle().devices) {
    for (const IdleGap& gap : device.longest) {
      const Nanos time = gap.gap.end - gap.gap.begin;
      add_device(device_column, device.device);
      start.add(gap.gap.begin - a.base().begin());
      length.add(time);
      cause.add(idle_cause_name(gap.cause));
      share.add(100 * ratio(gap.parts[static_cast<size_t>(gap.cause)], time));
      const std::string stack = host_stack(a, gap);
      stack.empty() ? host.add_unknown() : host.add(stack);
      name(before, gap.before);
      name(after, gap.after);
    }
  }
  return table;
}

}  // namespace

std::optional<SlowStep> find_slow_step(const Assessment& a) {
  constexpr size_t kFewSteps = 3;
  constexpr double kSlowStep = 1.25;
  if (a.base().steps.size() < kFewSteps) return {};
  for (const DeviceIdle& device : a.idle().devices) {
    if (!device.is_explained) continue;
    const StepRows rows(a.base(), device);
    size_t slowest = 0;
    for (size_t i = 1; i < a.base().steps.size(); ++i)
      if (rows.wall(i) > rows.wall(slowest)) slowest = i;
    if (rows.median().count <= 0 || ratio(rows.wall(slowest), rows.median()) < kSlowStep) return {};
    const auto [what, more] = rows.main_difference(slowest);
    return SlowStep{
        step_name(a, slowest), rows.wall(slowest), rows.median(), what == kBusy, what, more};
  }
  return {};
}

std::vector<Table> idle_sheets(const Assessment& a) {
  if (a.base().steps.empty()) return {};
  std::vector<Table> sheets;
  sheets.push_back(IdleCauseRows(a).table());
  sheets.push_back(steps_sheet(a));
  sheets.push_back(launch_delay_sheet(a));
  sheets.push_back(longest_gaps_sheet(a));
  return sheets;
}

}  // namespace fathom
