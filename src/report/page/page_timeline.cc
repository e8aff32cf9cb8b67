#include "report/page/page_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyze/finding_parts.h"
#include "analyze/place.h"
#include "base/json_writer.h"
#include "report/page/page_series.h"
#include "report/page/page_texts.h"

namespace fathom {
namespace {

constexpr size_t kMostRows = 96;  // of one track: calls that are nested deeper are not shown
constexpr size_t kMostStreams = 64, kMostThreads = 64;

// What has a colour. The page knows them by their keys (web/src/data/categories.ts).
enum PageCategory : uint8_t {
  kOtherCategory,
  kGemmCategory,
  kAttentionCategory,
  kConvolutionCategory,
  kElementwiseCategory,
  kCommunicationCategory,
  kCopyCategory,
  kOtherWorkCategory,
  kOpCategory,
  kCallCategory,
  kPythonCategory,  // code of the program
  kModuleCategory,
  kLibraryCategory,  // of the framework and of libraries
  kRangeCategory,
  kFirstIdleCategory,
  kFirstPathCategory = kFirstIdleCategory + static_cast<uint8_t>(kIdleCauses),
  kCategoryCount = kFirstPathCategory + static_cast<uint8_t>(PathPart::kCount),
};
constexpr std::string_view kWorkKeys[] = {
    "other",      "gemm", "attention", "convolution", "elementwise", "communication", "copy",
    "other_work", "op",   "call",      "python",      "module",      "library",       "range"};
static_assert(std::size(kWorkKeys) == kFirstIdleCategory);

struct ColourRule {
  std::string_view begin;  // of a category's name, in lower case
  PageCategory colour;
};
constexpr ColourRule kColourRules[] = {
    {"gemm", kGemmCategory},
    {"grouped_gemm", kGemmCategory},
    {"moe", kGemmCategory},
    {"triton_mm", kGemmCategory},
    {"sdpa", kAttentionCategory},
    {"attention", kAttentionCategory},
    {"inferenceattention", kAttentionCategory},
    {"conv", kConvolutionCategory},
    {"elementwise", kElementwiseCategory},
    {"triton", kElementwiseCategory},
    {"norm", kElementwiseCategory},
    {"softmax", kElementwiseCategory},
    {"reduce", kElementwiseCategory},
    {"memcpy", kCopyCategory},
    {"memset", kCopyCategory},
};

PageCategory colour_of(std::string_view category) {
  std::string lower(category.substr(0, 32));
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  for (const ColourRule& rule : kColourRules)
    if (lower.starts_with(rule.begin)) return rule.colour;
  return kOtherWorkCategory;
}

// A stream, a thread's calls, or a thread's Python frames.
struct PageTrack {
  enum class Kind : uint8_t { kStream, kGpuRanges, kThread, kPython };
  Kind kind = Kind::kThread;
  int32_t device = 0;
  int64_t stream = 0;
  TrackId thread;
  EventId first;  // in the file
  std::vector<EventId> events;
  std::vector<std::vector<EventId>> rows;
  size_t too_deep = 0;
};

class TimelineMaker {
 public:
  TimelineMaker(const Assessment& a, const CriticalPath* path)
      : a_(a), store_(a.input().store), path_(path), texts_(store_) {}

  PageTimeline make() {
    sort_into_tracks();
    find_span();
    label_work();
    timeline_.number.assign(store_.size(), 0);
    for (PageTrack& track : tracks_) assign_rows(track);
    json_.begin_object();
    json_.key("begin_ns").value(timeline_.begin.count);
    json_.key("length_ns").value((timeline_.end - timeline_.begin).count);
    write_categories();
    json_.key("tracks").begin_array();
    write_path();
    write_devices();
    for (const PageTrack& track : tracks_) {
      if (track.kind == PageTrack::Kind::kPython || track.kind == PageTrack::Kind::kThread)
        write_track(track);
    }
    json_.end_array();
    json_.key("series").raw(page_series(a_, timeline_.begin, timeline_.end));
    json_.key("left_out").begin_object();
    json_.key("tracks").value(static_cast<int64_t>(left_out_tracks_));
    json_.key("events").value(static_cast<int64_t>(left_out_events_));
    json_.key("texts").value(static_cast<int64_t>(texts_.left_out()));
    json_.end_object();
    write_place("texts", blocks_.add(texts_.json()));
    json_.end_object();
    timeline_.directory = json_.take();
    timeline_.blocks = blocks_.take();
    return std::move(timeline_);
  }

