#include "ingest/capture/capture_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace fathom::capture {
namespace {

// Names as PyTorch's profiler writes them, so that the same sheets and rules fit.
std::string_view copy_direction(uint8_t kind) {
  constexpr std::string_view kNames[] = {"?",    "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                         "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
  return kind < std::size(kNames) ? kNames[kind] : kNames[0];
}

std::string_view memory_name(uint8_t kind) {
  constexpr std::string_view kNames[] = {"Unknown", "Pageable", "Pinned",        "Device",
                                         "Array",   "Managed",  "Device Static", "Managed Static"};
  return kind < std::size(kNames) ? kNames[kind] : kNames[0];
}

std::string_view wait_name(uint32_t kind) {
  constexpr std::string_view kNames[] = {"Unknown Sync", "Event Sync", "Stream Wait Event",
                                         "Stream Sync", "Context Sync"};
  return kind < std::size(kNames) ? kNames[kind] : kNames[0];
}

std::string_view overhead_name(uint32_t kind) {
  constexpr std::string_view kNames[] = {"Overhead",
                                         "Recording: buffer flush",
                                         "Recording: instrumentation",
                                         "Recording: resource",
                                         "Module loading",
                                         "Lazy function loading",
                                         "Command buffer full",
                                         "Recording: buffer request",
                                         "Recording: managed memory"};
  if (kind == 1) return "Kernel compilation";
  const uint32_t at = kind >> 16;
  return at < std::size(kNames) ? kNames[at] : kNames[0];
}

// What every record of work on the GPU tells.
template <typename Record>
GpuWork work_of(const Record& record) {
  GpuWork work;
  work.key = LaunchKey{record.correlation, false};
  work.device = static_cast<int32_t>(record.device);
  work.stream = record.stream;
  work.context = static_cast<int32_t>(record.context);
  return work;
}

bool is_real(const uint32_t (&dims)[3]) { return dims[0] > 0; }
Dim3 dim3(const uint32_t (&dims)[3]) { return {dims[0], dims[1], dims[2]}; }

}  // namespace

template <typename Record>
void CaptureRows::append(std::vector<Record>& records, const Chunk& chunk) {
  // Smaller ones were never written, and would let a small file ask for much memory.
  if (chunk.record_size < sizeof(Record)) {
    builder_.diagnostics().add(Flaw::kDamagedPart);
    return;
  }
  const size_t count = chunk.payload.size() / chunk.record_size;
  for (size_t i = 0; i < count; ++i) {
    Record record{};
    std::memcpy(&record, chunk.payload.data() + i * chunk.record_size, sizeof record);
    records.push_back(record);
  }
}

void CaptureRows::take(const Chunk& chunk) {
  switch (chunk.kind) {
    case ChunkKind::kStrings:
      return take_strings(chunk.payload);
    case ChunkKind::kMeta:
      return take_meta(chunk.payload);
    case ChunkKind::kKernels:
      return append(kernels_, chunk);
    case ChunkKind::kCopies:
      return append(copies_, chunk);
    case ChunkKind::kSets:
      return append(sets_, chunk);
    case ChunkKind::kCalls:
      return append(calls_, chunk);
    case ChunkKind::kWaits:
      return append(waits_, chunk);
    case ChunkKind::kMarks:
      return append(marks_, chunk);
    case ChunkKind::kGraphs:
      return append(graphs_, chunk);
    case ChunkKind::kAllocations:
      return append(allocations_, chunk);
    case ChunkKind::kOverheads:
      return append(overheads_, chunk);
    case ChunkKind::kOps:
      return append(ops_, chunk);
    case ChunkKind::kFrames:
      return append(frames_, chunk);
    case ChunkKind::kRanges:
      return append(ranges_, chunk);
    case ChunkKind::kNumbers:
      return append(numbers_, chunk);
    case ChunkKind::kActivity: {
      std::vector<Activity> samples;
      append(samples, chunk);
      for (const Activity& sample : samples) activity_[sample.device].samples.push_back(sample);
      return;
    }
    case ChunkKind::kCounters:
    case ChunkKind::kSamples:
      return;  // no events
    case ChunkKind::kDrops: {
      std::vector<Drop> drops;
      append(drops, chunk);
      for (const Drop& drop : drops)
        lost_ += static_cast<int64_t>(std::min<uint64_t>(drop.records, uint64_t{1} << 40));
      return;
    }
  }
}

void CaptureRows::take_strings(std::string_view payload) {
  for_each_text(payload,
                [this](uint32_t id, std::string_view text) { texts_[id] = builder_.intern(text); });
}

void CaptureRows::take_meta(std::string_view payload) {
  for_each_fact(payload, [this](const std::vector<std::string_view>& fields) {
    if (fields[0] == "tool" && fields.size() > 2)
      metadata_.source = fmt::format("{} {}", fields[1], fields[2]);
    if (fields[0] == "process" && fields.size() > 3) {
      process_ = static_cast<uint64_t>(whole_number_in(fields[1]).value_or(0));
      command_ = fields[3];
    } else if (fields[0] == "driver" && fields.size() > 1) {
      metadata_.cuda_runtime_version = whole_number_in(fields[1]);
    } else if (fields[0] == "activity" && fields.size() > 2) {
      const std::optional<int64_t> device = whole_number_in(fields[1]);
      if (device && *device >= 0 && *device <= UINT32_MAX)
        activity_[static_cast<uint32_t>(*device)].metrics.assign(fields.begin() + 2, fields.end());
    }
  });
  for_each_gpu(payload, [this](const GpuProperties& gpu) { metadata_.gpus.push_back(gpu); });
}

StringId CaptureRows::text(TextId id) const {
  const auto found = texts_.find(id);
  return found == texts_.end() ? StringId{} : found->second;
}

StringId CaptureRows::number_text(uint64_t number) {
  return builder_.intern(fmt::to_string(number));
}

TrackId CaptureRows::gpu_track(uint32_t device, uint32_t stream) {
  const auto [found, is_new] = gpu_tracks_.try_emplace(uint64_t{device} << 32 | stream);
  if (is_new) {
    const TrackId track = builder_.intern_track(number_text(device), number_text(stream));
    found->second = track;
    builder_.name_process(track, builder_.intern(command_));
    builder_.label_process(track, builder_.intern(fmt::format("GPU {}", device)));
    builder_.name_thread(track, builder_.intern(fmt::format("stream {}", stream)));
  }
  return found->second;
}

TrackId CaptureRows::thread_track(uint32_t thread) {
  const auto [found, is_new] = thread_tracks_.try_emplace(uint64_t{thread});
  if (is_new) {
    const TrackId track = builder_.intern_track(number_text(process_), number_text(thread));
    found->second = track;
    builder_.name_process(track, builder_.intern(command_));
    builder_.label_process(track, builder_.intern("CPU"));
    builder_.name_thread(track, builder_.intern(fmt::format("thread {}", thread)));
  }
  return found->second;
}

EventStoreBuilder::Common CaptureRows::common(EventKind kind, uint64_t start, uint64_t end,
                                              StringId name, TrackId track) {
  if (start > INT64_MAX) start = INT64_MAX;
  if (end > INT64_MAX) end = INT64_MAX;
  if (end < start) {
    builder_.diagnostics().add(Flaw::kNegativeDuration);
    end = start;
  }
  return {kind,
          Nanos{static_cast<int64_t>(start)},
          Nanos{static_cast<int64_t>(end - start)},
          name.valid() ? name : builder_.intern("?"),
          track,
          {}};
}

// A range that has no end lasts as long as the capture does not tell: it is left out and counted.
void CaptureRows::pair_marks() {
  std::ranges::stable_sort(marks_, {}, &Mark::time);
  std::unordered_map<uint32_t, const Mark*, TableHash> open;
  constexpr uint32_t kStart = 2, kEnd = 4;
  int64_t without = 0;
  for (const Mark& mark : marks_) {
    if (mark.kind == kStart) {
      if (!open.insert_or_assign(mark.id, &mark).second) ++without;
    } else if (mark.kind == kEnd) {
      const auto begin = open.find(mark.id);
      if (begin == open.end()) {
        ++without;
        continue;
      }
      ranges_.push_back(
          {begin->second->time, mark.time, begin->second->name, begin->second->thread});
      open.erase(begin);
    }
  }
  without += static_cast<int64_t>(open.size());
  if (without > 0) builder_.diagnostics().add(Flaw::kOpenRange, "", without);
}

// Memory in use is a number over time.
void CaptureRows::sum_allocations() {
  std::ranges::stable_sort(allocations_, {}, &Allocation::time);
  std::unordered_map<uint64_t, int64_t, TableHash> in_use;
  for (const Allocation& a : allocations_) {
    int64_t& bytes = in_use[uint64_t{a.device} << 8 | a.memory];
    const auto size = static_cast<int64_t>(std::min<uint64_t>(a.bytes, uint64_t{1} << 50));
    bytes += a.is_release != 0 ? -size : size;
    const StringId name = builder_.intern(
        fmt::format("memory in use, GPU {}, {} (bytes)", a.device, memory_name(a.memory)));
    builder_.add(common(EventKind::kCounter, a.time, a.time, name, thread_track(0)));
    builder_.add_counter(builder_.intern("value"), static_cast<double>(bytes));
  }
}

void CaptureRows::add_kernel(const Kernel& kernel) {
  GpuWork work = work_of(kernel);
  work.registers = static_cast<int32_t>(kernel.registers);
  work.shared_memory = static_cast<int32_t>(kernel.static_shared + kernel.dynamic_shared);
  if (is_real(kernel.grid)) work.grid = dim3(kernel.grid);
  if (is_real(kernel.block)) work.block = dim3(kernel.block);
  if (is_real(kernel.cluster)) work.cluster = dim3(kernel.cluster);
  builder_.add(common(EventKind::kKernel, kernel.start, kernel.end, text(kernel.name),
                      gpu_track(kernel.device, kernel.stream)),
               work);
}

void CaptureRows::add_copy(const Copy& copy) {
  GpuWork work = work_of(copy);
  work.bytes = static_cast<int64_t>(std::min<uint64_t>(copy.bytes, INT64_MAX));
  const StringId name =
      builder_.intern(fmt::format("Memcpy {} ({} -> {})", copy_direction(copy.kind),
                                  memory_name(copy.source), memory_name(copy.target)));
  builder_.add(
      common(EventKind::kMemcpy, copy.start, copy.end, name, gpu_track(copy.device, copy.stream)),
      work);
}

void CaptureRows::add_op(const Op& op) {
  auto event = common(op.is_annotation != 0 ? EventKind::kAnnotation : EventKind::kCpuOp, op.start,
                      op.end, text(op.name), thread_track(op.thread));
  if (op.is_annotation != 0) {
    builder_.add(event, LaunchCall{});
    return;
  }
  if ((op.dims | op.types | op.strides | op.concrete) != 0) {
    event.args =
        builder_.intern_args({text(op.dims), text(op.types), text(op.strides), text(op.concrete)});
  }
  if (op.sequence >= 0)
    builder_.add(event, AutogradFacts{op.sequence, std::max<int64_t>(op.forward_thread, 0)});
  else
    builder_.add(event);
}

void CaptureRows::add(const Row& row) {
  const size_t i = row.index;
  switch (row.kind) {
    case ChunkKind::kKernels:
      return add_kernel(kernels_[i]);
    case ChunkKind::kCopies:
      return add_copy(copies_[i]);
    case ChunkKind::kOps:
      return add_op(ops_[i]);
    case ChunkKind::kSets: {
      const Set& set = sets_[i];
      GpuWork work = work_of(set);
      work.bytes = static_cast<int64_t>(std::min<uint64_t>(set.bytes, INT64_MAX));
      builder_.add(common(EventKind::kMemset, set.start, set.end,
                          builder_.intern("Memset (Device)"), gpu_track(set.device, set.stream)),
                   work);
      return;
    }
    case ChunkKind::kGraphs: {
      const Graph& graph = graphs_[i];
      const GpuWork work = work_of(graph);
      builder_.add(common(EventKind::kKernel, graph.start, graph.end,
                          builder_.intern(fmt::format("CUDA graph {}", graph.graph)),
                          gpu_track(graph.device, graph.stream)),
                   work);
      return;
    }
    case ChunkKind::kCalls: {
      const Call& call = calls_[i];
      builder_.add(common(call.is_driver != 0 ? EventKind::kDriver : EventKind::kRuntime,
                          call.start, call.end, text(call.name), thread_track(call.thread)),
                   LaunchCall{LaunchKey{call.correlation, false}});
      return;
    }
    case ChunkKind::kWaits: {
      const Wait& wait = waits_[i];
      const auto device = devices_.find(wait.context);
      const EventId event = builder_.add(
          common(EventKind::kOther, wait.start, wait.end, builder_.intern(wait_name(wait.kind)),
                 gpu_track(device != devices_.end() ? device->second : 0, wait.stream)));
      RecordedWait recorded{event, wait.correlation, {}, {}};
      if (wait.record != 0) {
        recorded.record = wait.record;
        recorded.stream = wait.event;
      }
      builder_.add_wait(recorded);
      return;
    }
    case ChunkKind::kOverheads: {
      const Overhead& overhead = overheads_[i];
      builder_.add(common(EventKind::kOther, overhead.start, overhead.end,
                          builder_.intern(overhead_name(overhead.kind)),
                          thread_track(overhead.thread)));
      return;
    }
    case ChunkKind::kRanges: {
      const Range& range = ranges_[i];
      builder_.add(common(EventKind::kAnnotation, range.start, range.end, text(range.name),
                          thread_track(range.thread)),
                   LaunchCall{});
      return;
    }
    case ChunkKind::kFrames: {
      const Frame& frame = frames_[i];
      const auto known = [](int64_t id) {
        return id >= 0 ? std::optional<int64_t>(id) : std::nullopt;
      };
      builder_.add(common(EventKind::kPython, frame.start, frame.end, text(frame.name),
                          thread_track(frame.thread)),
                   PythonFrame{known(frame.id), known(frame.parent), known(frame.module)});
      return;
    }
    case ChunkKind::kNumbers: {
      const Number& number = numbers_[i];
      builder_.add(common(EventKind::kCounter, number.time, number.time, text(number.name),
                          thread_track(number.thread)));
      builder_.add_counter(builder_.intern("value"), number.value);
      return;
    }
    case ChunkKind::kActivity:
      return add_point(points_[i]);
    default:
      return;
  }
}

void CaptureRows::add_point(const ActivityPoint& point) {
  const GpuActivity& gpu = activity_[point.device];
  const StringId name = builder_.intern(
      fmt::format("GPU {} {}", point.device, point.is_traffic ? "traffic (GB/s)" : "busy (%)"));
  builder_.add(common(EventKind::kCounter, point.time, point.time, name, thread_track(0)));
  const std::vector<StringId>& names = point.is_traffic ? gpu.traffic : gpu.busy;
  for (size_t i = 0; i < point.values.size(); ++i)
    builder_.add_counter(names[i], static_cast<double>(point.values[i]));
}

// Samples are many: the trace shows their means, and only while the program's kernels run.
void CaptureRows::make_points() {
  constexpr size_t kMostPoints = 10'000;
  uint64_t first = UINT64_MAX, last = 0;
  const auto cover = [&](const auto& records) {
    for (const auto& record : records) {
      first = std::min(first, record.start);
      last = std::max(last, record.end);
    }
  };
  cover(kernels_);
  cover(graphs_);
  for (auto& [device, gpu] : activity_) {
    std::erase_if(gpu.samples, [first, last](const Activity& sample) {
      return sample.start < first || sample.end > last;
    });
    ActivitySeries series = activity_series(gpu.metrics, std::move(gpu.samples), kMostPoints);
    for (const std::string& label : series.busy) gpu.busy.push_back(builder_.intern(label));
    for (const std::string& label : series.traffic) gpu.traffic.push_back(builder_.intern(label));
    for (ActivityPoint& point : series.points) points_.push_back(std::move(point));
  }
}

TraceMetadata CaptureRows::finish() {
  pair_marks();
  make_points();
  std::vector<Row> rows;
  const auto collect = [&rows](ChunkKind kind, const auto& records) {
    for (size_t i = 0; i < records.size(); ++i) {
      uint64_t time = 0;
      if constexpr (requires { records[i].start; }) {
        time = records[i].start;
      } else {
        time = records[i].time;
      }
      rows.push_back({time, kind, static_cast<uint32_t>(i)});
    }
  };
  for (const Kernel& kernel : kernels_) devices_.try_emplace(kernel.context, kernel.device);
  collect(ChunkKind::kFrames, frames_);
  collect(ChunkKind::kRanges, ranges_);
  collect(ChunkKind::kOps, ops_);
  collect(ChunkKind::kCalls, calls_);
  collect(ChunkKind::kOverheads, overheads_);
  collect(ChunkKind::kKernels, kernels_);
  collect(ChunkKind::kGraphs, graphs_);
  collect(ChunkKind::kCopies, copies_);
  collect(ChunkKind::kSets, sets_);
  collect(ChunkKind::kWaits, waits_);
  collect(ChunkKind::kNumbers, numbers_);
  collect(ChunkKind::kActivity, points_);
  std::ranges::stable_sort(rows, {}, &Row::time);
  builder_.reserve(rows.size() + allocations_.size());
  for (const Row& row : rows) add(row);
  sum_allocations();
  if (lost_ > 0) builder_.diagnostics().add(Flaw::kLostRecords, "", lost_);
  return std::move(metadata_);
}

}  // namespace fathom::capture
