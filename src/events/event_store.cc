#include "events/event_store.h"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

template <typename T>
void append_to(std::vector<T>& into, const std::vector<T>& from) {
  into.insert(into.end(), from.begin(), from.end());
}

// Numbers of a piece's table translated to the whole's.
template <typename Id>
struct Renumbering {
  std::vector<Id> to;
  Id operator()(Id id) const { return id.valid() ? to[id.index] : id; }
};

// An event at 0 in a trace whose others lie far from there has no time: its recorder lost it. Nor
// has one at the end of time. Such events stay as rows that no sheet uses.
void set_timeless_aside(EventColumns& columns, const StringPool& strings, Diagnostics& flaws) {
  constexpr double kFar = 10;          // times the length of all others, and
  constexpr double kFarAtLeast = 1e9;  // ns
  Nanos first{INT64_MAX}, last{INT64_MIN};
  bool any_at_zero = false, any_far = false;
  for (const Nanos start : columns.start) {
    any_at_zero |= start.count == 0;
    any_far |= !is_readable_time(start);
    if (start.count == 0 || !is_readable_time(start)) continue;
    first = std::min(first, start);
    last = std::max(last, start);
  }
  const double length = static_cast<double>(last.count) - static_cast<double>(first.count);
  const bool zero_is_none = any_at_zero && first <= last && first.count >= 0 &&
                            static_cast<double>(first.count) >= kFar * length + kFarAtLeast;
  if (!zero_is_none && !any_far) return;
  if (first > last) first = {};
  std::vector<bool> aside(columns.kind.size());
  for (size_t i = 0; i < columns.kind.size(); ++i) {
    if (is_readable_time(columns.start[i]) && !(zero_is_none && columns.start[i].count == 0))
      continue;
    aside[i] = true;
    flaws.add(Flaw::kMissingTime, strings.text(columns.name[i]));
    columns.kind[i] = EventKind::kOther;
    columns.detail[i] = kNoDetail;
    columns.start[i] = first;
    columns.duration[i] = {};
  }
  std::erase_if(columns.collectives, [&](const Collective& c) { return aside[c.event.index]; });
}

// Durations that add up to over 36 years were not measured. The longest ones are dropped, so that
// every sum of the others is what it says.
void drop_endless_durations(EventColumns& columns, const StringPool& strings, Diagnostics& flaws) {
  constexpr int64_t kMost = int64_t{1} << 60;
  double sum = 0;
  for (const Nanos duration : columns.duration) sum += static_cast<double>(duration.count);
  if (sum < static_cast<double>(kMost)) return;
  // What is no longer than its part of the whole stays.
  const Nanos part{kMost / static_cast<int64_t>(columns.duration.size())};
  Nanos kept;
  std::vector<Nanos> longer;
  for (const Nanos duration : columns.duration) {
    if (duration > part) {
      longer.push_back(duration);
    } else {
      kept += duration;
    }
  }
  std::ranges::sort(longer);
  Nanos longest = part;
  for (size_t i = 0, same = 0; i < longer.size(); i = same) {
    Nanos group;
    for (same = i; same < longer.size() && longer[same] == longer[i]; ++same) group += longer[i];
    kept += group;
    if (kept.count > kMost) break;
    longest = longer[i];
  }
  for (size_t i = 0; i < columns.duration.size(); ++i) {
    if (columns.duration[i] <= longest) continue;
    flaws.add(Flaw::kMissingDuration, strings.text(columns.name[i]));
    columns.duration[i] = {};
  }
}

}  // namespace

const AutogradFacts* EventStore::autograd(EventId e) const {
  const uint32_t detail = views_.detail[e.index];
  if (kind(e) != EventKind::kCpuOp || detail == kNoDetail) return nullptr;
  return &views_.autograd[detail];
}

const Collective* EventStore::collective(EventId e) const {
  const auto all = views_.collectives;
  auto found = std::ranges::lower_bound(all, e, {}, &Collective::event);
  return found != all.end() && found->event == e ? &*found : nullptr;
}

std::span<const CounterValue> EventStore::counters(EventId e) const {
  const auto [begin, end] = std::ranges::equal_range(views_.counters, e, {}, &CounterValue::event);
  return {begin, end};
}

size_t EventStoreBuilder::ArgsHash::operator()(const Args& args) const {
  return TableHash{}(args.dims.index, args.types.index, args.strides.index, args.concrete.index);
}

void EventStoreBuilder::add_counter(StringId name, double value) {
  if (!std::isfinite(value)) {
    diagnostics_.add(Flaw::kCounterValueUnreadable, text(columns_.name.back()));
    return;
  }
  columns_.counters.push_back({EventId(columns_.kind.size() - 1), name, value});
}