 private:
  static bool is_host_event(EventKind kind) {
    return is_host_call(kind) || kind == EventKind::kAnnotation || kind == EventKind::kOther ||
           kind == EventKind::kProfilerRange;
  }

  void sort_into_tracks() {
    using Key = std::tuple<PageTrack::Kind, int64_t, int64_t>;
    std::map<Key, size_t> known;
    Key last_key{PageTrack::Kind::kThread, -1, -1};
    size_t last = 0;
    for (EventId e(0); e.index < store_.size(); ++e.index) {
      const EventKind kind = store_.kind(e);
      PageTrack track;
      if (is_gpu_work(kind)) {
        const GpuWork& work = store_.gpu_work(e);
        track.kind = PageTrack::Kind::kStream;
        track.device = work.device.value_or(0);
        track.stream = work.stream.value_or(0);
      } else if (kind == EventKind::kGpuAnnotation) {
        track.kind = PageTrack::Kind::kGpuRanges;
        track.thread = store_.track_id(e);
      } else if (kind == EventKind::kPython || is_host_event(kind)) {
        track.kind =
            kind == EventKind::kPython ? PageTrack::Kind::kPython : PageTrack::Kind::kThread;
        track.thread = store_.track_id(e);
      } else {
        continue;
      }
      const Key key = track.kind == PageTrack::Kind::kStream
                          ? Key{track.kind, track.device, track.stream}
                          : Key{track.kind, track.thread.index, 0};
      if (key != last_key) {
        const auto [place, is_new] = known.try_emplace(key, tracks_.size());
        track.first = e;
        if (is_new) tracks_.push_back(std::move(track));
        last_key = key;
        last = place->second;
      }
      tracks_[last].events.push_back(e);
    }
    leave_out_small_tracks();
  }

  // Streams by number; threads by how much they did, each after its Python frames.
  void leave_out_small_tracks() {
    std::map<uint32_t, size_t> of_thread;
    for (const PageTrack& track : tracks_)
      if (track.thread.valid()) of_thread[track.thread.index] += track.events.size();
    const auto size_of = [&](const PageTrack& track) {
      return track.thread.valid() ? of_thread[track.thread.index] : track.events.size();
    };
    const auto is_gpu = [](const PageTrack& track) {
      return track.kind == PageTrack::Kind::kStream || track.kind == PageTrack::Kind::kGpuRanges;
    };
    std::ranges::stable_sort(tracks_, [&](const PageTrack& x, const PageTrack& y) {
      return std::tuple(!is_gpu(x), size_of(y), x.thread.index, x.kind) <
             std::tuple(!is_gpu(y), size_of(x), y.thread.index, y.kind);
    });
    size_t streams = 0, threads = 0;
    std::erase_if(tracks_, [&](const PageTrack& track) {
      const bool fits = is_gpu(track) ? ++streams <= kMostStreams : ++threads <= 2 * kMostThreads;
      if (fits) return false;
      ++left_out_tracks_;
      left_out_events_ += track.events.size();
      return true;
    });
    std::ranges::stable_sort(tracks_, [&](const PageTrack& x, const PageTrack& y) {
      if (is_gpu(x) != is_gpu(y)) return is_gpu(x);
      if (!is_gpu(x)) return false;
      return std::tuple(x.device, x.kind, x.stream) < std::tuple(y.device, y.kind, y.stream);
    });
  }

  void find_span() {
    Nanos begin = a_.base().begin(), end = a_.base().end();
    bool is_known = begin < end;
    for (const PageTrack& track : tracks_) {
      for (const EventId e : track.events) {
        const Nanos from = store_.start(e), to = store_.end(e);
        if (to < from) continue;
        begin = is_known ? std::min(begin, from) : from;
        end = is_known ? std::max(end, to) : to;
        is_known = true;
      }
    }
    // Times of a damaged trace may lie further apart than a number of the page can say.
    constexpr int64_t kLongest = int64_t{1} << 52;
    if (end < begin || static_cast<uint64_t>(end.count) - static_cast<uint64_t>(begin.count) >
                           static_cast<uint64_t>(kLongest)) {
      begin = a_.base().begin();
      end = begin + Nanos{std::clamp<int64_t>(a_.base().wall().count, 0, kLongest)};
    }
    timeline_.begin = begin;
    timeline_.end = end;
  }

