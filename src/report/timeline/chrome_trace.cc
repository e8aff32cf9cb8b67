#include "report/timeline/chrome_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "base/ascii.h"
#include "base/json_check.h"
#include "base/json_writer.h"

namespace fathom {
namespace {

constexpr size_t kPiece = 1 << 20;

std::string_view category(EventKind kind) {
  switch (kind) {
    case EventKind::kCpuOp:
      return "cpu_op";
    case EventKind::kRuntime:
      return "cuda_runtime";
    case EventKind::kDriver:
      return "cuda_driver";
    case EventKind::kKernel:
      return "kernel";
    case EventKind::kMemcpy:
      return "gpu_memcpy";
    case EventKind::kMemset:
      return "gpu_memset";
    case EventKind::kPython:
      return "python_function";
    case EventKind::kAnnotation:
      return "user_annotation";
    case EventKind::kGpuAnnotation:
      return "gpu_user_annotation";
    case EventKind::kInstant:
      return "cpu_instant_event";
    case EventKind::kProfilerRange:
      return "cuda_profiler_range";
    case EventKind::kOther:
    case EventKind::kCounter:
      break;
  }
  return "overhead";
}

// Numbers as numbers: viewers sort tracks by them.
std::string id_json(std::string_view text) {
  const bool is_number = !text.empty() && text.size() < 18 && (text == "0" || text[0] != '0') &&
                         std::ranges::all_of(text, is_digit);
  return is_number ? std::string(text) : json_quoted(text);
}

// Exact: nanoseconds are thousandths.
void append_micros(std::string& out, int64_t ns) {
  const uint64_t size = ns < 0 ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  fmt::format_to(std::back_inserter(out), "{}{}.{:03}", ns < 0 ? "-" : "", size / 1000,
                 size % 1000);
}

class ChromeTrace {
 public:
  ChromeTrace(const EventStore& store, const TextSink& out, const std::vector<AddedTrack>& added)
      : store_(store), out_(out), added_(added) {}

  Status write() {
    choose_base();
    begin();
    for (EventId e(0); e.index < store_.size(); ++e.index) {
      add(e);
      if (text_.size() > kPiece) TRY(flush());
    }
    for (size_t i = 0; i < added_.size(); ++i) TRY(add_track(added_[i], i + 1));
    text_ += "\n]}\n";
    return flush();
  }

 private:
  // In a process of their own, which no process of the trace is called.
  Status add_track(const AddedTrack& track, size_t number) {
    next();
    fmt::format_to(std::back_inserter(text_),
                   "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":\"fathom\",\"tid\":{0},"
                   "\"args\":{{\"name\":\"Fathom\"}}}},\n"
                   "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":\"fathom\",\"tid\":{0},"
                   "\"args\":{{\"name\":{1}}}}}",
                   number, json_quoted(track.name));
    for (const AddedTrack::Span& span : track.spans) {
      begin_added('X', span.name, number, span.begin);
      text_ += ",\"dur\":";
      append_micros(text_, (span.end - span.begin).count);
      begin_args_ = true;
      for (const auto& [name, value] : span.args) {
        arg_name(name);
        text_ += json_quoted(value);
      }
      text_ += begin_args_ ? "}" : "}}";
      if (text_.size() > kPiece) TRY(flush());
    }
    for (const AddedTrack::Value& value : track.values) {
      begin_added('C', track.name, number, value.at);
      begin_args_ = true;
      arg("value", value.value);
      text_ += "}}";
      if (text_.size() > kPiece) TRY(flush());
    }
    return Nothing{};
  }

  // An event of a track of ours, up to its time.
  void begin_added(char phase, std::string_view name, size_t track, Nanos at) {
    next();
    fmt::format_to(
        std::back_inserter(text_),
        "{{\"ph\":\"{}\",\"cat\":\"fathom\",\"name\":{},\"pid\":\"fathom\",\"tid\":{},\"ts\":",
        phase, json_quoted(name), track);
    append_micros(text_, at.count - shift_);
  }

  // Times of the day in nanoseconds have more digits than viewers keep: they count from the start.
  void choose_base() {
    if (store_.metadata().base_time) {
      base_ = store_.metadata().base_time->count;
      return;
    }
    int64_t first = INT64_MAX;
    for (EventId e(0); e.index < store_.size(); ++e.index)
      first = std::min(first, store_.start(e).count);
    constexpr int64_t kLate = 1'000'000'000'000'000;
    if (first != INT64_MAX && first > kLate) shift_ = base_ = first / 1'000'000 * 1'000'000;
  }