TrackId EventStoreBuilder::intern_track(StringId pid, StringId tid) {
  const uint64_t key = uint64_t{pid.index} << 32 | tid.index;
  auto [found, is_new] = track_ids_.try_emplace(key, TrackId(columns_.tracks.size()));
  if (is_new) columns_.tracks.push_back({pid, tid, {}, {}, {}});
  return found->second;
}

ArgsId EventStoreBuilder::intern_args(const Args& args) {
  auto [found, is_new] = args_ids_.try_emplace(args, ArgsId(columns_.unique_args.size()));
  if (is_new) columns_.unique_args.push_back(args);
  return found->second;
}

void EventStoreBuilder::reserve(size_t events) {
  columns_.position.reserve(events);
  columns_.kind.reserve(events);
  columns_.start.reserve(events);
  columns_.duration.reserve(events);
  columns_.name.reserve(events);
  columns_.track.reserve(events);
  columns_.args.reserve(events);
  columns_.detail.reserve(events);
}

EventId EventStoreBuilder::add(const Common& event) {
  const EventId id(columns_.kind.size());
  columns_.position.push_back(entries_++);
  columns_.kind.push_back(event.kind);
  columns_.start.push_back(event.start);
  columns_.duration.push_back(event.duration);
  columns_.name.push_back(event.name);
  columns_.track.push_back(event.track);
  columns_.args.push_back(event.args);
  columns_.detail.push_back(kNoDetail);
  return id;
}

template <typename Detail>
EventId EventStoreBuilder::add_with(const Common& event, std::vector<Detail>& table,
                                    const Detail& detail) {
  const EventId id = add(event);
  columns_.detail.back() = static_cast<uint32_t>(table.size());
  table.push_back(detail);
  return id;
}

EventId EventStoreBuilder::add(const Common& event, const GpuWork& work) {
  return add_with(event, columns_.gpu_work, work);
}
EventId EventStoreBuilder::add(const Common& event, const LaunchCall& call) {
  return add_with(event, columns_.launches, call);
}
EventId EventStoreBuilder::add(const Common& event, const AutogradFacts& facts) {
  return add_with(event, columns_.autograd, facts);
}
EventId EventStoreBuilder::add(const Common& event, const PythonFrame& frame) {
  return add_with(event, columns_.frames, frame);
}

EventStoreBuilder::Common EventStoreBuilder::common_of(const EventStore& from, EventId event) {
  const auto copied = [&](StringId id) { return id.valid() ? intern(from.text(id)) : StringId{}; };
  Common common{from.kind(event),
                from.start(event),
                from.duration(event),
                copied(from.name_id(event)),
                {},
                {}};
  const Track& track = from.track(event);
  common.track = intern_track(copied(track.pid), copied(track.tid));
  if (const ArgsId id = from.args_id(event); id.valid()) {
    const Args& args = from.args(id);
    common.args = intern_args(
        {copied(args.dims), copied(args.types), copied(args.strides), copied(args.concrete)});
  }
  return common;
}

EventId EventStoreBuilder::add_copy(const EventStore& from, EventId event, const Common& as,
                                    std::optional<LaunchKey> key) {
  const uint32_t detail = from.views_.detail[event.index];
  if (detail == kNoDetail) return add(as);
  if (is_gpu_work(as.kind)) {
    GpuWork work = from.gpu_work(event);
    if (key) work.key = key;
    return add(as, work);
  }
  if (is_launch(as.kind) || is_annotation(as.kind)) {
    LaunchCall call = from.launch(event);
    if (key) call.key = key;
    return add(as, call);
  }
  if (as.kind == EventKind::kPython) return add(as, from.frame(event));
  if (as.kind == EventKind::kCpuOp) return add(as, from.views_.autograd[detail]);
  return add(as);
}

EventId EventStoreBuilder::add_undecided(const Common& event, const GpuWork& work) {
  const EventId id = add(event, work);
  undecided_.push_back(id);
  return id;
}

std::span<const Track> EventStoreBuilder::named_tracks() {
  apply_names();
  return columns_.tracks;
}

void EventStoreBuilder::decide_kinds(const KindOfTrack& kind_of) {
  apply_names();
  for (const EventId e : undecided_) {
    const size_t i = e.index;
    GpuWork& work = columns_.gpu_work[columns_.detail[i]];
    const Common event{columns_.kind[i], columns_.start[i], columns_.duration[i],
                       columns_.name[i], columns_.track[i], columns_.args[i]};
    const EventKind kind = kind_of(columns_.tracks[event.track.index], event, work);
    columns_.kind[i] = kind;
    if (is_gpu_work(kind)) continue;
    columns_.detail[i] = kNoDetail;
    if (is_launch(kind) || is_annotation(kind)) {
      columns_.detail[i] = static_cast<uint32_t>(columns_.launches.size());
      columns_.launches.push_back({is_launch(kind) ? work.key : std::nullopt});
    } else if (kind == EventKind::kPython) {
      columns_.detail[i] = static_cast<uint32_t>(columns_.frames.size());
      columns_.frames.emplace_back();
    }
  }
  undecided_.clear();
}

