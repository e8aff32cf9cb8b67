#pragma once

#include <unordered_map>
#include <vector>

#include "base/diagnostics.h"
#include "base/string_pool.h"
#include "events/event.h"

namespace fathom {

// The columns of a trace. Details that only some kinds have lie in a table of that kind, which the
// detail column points into.
struct EventColumns {
  std::vector<Nanos> start, duration;
  std::vector<StringId> name;
  std::vector<TrackId> track;
  std::vector<ArgsId> args;
  std::vector<uint32_t> detail;
  std::vector<EventKind> kind;

  std::vector<GpuWork> gpu_work;
  std::vector<LaunchCall> launches;
  std::vector<AutogradFacts> autograd;
  std::vector<PythonFrame> frames;
  std::vector<int64_t> flow_ids;
  std::vector<Collective> collectives;  // in the order of their events

  std::vector<Track> tracks;
  std::vector<Args> unique_args;
  StringPool strings;
};

// A sealed trace: read-only, so that every stage and thread may share it.
class EventStore {
 public:
  size_t size() const { return columns_.kind.size(); }

  EventKind kind(EventId e) const { return columns_.kind[e.index]; }
  Nanos start(EventId e) const { return columns_.start[e.index]; }
  Nanos duration(EventId e) const { return columns_.duration[e.index]; }
  Nanos end(EventId e) const { return start(e) + duration(e); }
  StringId name_id(EventId e) const { return columns_.name[e.index]; }
  std::string_view name(EventId e) const { return text(name_id(e)); }
  TrackId track_id(EventId e) const { return columns_.track[e.index]; }
  const Track& track(EventId e) const { return columns_.tracks[track_id(e).index]; }
  ArgsId args_id(EventId e) const { return columns_.args[e.index]; }

  // Each for its kinds only.
  const GpuWork& gpu_work(EventId e) const { return columns_.gpu_work[columns_.detail[e.index]]; }
  const LaunchCall& launch(EventId e) const { return columns_.launches[columns_.detail[e.index]]; }
  const PythonFrame& frame(EventId e) const { return columns_.frames[columns_.detail[e.index]]; }
  int64_t flow_id(EventId e) const { return columns_.flow_ids[columns_.detail[e.index]]; }
  // CPU ops that autograd knows, else null.
  const AutogradFacts* autograd(EventId e) const;
  // Null for an event that is no collective.
  const Collective* collective(EventId e) const;

  const Args& args(ArgsId id) const { return columns_.unique_args[id.index]; }
  size_t args_count() const { return columns_.unique_args.size(); }
  size_t track_count() const { return columns_.tracks.size(); }
  const std::vector<Collective>& collectives() const { return columns_.collectives; }
  // An invalid id has no text.
  std::string_view text(StringId id) const {
    return id.valid() ? columns_.strings.text(id) : std::string_view{};
  }
  StringId find_text(std::string_view text) const { return columns_.strings.find(text); }
  size_t text_count() const { return columns_.strings.size(); }

  const TraceMetadata& metadata() const { return metadata_; }
  const Diagnostics& diagnostics() const { return diagnostics_; }
  int64_t input_bytes() const { return input_bytes_; }

 private:
  friend class EventStoreBuilder;

  EventColumns columns_;
  TraceMetadata metadata_;
  Diagnostics diagnostics_;
  int64_t input_bytes_ = 0;
};

// Collects events in file order. A reader may fill one builder per piece of the file, in any
// thread, and append them in order: ids are handed out by first sight in the file either way.
class EventStoreBuilder {
 public:
  struct Common {
    EventKind kind;
    Nanos start, duration;
    StringId name;
    TrackId track;
    ArgsId args;
  };

  StringId intern(std::string_view text) { return columns_.strings.intern(text); }
  TrackId intern_track(StringId pid, StringId tid);
  ArgsId intern_args(const Args& args);

  EventId add(const Common& event);
  EventId add(const Common& event, const GpuWork& work);
  EventId add(const Common& event, const LaunchCall& call);
  EventId add(const Common& event, const AutogradFacts& facts);
  EventId add(const Common& event, const PythonFrame& frame);
  EventId add_flow(const Common& event, int64_t flow_id);
  EventId add_skipped() { return add(Common{EventKind::kSkipped, {}, {}, {}, {}, {}}); }
  void add_collective(Collective collective) { columns_.collectives.push_back(collective); }

  void name_process(TrackId track, StringId name) { process_names_.push_back({track, name}); }
  void label_process(TrackId track, StringId label) { process_labels_.push_back({track, label}); }
  void name_thread(TrackId track, StringId name) { thread_names_.push_back({track, name}); }

  Diagnostics& diagnostics() { return diagnostics_; }
  size_t size() const { return columns_.kind.size(); }

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

  void apply_names();

  EventColumns columns_;
  std::unordered_map<uint64_t, TrackId> track_ids_;
  std::unordered_map<Args, ArgsId, ArgsHash> args_ids_;
  std::vector<TrackName> process_names_, process_labels_, thread_names_;
  Diagnostics diagnostics_;
};

}  // namespace fathom
