#include "sheets/host_activity.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sheets/op_columns.h"

namespace fathom {
namespace {

bool has_any_gpu_work(const SheetInput& input) {
  return !input.tree.linked().empty() || !input.tree.unlinked().empty();
}

// Events that begin in the scope's steps.
class InScope {
 public:
  explicit InScope(const SheetInput& input)
      : input_(input),
        steps_(input.store, input.scope.steps ? std::string_view(input.scope.step_pattern) : "") {}

  bool operator()(EventId event) const {
    const std::optional<Scope::StepRange>& range = input_.scope.steps;
    if (!range) return true;
    const auto step = steps_.at(input_.store.start(event));
    return step && *step >= range->begin && *step < range->end;
  }

 private:
  const SheetInput& input_;
  Steps steps_;
};

std::vector<HostRange> measure_ranges(const EventStore& store, const std::vector<EventId>& events) {
  std::map<StringId, std::vector<EventId>> by_name;
  for (const EventId e : events) by_name[store.name_id(e)].push_back(e);
  std::vector<HostRange> ranges;
  for (auto& [name, same] : by_name) {
    HostRange range{name, same.front(), static_cast<int64_t>(same.size()), {}, {}, {}, {}};
    for (const EventId e : same) range.total += store.duration(e);
    std::ranges::sort(same, {}, [&store](EventId e) { return store.duration(e); });
    range.least = store.duration(same.front());
    range.median = store.duration(same[same.size() / 2]);
    range.most = store.duration(same.back());
    ranges.push_back(range);
  }
  std::ranges::sort(ranges, [](const HostRange& a, const HostRange& b) {
    return std::tie(b.total, a.first) < std::tie(a.total, b.first);
  });
  return ranges;
}

// In the file's order, which may not be that of time.
class TrackMaker {
 public:
  TrackMaker(const EventStore& store, Nanos begin, Nanos length)
      : store_(store), begin_(begin), length_(length) {}

  void add(const CounterValue& v) {
    const auto [found, is_new] =
        places_.try_emplace({store_.name_id(v.event), v.name}, tracks_.size());
    if (is_new) {
      tracks_.push_back({{}, store_.start(v.event), store_.start(v.event)});
      CounterTrack& track = tracks_.back().track;
      track = {
          store_.name_id(v.event), v.name, v.event, 0, v.value, v.value, 0, v.value, v.value, {}};
      track.parts.resize(HostActivity::kParts);
    }
    Made& made = tracks_[found->second];
    const Nanos time = store_.start(v.event);
    if (time < made.first) made.track.first = v.value;
    if (time >= made.last) made.track.last = v.value;
    made.first = std::min(made.first, time);
    made.last = std::max(made.last, time);
    put(made.track.parts[part_at(time)], v.value);
    CounterTrack::Part all{made.track.count, made.track.mean, made.track.min, made.track.max};
    put(all, v.value);
    made.track.count = all.count;
    made.track.mean = all.mean;
    made.track.min = all.min;
    made.track.max = all.max;
  }

  bool is_full(const CounterValue& v) const {
    return tracks_.size() >= HostActivity::kMostCounters &&
           !places_.contains({store_.name_id(v.event), v.name});
  }

  std::vector<CounterTrack> take() {
    std::ranges::stable_sort(tracks_, {}, &Made::first);
    std::vector<CounterTrack> out;
    for (Made& made : tracks_) out.push_back(std::move(made.track));
    return out;
  }

 private:
  struct Made {
    CounterTrack track;
    Nanos first, last;
  };

  size_t part_at(Nanos time) const {
    const double place = ratio(time - begin_, length_) * HostActivity::kParts;
    return static_cast<size_t>(
        std::clamp(place, 0.0, static_cast<double>(HostActivity::kParts - 1)));
  }

  // The mean without a sum that overflows.
  static void put(CounterTrack::Part& part, double value) {
    ++part.count;
    const auto n = static_cast<double>(part.count);
    part.mean += value / n - part.mean / n;
    part.min = part.count == 1 ? value : std::min(part.min, value);
    part.max = part.count == 1 ? value : std::max(part.max, value);
  }