void EventStoreBuilder::append(EventStoreBuilder&& piece) {
  const EventColumns& from = piece.columns_;

  Renumbering<StringId> strings;
  strings.to.reserve(piece.strings_.size());
  for (size_t i = 0; i < piece.strings_.size(); ++i) {
    strings.to.push_back(intern(piece.strings_.text(StringId(i))));
  }
  Renumbering<TrackId> tracks;
  for (const Track& track : from.tracks) {
    tracks.to.push_back(intern_track(strings(track.pid), strings(track.tid)));
  }
  Renumbering<ArgsId> args;
  for (const Args& a : from.unique_args) {
    args.to.push_back(
        intern_args({strings(a.dims), strings(a.types), strings(a.strides), strings(a.concrete)}));
  }

  const auto base = static_cast<uint32_t>(columns_.kind.size());
  const auto base_of = [this](EventKind kind) -> size_t {
    if (is_gpu_work(kind)) return columns_.gpu_work.size();
    if (is_launch(kind) || is_annotation(kind)) return columns_.launches.size();
    if (kind == EventKind::kCpuOp) return columns_.autograd.size();
    return columns_.frames.size();
  };
  for (size_t i = 0; i < from.kind.size(); ++i) {
    columns_.position.push_back(entries_ + from.position[i]);
    columns_.name.push_back(strings(from.name[i]));
    columns_.track.push_back(tracks(from.track[i]));
    columns_.args.push_back(args(from.args[i]));
    const uint32_t detail = from.detail[i];
    columns_.detail.push_back(
        detail == kNoDetail ? detail : detail + static_cast<uint32_t>(base_of(from.kind[i])));
  }
  append_to(columns_.kind, from.kind);
  append_to(columns_.start, from.start);
  append_to(columns_.duration, from.duration);
  append_to(columns_.gpu_work, from.gpu_work);
  append_to(columns_.launches, from.launches);
  append_to(columns_.autograd, from.autograd);
  append_to(columns_.frames, from.frames);

  for (Collective c : from.collectives) {
    c.event.index += base;
    for (StringId* id : {&c.name, &c.dtype, &c.group_name, &c.group_description, &c.group_ranks,
                         &c.in_split, &c.out_split}) {
      *id = strings(*id);
    }
    columns_.collectives.push_back(c);
  }
  for (RecordedWait wait : from.waits) {
    wait.event.index += base;
    columns_.waits.push_back(wait);
  }
  for (const CounterValue& v : from.counters) {
    columns_.counters.push_back({EventId(v.event.index + base), strings(v.name), v.value});
  }
  for (const EventId e : piece.undecided_) undecided_.emplace_back(e.index + base);
  const auto append_names = [&](std::vector<TrackName>& into, const std::vector<TrackName>& names) {
    for (const TrackName& n : names) into.push_back({tracks(n.track), strings(n.name)});
  };
  append_names(process_names_, piece.process_names_);
  append_names(process_labels_, piece.process_labels_);
  append_names(thread_names_, piece.thread_names_);
  entries_ += piece.entries_;
  diagnostics_.merge(piece.diagnostics_);
}

void EventStoreBuilder::apply_names() {
  // The last name given wins; a process's name holds for all its threads.
  std::unordered_map<StringId, StringId> names, labels;
  for (const TrackName& n : process_names_) names[columns_.tracks[n.track.index].pid] = n.name;
  for (const TrackName& n : process_labels_) labels[columns_.tracks[n.track.index].pid] = n.name;
  for (const TrackName& n : thread_names_) columns_.tracks[n.track.index].thread_name = n.name;
  for (Track& track : columns_.tracks) {
    if (auto name = names.find(track.pid); name != names.end()) track.process_name = name->second;
    if (auto label = labels.find(track.pid); label != labels.end())
      track.process_label = label->second;
  }
}

EventStore EventStoreBuilder::seal(TraceMetadata metadata, int64_t input_bytes) && {
  apply_names();
  set_timeless_aside(columns_, strings_, diagnostics_);
  drop_endless_durations(columns_, strings_, diagnostics_);
  struct Owned {
    EventColumns columns;
    StringPool strings;
  };
  auto owned = std::make_shared<Owned>(Owned{std::move(columns_), std::move(strings_)});
  EventStore store;
  visit_columns(store.views_, owned->columns, [](auto& view, auto& column) { view = column; });
  for (size_t i = 0; i < owned->strings.size(); ++i) {
    store.texts_.push_back(owned->strings.text(StringId(i)));
  }
  store.owner_ = std::move(owned);
  store.metadata_ = std::move(metadata);
  store.diagnostics_ = std::move(diagnostics_);
  store.entries_ = entries_;
  store.input_bytes_ = input_bytes;
  return store;
}

}  // namespace fathom
