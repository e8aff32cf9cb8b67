#include "ingest/rocprof/perfetto.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/protobuf_reader.h"
#include "ingest/rocprof/trace_rows.h"

// Field numbers of perfetto's trace.proto, those that rocprofv3's traces use.
namespace fathom::rocprof {
namespace {

constexpr uint32_t kTracePacket = 1;

enum PacketField : uint32_t {
  kPacketClockSnapshot = 6,
  kPacketTimestamp = 8,
  kPacketSequence = 10,
  kPacketTrackEvent = 11,
  kPacketInterned = 12,
  kPacketFlags = 13,
  kPacketCleared = 41,
  kPacketClock = 58,
  kPacketDefaults = 59,
  kPacketTrackDescriptor = 60,
};

// What a slice says of itself: names and values of its debug annotations that rocprofv3 writes.
struct Annotated {
  std::optional<int64_t> begin, end, correlation, tid, queue, stream, lds, workgroup, grid, bytes;
  std::optional<int64_t> kernel;
  std::string_view agent, target;
};

struct Slice {
  std::string_view name, category;
  uint64_t track = 0;
  std::optional<int64_t> at;
  Annotated args;
};

using Names = std::unordered_map<uint64_t, std::string_view, TableHash>;

// State that packets of one writer share.
struct Sequence {
  Names names, categories, annotation_names, annotation_values;
  std::optional<uint64_t> clock, track;  // defaults
  std::optional<int64_t> incremental;    // the last time of the clock that counts differences
};

struct PerfettoTrack {
  std::string_view name;
  std::optional<int64_t> pid, tid;
  uint64_t parent = 0;
};

class PerfettoTrace {
 public:
  explicit PerfettoTrace(EventStoreBuilder& out) : out_(out), rows_(out) {}

  bool read(std::string_view bytes) {
    // Tracks may be described after their events.
    ProtobufReader descriptors(bytes);
    while (descriptors.next()) {
      if (descriptors.is_bytes(kTracePacket)) read_descriptors(descriptors.bytes());
    }
    ProtobufReader packets(bytes);
    while (packets.next()) {
      if (packets.is_bytes(kTracePacket)) read_packet(packets.bytes());
    }
    if (packets.damaged()) out_.diagnostics().add(Flaw::kTruncated);
    finish_open();
    return slices_ > 0 || !tracks_.empty();
  }

 private:
  void read_descriptors(std::string_view packet) {
    ProtobufReader fields(packet);
    while (fields.next()) {
      if (fields.is_bytes(kPacketTrackDescriptor)) read_track(fields.bytes());
    }
  }

  void read_track(std::string_view message) {
    enum : uint32_t { kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kStatic = 10 };
    uint64_t uuid = 0;
    PerfettoTrack track;
    ProtobufReader fields(message);
    while (fields.next()) {
      if (fields.is_number(kUuid)) uuid = fields.number();
      if (fields.is_bytes(kName) || fields.is_bytes(kStatic)) track.name = fields.bytes();
      if (fields.is_number(kParent)) track.parent = fields.number();
      if (fields.is_bytes(kProcess) || fields.is_bytes(kThread)) {
        const bool is_thread = fields.field() == kThread;
        const std::string_view name = read_ids(fields.bytes(), is_thread, track);
        if (track.name.empty()) track.name = name;
      }
    }
    tracks_[uuid] = track;
  }

  // ThreadDescriptor {pid, tid, …, thread_name} or ProcessDescriptor {pid, …, process_name}.
  static std::string_view read_ids(std::string_view message, bool is_thread, PerfettoTrack& track) {
    enum : uint32_t { kPid = 1, kTid = 2, kThreadName = 5, kProcessName = 6 };
    std::string_view name;
    ProtobufReader fields(message);
    while (fields.next()) {
      if (fields.is_number(kPid)) track.pid = static_cast<int64_t>(fields.number());
      if (is_thread && fields.is_number(kTid)) track.tid = static_cast<int64_t>(fields.number());
      if (fields.is_bytes(is_thread ? kThreadName : kProcessName)) name = fields.bytes();
    }
    return name;
  }