  void begin() {
    text_ = "{\"schemaVersion\":1,\n\"deviceProperties\":[";
    const TraceMetadata& metadata = store_.metadata();
    bool first = true;
    const auto field = [this](std::string_view name, const std::optional<int64_t>& value) {
      if (value) fmt::format_to(std::back_inserter(text_), ",\"{}\":{}", name, *value);
    };
    for (const GpuProperties& gpu : metadata.gpus) {
      fmt::format_to(std::back_inserter(text_), "{}\n{{\"id\":{},\"name\":{}", first ? "" : ",",
                     gpu.id, json_quoted(gpu.name));
      field("totalGlobalMem", gpu.memory_bytes);
      field("computeMajor", gpu.compute_major);
      field("computeMinor", gpu.compute_minor);
      field("numSms", gpu.multiprocessors);
      text_ += '}';
      first = false;
    }
    text_ += "],\n";
    if (metadata.cuda_runtime_version) {
      fmt::format_to(std::back_inserter(text_), "\"cuda_runtime_version\":{},\n",
                     *metadata.cuda_runtime_version);
    }
    if (metadata.hip_runtime_version) {
      fmt::format_to(std::back_inserter(text_), "\"hip_runtime_version\":{},\n",
                     *metadata.hip_runtime_version);
    }
    if (metadata.rank) {
      fmt::format_to(std::back_inserter(text_),
                     "\"distributedInfo\":{{\"backend\":{},\"rank\":{},\"world_size\":{}}},\n",
                     json_quoted(metadata.distributed_backend), *metadata.rank,
                     metadata.world_size.value_or(1));
    }
    if (base_ != 0)
      fmt::format_to(std::back_inserter(text_), "\"baseTimeNanoseconds\":{},\n", base_);
    text_ += "\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
    name_tracks();
  }

  void name_tracks() {
    std::vector<bool> named(store_.track_count());
    for (EventId e(0); e.index < store_.size(); ++e.index) {
      const TrackId id = store_.track_id(e);
      if (named[id.index]) continue;
      named[id.index] = true;
      const Track& track = store_.track(e);
      const auto name = [&](std::string_view what, std::string_view field, StringId value) {
        if (!value.valid()) return;
        next();
        fmt::format_to(
            std::back_inserter(text_),
            "{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{\"{}\":{}}}}}", what,
            id_json(store_.text(track.pid)), id_json(store_.text(track.tid)), field,
            json_quoted(store_.text(value)));
      };
      name("process_name", "name", track.process_name);
      name("process_labels", "labels", track.process_label);
      name("thread_name", "name", track.thread_name);
    }
  }

  void next() {
    text_ += has_events_ ? ",\n" : "\n";
    has_events_ = true;
  }

  void add(EventId e) {
    const EventKind kind = store_.kind(e);
    const Track& track = store_.track(e);
    next();
    const char phase = kind == EventKind::kCounter ? 'C' : kind == EventKind::kInstant ? 'i' : 'X';
    fmt::format_to(std::back_inserter(text_),
                   "{{\"ph\":\"{}\",\"cat\":\"{}\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":",
                   phase, category(kind), json_quoted(store_.name(e)),
                   id_json(store_.text(track.pid)), id_json(store_.text(track.tid)));
    append_micros(text_, store_.start(e).count - shift_);
    if (phase == 'X') {
      text_ += ",\"dur\":";
      append_micros(text_, store_.duration(e).count);
    }
    if (phase == 'i') text_ += ",\"s\":\"t\"";
    begin_args_ = true;
    if (phase == 'C') {
      for (const CounterValue& counter : store_.counters(e))
        arg(store_.text(counter.name), counter.value);
    } else if (is_gpu_work(kind)) {
      add_gpu_args(store_.gpu_work(e));
    } else if (is_launch(kind)) {
      add_key(store_.launch(e).key);
    } else if (kind == EventKind::kPython) {
      const PythonFrame& frame = store_.frame(e);
      arg("Python id", frame.id);
      arg("Python parent id", frame.parent);
      arg("Python module id", frame.module);
    }
    if (const AutogradFacts* facts = store_.autograd(e)) {
      arg("Sequence number", facts->sequence);
      arg("Fwd thread id", facts->forward_thread);
    }
    add_inputs(e);
    if (const Collective* collective = store_.collective(e)) add_collective(*collective);
    text_ += begin_args_ ? "}" : "}}";
    if (is_gpu_work(kind) || is_launch(kind)) add_arrow(e, kind);
  }