  void label_work() {
    op_of_.assign(store_.size(), 0);
    op_colours_.reserve(a_.ops().size() + 1);
    op_colours_.push_back(kOtherWorkCategory);
    for (size_t i = 0; i < a_.ops().size(); ++i) {
      const AssessedOp& op = a_.ops()[i];
      op_colours_.push_back(colour_of(op.category));
      for (const UnifiedOp* call : op.group->calls)
        for (const EventId kernel : call->kernels)
          op_of_[kernel.index] = static_cast<uint32_t>(i + 1);
    }
  }

  bool is_within(EventId e) const {
    return store_.start(e) >= timeline_.begin && store_.end(e) <= timeline_.end &&
           store_.end(e) >= store_.start(e);
  }

  // Each event into the first row that is free when it begins: those around it fill the rows above.
  void assign_rows(PageTrack& track) {
    const auto earlier = [this](EventId x, EventId y) {
      const Nanos at_x = store_.start(x), at_y = store_.start(y);
      if (at_x != at_y) return at_x < at_y;
      const Nanos long_x = store_.duration(x), long_y = store_.duration(y);
      return long_x != long_y ? long_y < long_x : x < y;
    };
    if (!std::ranges::is_sorted(track.events, earlier)) std::ranges::sort(track.events, earlier);
    std::vector<Nanos> ends;
    for (const EventId e : track.events) {
      if (!is_within(e)) {
        ++left_out_events_;
        continue;
      }
      size_t row = 0;
      while (row < ends.size() && ends[row] > store_.start(e)) ++row;
      if (row == kMostRows) {
        ++track.too_deep;
        ++left_out_events_;
        continue;
      }
      if (row == ends.size()) {
        ends.emplace_back();
        track.rows.emplace_back();
      }
      ends[row] = store_.end(e);
      track.rows[row].push_back(e);
    }
    track.events = {};
    for (const std::vector<EventId>& row : track.rows)
      for (const EventId e : row) timeline_.number[e.index] = ++numbered_;
  }

  void write_categories() {
    json_.key("categories").begin_array();
    for (const std::string_view key : kWorkKeys) json_.value(key);
    for (size_t i = 0; i < kIdleCauses; ++i)
      json_.value("idle." + std::string(idle_cause_name(static_cast<IdleCause>(i))));
    for (size_t i = 0; i < static_cast<size_t>(PathPart::kCount); ++i)
      json_.value("path." + std::string(path_part_name(static_cast<PathPart>(i))));
    json_.end_array();
  }

  void write_place(std::string_view key, const PageBlocks::Place& place) {
    json_.key(key).begin_array();
    json_.value(static_cast<int64_t>(place.offset)).value(static_cast<int64_t>(place.length));
    json_.end_array();
  }

  void begin_track(std::string_view kind, std::string_view group, std::string_view name) {
    json_.begin_object().key("kind").value(kind);
    json_.key("group").value(group).key("name").value(name);
  }

  // `first`: number of its first event + 1.
  void write_row(std::span<const PageEvent> events, size_t first) {
    constexpr size_t kSeenAtOnce = 16384;  // fewer are drawn one by one
    json_.begin_object();
    json_.key("first").value(static_cast<int64_t>(first));
    json_.key("events").value(static_cast<int64_t>(events.size()));
    json_.key("chunks").begin_array();
    for (const PageChunk& chunk : add_row(blocks_, events)) {
      json_.begin_array().value(static_cast<int64_t>(chunk.events));
      json_.value(chunk.begin).value(chunk.end);
      json_.value(static_cast<int64_t>(chunk.place.offset));
      json_.value(static_cast<int64_t>(chunk.place.length)).end_array();
    }
    json_.end_array();
    if (events.size() > kSeenAtOnce) {
      write_place("overview",
                  blocks_.add(row_overview(events, (timeline_.end - timeline_.begin).count)));
    }
    json_.end_object();
  }

  std::string thread_name(EventId e) const {
    const Track& track = store_.track(e);
    std::string name(store_.text(track.thread_name));
    if (name.empty()) name = fmt::format("thread {}", store_.text(track.tid));
    return name;
  }
  std::string process_name(EventId e) const {
    const Track& track = store_.track(e);
    return fmt::format("{} {}",
                       track.process_name.valid() ? store_.text(track.process_name) : "process",
                       store_.text(track.pid));
  }