  void read_packet(std::string_view packet) {
    constexpr uint64_t kStateCleared = 1;
    uint64_t sequence_id = 0;
    std::optional<uint64_t> time, clock;
    std::string_view event, interned, defaults, snapshot;
    bool cleared = false;
    ProtobufReader fields(packet);
    while (fields.next()) {
      if (fields.is_number(kPacketSequence)) sequence_id = fields.number();
      if (fields.is_number(kPacketTimestamp)) time = fields.number();
      if (fields.is_number(kPacketClock)) clock = fields.number();
      if (fields.is_number(kPacketFlags)) cleared |= (fields.number() & kStateCleared) != 0;
      if (fields.is_number(kPacketCleared)) cleared |= fields.number() != 0;
      if (fields.is_bytes(kPacketTrackEvent)) event = fields.bytes();
      if (fields.is_bytes(kPacketInterned)) interned = fields.bytes();
      if (fields.is_bytes(kPacketDefaults)) defaults = fields.bytes();
      if (fields.is_bytes(kPacketClockSnapshot)) snapshot = fields.bytes();
    }
    if (fields.damaged()) out_.diagnostics().add(Flaw::kMalformedEvent);
    Sequence& sequence = sequences_[sequence_id];
    if (cleared) sequence = Sequence{};
    if (!defaults.empty()) read_defaults(defaults, sequence);
    if (!snapshot.empty()) read_snapshot(snapshot, sequence);
    if (!interned.empty()) read_interned(interned, sequence);
    const std::optional<int64_t> at = time_of(sequence, time, clock);
    if (!event.empty()) read_event(event, sequence, at);
  }

  // The SDK's clock 64 counts on from the packet before, in a sequence of its own.
  static std::optional<int64_t> time_of(Sequence& sequence, std::optional<uint64_t> time,
                                        std::optional<uint64_t> clock) {
    constexpr uint64_t kFirstOfSequence = 64;
    if (!time) return {};
    const uint64_t used = clock.value_or(sequence.clock.value_or(0));
    if (used < kFirstOfSequence) return static_cast<int64_t>(*time);
    if (!sequence.incremental) return {};
    const Nanos now = Nanos{*sequence.incremental} + Nanos{static_cast<int64_t>(*time)};
    sequence.incremental = now.count;
    return now.count;
  }

  static void read_defaults(std::string_view message, Sequence& sequence) {
    constexpr uint32_t kTrackEventDefaults = 11, kTrackUuid = 11;
    ProtobufReader fields(message);
    while (fields.next()) {
      if (fields.is_number(kPacketClock)) sequence.clock = fields.number();
      if (!fields.is_bytes(kTrackEventDefaults)) continue;
      ProtobufReader inner(fields.bytes());
      while (inner.next()) {
        if (inner.is_number(kTrackUuid)) sequence.track = inner.number();
      }
    }
  }

  static void read_snapshot(std::string_view message, Sequence& sequence) {
    constexpr uint32_t kClocks = 1, kClockId = 1, kTime = 2;
    constexpr uint64_t kIncrementalClock = 64;
    ProtobufReader fields(message);
    while (fields.next()) {
      if (!fields.is_bytes(kClocks)) continue;
      uint64_t id = 0, time = 0;
      ProtobufReader clock(fields.bytes());
      while (clock.next()) {
        if (clock.is_number(kClockId)) id = clock.number();
        if (clock.is_number(kTime)) time = clock.number();
      }
      if (id == kIncrementalClock) sequence.incremental = static_cast<int64_t>(time);
    }
  }

  static void read_interned(std::string_view message, Sequence& sequence) {
    constexpr uint32_t kCategories = 1, kNames = 2, kAnnotationNames = 3, kAnnotationValues = 29;
    ProtobufReader fields(message);
    while (fields.next()) {
      if (fields.is_bytes(kCategories)) intern(fields.bytes(), sequence.categories);
      if (fields.is_bytes(kNames)) intern(fields.bytes(), sequence.names);
      if (fields.is_bytes(kAnnotationNames)) intern(fields.bytes(), sequence.annotation_names);
      if (fields.is_bytes(kAnnotationValues)) intern(fields.bytes(), sequence.annotation_values);
    }
  }

  static void intern(std::string_view message, Names& into) {
    constexpr uint32_t kIid = 1, kText = 2;
    uint64_t iid = 0;
    std::string_view text;
    ProtobufReader fields(message);
    while (fields.next()) {
      if (fields.is_number(kIid)) iid = fields.number();
      if (fields.is_bytes(kText)) text = fields.bytes();
    }
    into[iid] = text;
  }

  static std::string_view find(const Names& names, uint64_t iid) {
    const auto found = names.find(iid);
    return found == names.end() ? std::string_view{} : found->second;
  }

