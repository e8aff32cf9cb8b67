#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/diagnostics.h"
#include "base/string_pool.h"
#include "events/event_columns.h"

namespace fathom {

// Whether a time is within 73 years of 0: an end can be computed from any such start, and a
// difference of any two.
constexpr bool is_readable_time(Nanos time) {
  constexpr int64_t kFarthest = int64_t{1} << 61;
  return time.count > -kFarthest && time.count < kFarthest;
}

// A sealed trace: read-only, so that every stage and thread may share it.
class EventStore {
 public:
  size_t size() const { return views_.kind.size(); }
  // How many entries traceEvents has, those without a row among them.
  int64_t entries() const { return entries_; }
  int64_t uid(EventId e) const { return views_.position[e.index]; }

  EventKind kind(EventId e) const { return views_.kind[e.index]; }
  Nanos start(EventId e) const { return views_.start[e.index]; }
  Nanos duration(EventId e) const { return views_.duration[e.index]; }
  Nanos end(EventId e) const { return start(e) + duration(e); }
  StringId name_id(EventId e) const { return views_.name[e.index]; }
  std::string_view name(EventId e) const { return text(name_id(e)); }
  TrackId track_id(EventId e) const { return views_.track[e.index]; }
  const Track& track(EventId e) const { return views_.tracks[track_id(e).index]; }
  ArgsId args_id(EventId e) const { return views_.args[e.index]; }

  // Each for its kinds only.
  const GpuWork& gpu_work(EventId e) const { return views_.gpu_work[views_.detail[e.index]]; }
  const LaunchCall& launch(EventId e) const { return views_.launches[views_.detail[e.index]]; }
  const PythonFrame& frame(EventId e) const { return views_.frames[views_.detail[e.index]]; }
  // CPU ops that autograd knows, else null.
  const AutogradFacts* autograd(EventId e) const;
  // Null for an event that is no collective.
  const Collective* collective(EventId e) const;

  // What an event measured; none for most.
  std::span<const CounterValue> counters(EventId e) const;
  std::span<const CounterValue> counters() const { return views_.counters; }

  const Args& args(ArgsId id) const { return views_.unique_args[id.index]; }
  size_t args_count() const { return views_.unique_args.size(); }
  size_t track_count() const { return views_.tracks.size(); }
  std::span<const Collective> collectives() const { return views_.collectives; }
  std::span<const RecordedWait> waits() const { return views_.waits; }
  // An invalid id has no text.
  std::string_view text(StringId id) const {
    return id.valid() ? texts_[id.index] : std::string_view{};
  }
  size_t text_count() const { return texts_.size(); }

  const TraceMetadata& metadata() const { return metadata_; }
  const Diagnostics& diagnostics() const { return diagnostics_; }
  // For what is learned about the input as a whole once its events are read.
  void add_diagnostics(const Diagnostics& more) { diagnostics_.merge(more); }
  int64_t input_bytes() const { return input_bytes_; }

 private:
  friend class EventStoreBuilder;
  friend class StoreFile;

  EventViews views_;
  std::vector<std::string_view> texts_;
  std::shared_ptr<const void> owner_;  // of what the views and texts point to
  TraceMetadata metadata_;
  Diagnostics diagnostics_;
  int64_t entries_ = 0, input_bytes_ = 0;
};

// Collects events in file order. A reader may fill one builder per piece of the file, in any
// thread, and append them in order: ids are handed out by first sight in the file either way.
class EventStoreBuilder {
 public:
  struct Common {
    EventKind kind = EventKind::kOther;
    Nanos start, duration;
    StringId name;
    TrackId track;
    ArgsId args;
  };

  StringId intern(std::string_view text) { return strings_.intern(text); }
  std::string_view text(StringId id) const {
    return id.valid() ? strings_.text(id) : std::string_view{};
  }
  TrackId intern_track(StringId pid, StringId tid);
  ArgsId intern_args(const Args& args);

  EventId add(const Common& event);
  EventId add(const Common& event, const GpuWork& work);
  EventId add(const Common& event, const LaunchCall& call);
  EventId add(const Common& event, const AutogradFacts& facts);
  EventId add(const Common& event, const PythonFrame& frame);
  // One whose kind depends on its track's names, which may come later in the file. It is kept as
  // GPU work until decide_kinds is called, which must follow.
  EventId add_undecided(const Common& event, const GpuWork& work);
  // Calls `kind_of` for each of those, with all tracks named; it may correct the work.
  using KindOfTrack =
      std::function<EventKind(const Track& track, const Common& event, GpuWork& work)>;
  bool has_undecided() const { return !undecided_.empty(); }
  void decide_kinds(const KindOfTrack& kind_of);
  // After the last event, so that all names are known.
  std::span<const Track> named_tracks();
  // An event of another store with its texts, track and arguments, as it is or with what the caller
  // changed; `key` in place of its own, where it has one.
  Common common_of(const EventStore& from, EventId event);
  EventId add_copy(const EventStore& from, EventId event, const Common& as,
                   std::optional<LaunchKey> key = {});
  // An entry that gets no row, because nothing asks for it or because it could not be read; the
  // latter is the caller's to report.
  void skip_position() { ++entries_; }
  void add_collective(Collective collective) { columns_.collectives.push_back(collective); }
  void add_wait(const RecordedWait& wait) { columns_.waits.push_back(wait); }
  // Of the last event that was added. What is no number or infinite is counted and left out.
  void add_counter(StringId name, double value);

  void name_process(TrackId track, StringId name) { process_names_.push_back({track, name}); }
  void label_process(TrackId track, StringId label) { process_labels_.push_back({track, label}); }
  void name_thread(TrackId track, StringId name) { thread_names_.push_back({track, name}); }

  Diagnostics& diagnostics() { return diagnostics_; }
  size_t size() const { return columns_.kind.size(); }
  int64_t entries() const { return entries_; }
  // Room for so many events, where the number can be guessed.
  void reserve(size_t events);

  void append(EventStoreBuilder&& piece);
  EventStore seal(TraceMetadata metadata, int64_t input_bytes) &&;

 private:
  struct TrackName {
    TrackId track;
    StringId name;
  };
  struct ArgsHash {
    size_t operator()(const Args& args) const;
  };

  template <typename Detail>
  EventId add_with(const Common& event, std::vector<Detail>& table, const Detail& detail);
  void apply_names();

  EventColumns columns_;
  StringPool strings_;
  uint32_t entries_ = 0;
  std::unordered_map<uint64_t, TrackId, TableHash> track_ids_;
  std::unordered_map<Args, ArgsId, ArgsHash> args_ids_;
  std::vector<TrackName> process_names_, process_labels_, thread_names_;
  std::vector<EventId> undecided_;
  Diagnostics diagnostics_;
};

}  // namespace fathom