  void write_track(const PageTrack& track) {
    if (track.rows.empty()) return;
    switch (track.kind) {
      case PageTrack::Kind::kStream:
        begin_track("stream", fmt::format("GPU {}", track.device),
                    fmt::format("stream {}", track.stream));
        break;
      case PageTrack::Kind::kGpuRanges:
        begin_track("gpu_ranges", "GPU ranges", thread_name(track.first));
        break;
      case PageTrack::Kind::kPython:
        begin_track("python", process_name(track.first), thread_name(track.first) + ": Python");
        break;
      case PageTrack::Kind::kThread:
        begin_track("thread", process_name(track.first), thread_name(track.first));
        break;
    }
    if (track.thread.valid()) json_.key("thread").value(static_cast<int64_t>(track.thread.index));
    if (track.too_deep > 0) json_.key("too_deep").value(static_cast<int64_t>(track.too_deep));
    json_.key("rows").begin_array();
    std::vector<PageEvent> events;
    for (const std::vector<EventId>& row : track.rows) {
      events.clear();
      events.reserve(row.size());
      for (const EventId e : row) events.push_back(page_event(e));
      write_row(events, timeline_.number[row.front().index]);
    }
    json_.end_array().end_object();
  }

  PageEvent page_event(EventId e) {
    PageEvent out;
    out.start = (store_.start(e) - timeline_.begin).count;
    out.duration = store_.duration(e).count;
    out.name = texts_.of(store_.name_id(e));
    out.uid = store_.uid(e) + 1;
    const EventKind kind = store_.kind(e);
    const CallTree& tree = a_.input().tree;
    if (is_gpu_work(kind)) {
      out.op = op_of_[e.index];
      out.category = a_.input().selection.is_communication(e) ? kCommunicationCategory
                     : kind != EventKind::kKernel             ? kCopyCategory
                                                              : op_colours_[out.op];
      out.info = launch_text(store_.gpu_work(e)) + 1;
      const CallId launch = tree.launch(e);
      if (launch.valid() && tree.event(launch) != e)
        out.link = timeline_.number[tree.event(launch).index];
      return out;
    }
    out.category = kind == EventKind::kPython  ? frame_colour(e)
                   : kind == EventKind::kCpuOp ? kOpCategory
                   : is_launch(kind)           ? kCallCategory
                   : kind == EventKind::kOther ? kOtherCategory
                                               : kRangeCategory;
    if (store_.args_id(e).valid()) out.info = args_text(e) + 1;
    if (is_launch(kind) && tree.call(e).valid()) {
      const std::span<const EventId> launched = tree.launched_by(tree.call(e));
      if (!launched.empty() && launched.front() != e)
        out.link = timeline_.number[launched.front().index];
    }
    return out;
  }

  PageCategory frame_colour(EventId frame) {
    const std::string_view name = store_.name(frame);
    if (name.starts_with("nn.Module: ")) return kModuleCategory;  // source text: the profiler's
    const auto [known, is_new] =
        frame_colours_.try_emplace(store_.name_id(frame).index, kLibraryCategory);
    if (is_new && owner_of_frame(name) == FrameOwner::kUser) known->second = kPythonCategory;
    return known->second;
  }

  uint32_t args_text(EventId e) {
    if (args_texts_.empty()) args_texts_.assign(store_.args_count(), UINT32_MAX);
    uint32_t& known = args_texts_[store_.args_id(e).index];
    if (known == UINT32_MAX) {
      std::string text = shapes_text(a_.input(), e);
      if (const std::string types = types_text(a_.input(), e); !types.empty())
        text += (text.empty() ? "" : " · ") + types;
      known = texts_.of(text);
    }
    return known;
  }

  uint32_t launch_text(const GpuWork& work) {
    const auto dims = [](const std::optional<Dim3>& d) {
      return d ? std::tuple(d->x, d->y, d->z) : std::tuple(0U, 0U, 0U);
    };
    const LaunchShape key{dims(work.grid), dims(work.block), work.registers.value_or(-1),
                          work.shared_memory.value_or(-1), work.bytes.value_or(-1)};
    const auto [known, is_new] = launch_texts_.try_emplace(key, 0);
    if (!is_new) return known->second;
    std::string text;
    const auto add = [&text](std::string_view part) {
      text += (text.empty() ? "" : ", ") + std::string(part);
    };
    if (work.grid) add(fmt::format("grid {}×{}×{}", work.grid->x, work.grid->y, work.grid->z));
    if (work.block) add(fmt::format("block {}×{}×{}", work.block->x, work.block->y, work.block->z));
    if (work.registers) add(fmt::format("{} registers per thread", *work.registers));
    if (work.shared_memory) add(fmt::format("{} B shared memory", *work.shared_memory));
    if (work.bytes) add(fmt::format("{} bytes", with_thousands(*work.bytes)));
    return known->second = texts_.of(text);
  }