  // From the launch to its kernel, as viewers draw it.
  void add_arrow(EventId e, EventKind kind) {
    const std::optional<LaunchKey> key =
        is_launch(kind) ? store_.launch(e).key : store_.gpu_work(e).key;
    if (!key || key->external || key->id == 0) return;
    const Track& track = store_.track(e);
    next();
    fmt::format_to(std::back_inserter(text_),
                   "{{\"ph\":\"{}\",\"id\":{},\"cat\":\"ac2g\",\"name\":\"ac2g\",\"pid\":{},"
                   "\"tid\":{},\"ts\":",
                   is_launch(kind) ? 's' : 'f', key->id, id_json(store_.text(track.pid)),
                   id_json(store_.text(track.tid)));
    append_micros(text_, store_.start(e).count - shift_);
    text_ += is_launch(kind) ? "}" : ",\"bp\":\"e\"}";
  }

  void arg_name(std::string_view name) {
    text_ += begin_args_ ? ",\"args\":{" : ",";
    begin_args_ = false;
    text_ += json_quoted(name);
    text_ += ':';
  }
  template <typename Number>
  void arg(std::string_view name, Number number) {
    arg_name(name);
    fmt::format_to(std::back_inserter(text_), "{}", number);
  }
  template <typename Number>
  void arg(std::string_view name, const std::optional<Number>& number) {
    if (number) arg(name, *number);
  }
  void arg(std::string_view name, const std::optional<Dim3>& dims) {
    if (!dims) return;
    arg_name(name);
    fmt::format_to(std::back_inserter(text_), "[{},{},{}]", dims->x, dims->y, dims->z);
  }
  // What the recording has is JSON as a rule; a damaged or hostile one may have anything.
  void arg_json(std::string_view name, StringId json) {
    if (!json.valid()) return;
    const auto [found, is_new] = are_json_.try_emplace(json);
    if (is_new) found->second = is_json(store_.text(json));
    if (!found->second) return arg_text(name, json);
    arg_name(name);
    text_ += store_.text(json);
  }

  void add_key(const std::optional<LaunchKey>& key) {
    if (key) arg(key->external ? "External id" : "correlation", key->id);
  }

  void add_gpu_args(const GpuWork& work) {
    arg("device", work.device);
    arg("context", work.context);
    arg("stream", work.stream);
    add_key(work.key);
    arg("registers per thread", work.registers);
    arg("shared memory", work.shared_memory);
    arg("grid", work.grid);
    arg("block", work.block);
    arg("cluster", work.cluster);
    arg("bytes", work.bytes);
  }

  void arg_text(std::string_view name, StringId text) {
    if (!text.valid()) return;
    arg_name(name);
    text_ += json_quoted(store_.text(text));
  }

  void add_collective(const Collective& c) {
    arg_text("Collective name", c.name);
    arg_text("dtype", c.dtype);
    arg("In msg nelems", c.in_elements);
    arg("Out msg nelems", c.out_elements);
    arg("Group size", c.group_size);
    arg_text("In split size", c.in_split);
    arg_text("Out split size", c.out_split);
    arg_text("Process Group Name", c.group_name);
    arg_text("Process Group Description", c.group_description);
    arg_text("Process Group Ranks", c.group_ranks);
    arg("Rank", c.rank);
    arg("Seq", c.sequence);
  }

  void add_inputs(EventId e) {
    if (!store_.args_id(e).valid()) return;
    const Args& args = store_.args(store_.args_id(e));
    arg_json("Input Dims", args.dims);
    arg_json("Input type", args.types);
    arg_json("Input Strides", args.strides);
    arg_json("Concrete Inputs", args.concrete);
  }

  Status flush() {
    const Status done = out_(text_);
    text_.clear();
    return done;
  }

  const EventStore& store_;
  const TextSink& out_;
  const std::vector<AddedTrack>& added_;
  int64_t base_ = 0;   // of the times in the file
  int64_t shift_ = 0;  // what they are less than the store's
  bool has_events_ = false, begin_args_ = true;
  std::string text_;
  std::unordered_map<StringId, bool> are_json_;
};

}  // namespace

Status write_chrome_trace(const EventStore& store, const TextSink& out,
                          const std::vector<AddedTrack>& added) {
  return ChromeTrace(store, out, added).write();
}

}  // namespace fathom