  const EventStore& store_;
  Nanos begin_, length_;
  std::map<std::pair<StringId, StringId>, size_t> places_;
  std::vector<Made> tracks_;
};

Table ranges_sheet(const EventStore& store, const HostActivity& host) {
  Table table("host_ranges");
  Column& name = table.text_column("name");
  Column& count = table.count_column("count");
  Column& total = table.time_column("total_us", Unit::kMicros);
  Column& mean = table.real_column("mean_us", Unit::kMicros);
  Column& least = table.time_column("min_us", Unit::kMicros);
  Column& median = table.time_column("median_us", Unit::kMicros);
  Column& most = table.time_column("max_us", Unit::kMicros);
  Column& share = table.real_column("of_recording_percent", Unit::kPercent);
  Column& example = table.count_column("ex_UID");
  RepeatBudget repeats;
  for (const HostRange& range : host.ranges) {
    name.add(text_cell(store, range.name, repeats));
    count.add(range.count);
    total.add(range.total);
    mean.add(range.total.micros() / static_cast<double>(range.count));
    least.add(range.least);
    median.add(range.median);
    most.add(range.most);
    share.add(100 * ratio(range.total, host.length));
    example.add(store.uid(range.first));
  }
  return table;
}

Table tracks_sheet(const EventStore& store, const HostActivity& host) {
  Table table("counters_over_time");
  Column& name = table.text_column("name");
  Column& counter = table.text_column("counter");
  Column& begin = table.real_column("begin_ms", Unit::kMillis);
  Column& end = table.real_column("end_ms", Unit::kMillis);
  Column& count = table.count_column("values");
  Column& mean = table.real_column("mean", Unit::kNone);
  Column& min = table.real_column("min", Unit::kNone);
  Column& max = table.real_column("max", Unit::kNone);
  RepeatBudget repeats;
  const double step = host.length.millis() / HostActivity::kParts;
  for (const CounterTrack& track : host.counters) {
    for (size_t i = 0; i < track.parts.size(); ++i) {
      const CounterTrack::Part& part = track.parts[i];
      if (part.count == 0) continue;
      name.add(text_cell(store, track.name, repeats));
      counter.add(text_cell(store, track.counter, repeats));
      begin.add(step * static_cast<double>(i));
      end.add(step * static_cast<double>(i + 1));
      count.add(part.count);
      mean.add(part.mean);
      min.add(part.min);
      max.add(part.max);
    }
  }
  return table;
}

}  // namespace

std::optional<HostActivity> measure_host_activity(const SheetInput& input) {
  if (has_any_gpu_work(input)) return {};
  const EventStore& store = input.store;
  const InScope in_scope(input);
  std::vector<EventId> ranges;
  std::optional<Interval> whole;
  const auto widen = [&](EventId e) {
    if (!whole) whole = {store.start(e), store.end(e)};
    whole->begin = std::min(whole->begin, store.start(e));
    whole->end = std::max(whole->end, store.end(e));
  };
  for (EventId e(0); e.index < store.size(); ++e.index) {
    if (store.kind(e) != EventKind::kAnnotation || !in_scope(e)) continue;
    ranges.push_back(e);
    widen(e);
  }
  std::vector<const CounterValue*> values;
  for (const CounterValue& v : store.counters()) {
    if (store.kind(v.event) != EventKind::kCounter || !std::isfinite(v.value) || !in_scope(v.event))
      continue;
    values.push_back(&v);
    widen(v.event);
  }
  if (!whole) return {};
  HostActivity host;
  host.begin = whole->begin;
  host.length = whole->end - whole->begin;
  host.ranges = measure_ranges(store, ranges);
  TrackMaker tracks(store, host.begin, host.length);
  std::map<std::pair<StringId, StringId>, bool> left_out;
  for (const CounterValue* v : values) {
    if (tracks.is_full(*v))
      left_out[{store.name_id(v->event), v->name}] = true;
    else
      tracks.add(*v);
  }
  host.left_out = left_out.size();
  host.counters = tracks.take();
  return host;
}

std::vector<Table> host_sheets(const SheetInput& input) {
  const std::optional<HostActivity> host = measure_host_activity(input);
  std::vector<Table> sheets;
  if (!host) return sheets;
  if (!host->ranges.empty()) sheets.push_back(ranges_sheet(input.store, *host));
  if (!host->counters.empty()) sheets.push_back(tracks_sheet(input.store, *host));
  return sheets;
}

}  // namespace fathom