  void write_path() {
    if (path_ == nullptr || !path_->missing().empty()) return;
    std::vector<PageEvent> events;
    int64_t free = 0;
    for (const PathSegment& segment : path_->segments()) {
      // Two of the path may overlap; the row shows the second from where the first ends.
      const int64_t begin = std::max(free, (segment.begin - timeline_.begin).count);
      const int64_t end =
          std::min((segment.end - timeline_.begin).count, (timeline_.end - timeline_.begin).count);
      if (end <= begin) continue;
      PageEvent out;
      out.start = begin;
      out.duration = end - begin;
      out.category = static_cast<uint8_t>(kFirstPathCategory + static_cast<int>(segment.part));
      out.name = texts_.of(std::string(path_part_label(segment.part)));
      if (segment.event.valid()) {
        out.info = texts_.of(store_.name_id(segment.event)) + 1;
        out.link = timeline_.number[segment.event.index];
      }
      free = end;
      events.push_back(out);
    }
    if (events.empty()) return;
    begin_track("path", "Critical path", "critical path");
    json_.key("rows").begin_array();
    write_row(events, next_pseudo(events.size()));
    json_.end_array().end_object();
  }

  void write_devices() {
    std::vector<int32_t> done;
    for (const DeviceIdle& device : a_.idle().devices) {
      const int32_t number = device.device.value_or(0);
      write_idle(device, number);
      for (const PageTrack& track : tracks_)
        if (track.kind == PageTrack::Kind::kStream && track.device == number) write_track(track);
      done.push_back(number);
    }
    for (const PageTrack& track : tracks_) {
      const bool is_left = track.kind == PageTrack::Kind::kStream &&
                           std::ranges::find(done, track.device) == done.end();
      if (is_left || track.kind == PageTrack::Kind::kGpuRanges) write_track(track);
    }
  }

  void write_idle(const DeviceIdle& device, int32_t number) {
    std::vector<PageEvent> events;
    for (const IdleStretch& stretch : device.stretches) {
      PageEvent out;
      out.start = (stretch.when.begin - timeline_.begin).count;
      out.duration = (stretch.when.end - stretch.when.begin).count;
      if (out.start < 0 || out.duration <= 0 || stretch.when.end > timeline_.end) continue;
      out.category = static_cast<uint8_t>(kFirstIdleCategory + static_cast<int>(stretch.cause));
      out.name = texts_.of("idle: " + cause_words(stretch.cause));
      if (stretch.blamed.valid()) {
        out.info = texts_.of(store_.name_id(stretch.blamed)) + 1;
        out.link = timeline_.number[stretch.blamed.index];
      }
      events.push_back(out);
    }
    if (events.empty()) return;
    begin_track("idle", fmt::format("GPU {}", number), "idle, by cause");
    json_.key("rows").begin_array();
    write_row(events, next_pseudo(events.size()));
    json_.end_array().end_object();
  }

  static std::string cause_words(IdleCause cause) {
    std::string words(idle_cause_name(cause));
    std::ranges::replace(words, '_', ' ');
    return words;
  }

  // Rows that are no events of the trace are numbered after all of them.
  size_t next_pseudo(size_t events) {
    const size_t first = numbered_ + 1;
    numbered_ += static_cast<uint32_t>(events);
    return first;
  }

  using Dims = std::tuple<uint32_t, uint32_t, uint32_t>;
  using LaunchShape = std::tuple<Dims, Dims, int32_t, int32_t, int64_t>;

  const Assessment& a_;
  const EventStore& store_;
  const CriticalPath* path_;
  PageTexts texts_;
  PageBlocks blocks_;
  PageTimeline timeline_;
  JsonWriter json_{false};
  std::vector<PageTrack> tracks_;
  std::vector<uint32_t> op_of_;  // by event: place in the assessment's ops + 1
  std::vector<PageCategory> op_colours_;
  std::vector<uint32_t> args_texts_;                          // by arguments
  std::unordered_map<uint32_t, PageCategory> frame_colours_;  // by name
  std::map<LaunchShape, uint32_t> launch_texts_;
  uint32_t numbered_ = 0;
  size_t left_out_tracks_ = 0, left_out_events_ = 0;
};

}  // namespace

PageTimeline page_timeline(const Assessment& assessment, const CriticalPath* path) {
  return TimelineMaker(assessment, path).make();
}

std::string_view work_colour_of(std::string_view category) {
  return kWorkKeys[colour_of(category)];
}

}  // namespace fathom