  void read_event(std::string_view message, const Sequence& sequence, std::optional<int64_t> at) {
    enum : uint32_t {
      kCategoryIids = 3,
      kAnnotations = 4,
      kType = 9,
      kNameIid = 10,
      kTrackUuid = 11,
      kCategories = 22,
      kName = 23
    };
    enum : uint64_t { kBegin = 1, kEnd = 2, kInstant = 3 };
    uint64_t type = 0;
    Slice slice;
    slice.track = sequence.track.value_or(0);
    slice.at = at;
    ProtobufReader fields(message);
    while (fields.next()) {
      if (fields.is_number(kType)) type = fields.number();
      if (fields.is_number(kTrackUuid)) slice.track = fields.number();
      if (fields.is_number(kNameIid)) slice.name = find(sequence.names, fields.number());
      if (fields.is_bytes(kName)) slice.name = fields.bytes();
      if (fields.is_number(kCategoryIids)) {
        slice.category = find(sequence.categories, fields.number());
      }
      if (fields.is_bytes(kCategories)) slice.category = fields.bytes();
      if (fields.is_bytes(kAnnotations)) read_annotation(fields.bytes(), sequence, slice.args);
    }
    if (type == kBegin) return begin(slice);
    if (type == kEnd) return end(slice);
    if (type == kInstant) {
      return rows_.rows().add_instant(EventKind::kInstant, rows_.rows().text(slice.name),
                                      track_of(slice), at);
    }
    out_.skip_position();  // counters of copied and allocated bytes, which the copies tell too
  }

  static void read_annotation(std::string_view message, const Sequence& sequence, Annotated& args) {
    enum : uint32_t { kNameIid = 1, kUint = 3, kInt = 4, kText = 6, kName = 10, kTextIid = 17 };
    std::string_view name, text;
    std::optional<int64_t> number;
    ProtobufReader fields(message);
    while (fields.next()) {
      if (fields.is_number(kNameIid)) name = find(sequence.annotation_names, fields.number());
      if (fields.is_bytes(kName)) name = fields.bytes();
      if (fields.is_number(kUint) || fields.is_number(kInt)) {
        number = static_cast<int64_t>(fields.number());
      }
      if (fields.is_bytes(kText)) text = fields.bytes();
      if (fields.is_number(kTextIid)) text = find(sequence.annotation_values, fields.number());
    }
    struct Known {
      std::string_view name;
      std::optional<int64_t> Annotated::* number;
    };
    static constexpr Known kKnown[] = {{"begin_ns", &Annotated::begin},
                                       {"end_ns", &Annotated::end},
                                       {"corr_id", &Annotated::correlation},
                                       {"tid", &Annotated::tid},
                                       {"queue", &Annotated::queue},
                                       {"stream", &Annotated::stream},
                                       {"stream_ID", &Annotated::stream},
                                       {"group_segment_size", &Annotated::lds},
                                       {"workgroup_size", &Annotated::workgroup},
                                       {"grid_size", &Annotated::grid},
                                       {"copy_bytes", &Annotated::bytes},
                                       {"kernel_id", &Annotated::kernel}};
    for (const Known& known : kKnown) {
      if (known.name == name && number) args.*known.number = number;
    }
    if (name == "agent") args.agent = text;
    if (name == "dst_agent") args.target = text;
  }

  // Slices of a track nest: an end closes the last one that is open.
  void begin(const Slice& slice) {
    ++slices_;
    if (slice.args.begin && slice.args.end) {
      add(slice, slice.args.begin, slice.args.end);
      open_[slice.track].emplace_back();
      return;
    }
    open_[slice.track].emplace_back(slice);
  }

  void end(const Slice& slice) {
    const auto open = open_.find(slice.track);
    if (open == open_.end() || open->second.empty()) return;
    const std::optional<Slice> begun = open->second.back();
    open->second.pop_back();
    if (begun) add(*begun, begun->at, slice.at);
  }

  // What was cut off: begun, and never ended.
  void finish_open() {
    for (auto& [track, slices] : open_) {
      for (const std::optional<Slice>& slice : slices) {
        if (slice) add(*slice, slice->at, {});
      }
    }
  }

  // "COMPUTE AGENT [3] STREAM [1] (GPU)", "COPY to AGENT [0] THREAD [2] (CPU)"
  static std::optional<int64_t> bracketed(std::string_view name, std::string_view word) {
    const size_t at = name.find(word);
    if (at == std::string_view::npos) return {};
    std::string_view rest = name.substr(at + word.size());
    const size_t open = rest.find('['), close = rest.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open)
      return {};
    return number_in(rest.substr(open + 1, close - open - 1));
  }

  TrackId track_of(const Slice& slice) {
    const auto found = tracks_.find(slice.track);
    const PerfettoTrack track = found == tracks_.end() ? PerfettoTrack{} : found->second;
    const auto tid = slice.args.tid ? slice.args.tid : track.tid;
    const TrackId id =
        rows_.rows().thread(process(track), tid.value_or(static_cast<int64_t>(slice.track)));
    if (!track.name.empty()) out_.name_thread(id, rows_.rows().text(track.name));
    return id;
  }

  int64_t process(const PerfettoTrack& track) const {
    if (track.pid) return *track.pid;
    const auto parent = tracks_.find(track.parent);
    return parent == tracks_.end() ? 0 : parent->second.pid.value_or(0);
  }

  void add(const Slice& slice, std::optional<int64_t> begin, std::optional<int64_t> end) {
    const auto found = tracks_.find(slice.track);
    const PerfettoTrack track = found == tracks_.end() ? PerfettoTrack{} : found->second;
    const StringId name = rows_.rows().text(kernel_name(slice.name));
    const Annotated& args = slice.args;
    // rocprofv3 writes one process: all share its correlation ids.
    if (slice.category == "kernel_dispatch") {
      Dispatch d;
      d.begin = begin;
      d.end = end;
      d.correlation = args.correlation;
      d.device = bracketed(track.name, "AGENT");
      if (!d.device) d.device = bracketed(args.agent, "");
      d.queue = args.queue;
      d.stream = args.stream ? args.stream : bracketed(track.name, "STREAM");
      d.lds = args.lds;
      d.workgroup[0] = args.workgroup;
      d.grid[0] = args.grid;
      return rows_.add_kernel(name, 0, d);
    }
    if (slice.category == "memory_copy") {
      return rows_.add_copy(out_.intern(copy_name(slice.name)), 0,
                            {begin, end, args.correlation, bracketed(track.name, "AGENT"),
                             bracketed(track.name, "STREAM"), args.bytes});
    }
    const auto tid = args.tid ? args.tid : track.tid;
    const TraceRows::Call call{begin, end, args.correlation,
                               tid ? tid : static_cast<int64_t>(slice.track)};
    if (!track.name.empty()) (void)track_of(slice);
    const bool hip = slice.category == "hip_api", hsa = slice.category == "hsa_api";
    if (!hip && !hsa) return rows_.add_range(name, process(track), call);
    add_api(name, hsa, process(track), call);
  }

  // On its process's thread, with the key that all of the file share.
  void add_api(StringId name, bool is_hsa, int64_t pid, const TraceRows::Call& call) {
    const TrackId track = rows_.rows().thread(pid, call.thread.value_or(0));
    const EventKind kind = is_hsa ? EventKind::kDriver : EventKind::kRuntime;
    if (const auto event = rows_.rows().event(kind, name, track, call.begin, call.end)) {
      LaunchCall launch;
      if (call.correlation) launch.key = rows_.rows().key(0, *call.correlation);
      out_.add(*event, launch);
    }
  }

  EventStoreBuilder& out_;
  TraceRows rows_;
  std::unordered_map<uint64_t, Sequence, TableHash> sequences_;
  std::unordered_map<uint64_t, PerfettoTrack, TableHash> tracks_;
  // By track, each with the slices open on it; none for one that told its end itself.
  std::map<uint64_t, std::vector<std::optional<Slice>>> open_;
  size_t slices_ = 0;
};

}  // namespace

bool is_perfetto(std::string_view head) {
  // A line break is also how a packet begins: text that goes on as JSON is none.
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] == '{' || head[first] == '[') return false;
  // Fields that the packets at the beginning of a trace have: who wrote, times, configuration.
  constexpr uint32_t kUsual[] = {
      3,  kPacketClockSnapshot, kPacketTimestamp, kPacketSequence,
      33, kPacketClock,         kPacketDefaults,  kPacketTrackDescriptor};
  ProtobufReader packets(head);
  if (!packets.next() || !packets.is_bytes(kTracePacket)) return false;
  bool usual = false;
  ProtobufReader fields(packets.bytes());
  while (fields.next())
    usual = usual || std::ranges::find(kUsual, fields.field()) != std::end(kUsual);
  return usual && !fields.damaged();
}

Result<EventStore> read_perfetto(std::string_view bytes, const std::string& shown) {
  EventStoreBuilder out;
  PerfettoTrace trace(out);
  if (!trace.read(bytes)) {
    return Error{fmt::format(
        "{} has no tracks that Fathom reads: it may be another program's Perfetto trace; Fathom "
        "reads those of rocprofv3, and others as JSON: traceconv json {} trace.json",
        shown, shown)};
  }
  TraceMetadata metadata;
  metadata.source = "rocprofv3, Perfetto trace";
  return std::move(out).seal(std::move(metadata), static_cast<int64_t>(bytes.size()));
}

}  // namespace fathom::rocprof
