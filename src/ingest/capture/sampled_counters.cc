#include "ingest/capture/sampled_counters.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <queue>
#include <unordered_map>

#include "base/hash.h"
#include "ingest/capture/chunk_reader.h"
#include "ingest/capture/counter_rows.h"

namespace fathom::capture {
namespace {

// A rate needs this many samples' time to mean something.
constexpr double kLeastSamples = 3;
constexpr uint32_t kCopyName = UINT32_MAX;  // stands for copies and memsets, which get no row

struct Work {
  uint64_t start, end;
  size_t key;
};

// What the samples of one kernel and shape add up to.
struct Sampled {
  double time = 0;                        // ns of the kernel that samples of its own cover
  double sums[kMostActivities] = {};      // counts, and percent × ns
  uint64_t launches = 0, whole_time = 0;  // of the trace
};

struct Gpu {
  std::vector<std::string> metrics;
  std::vector<Work> work;
  std::vector<Activity> samples;
  double least_time = 0;  // of a kernel that its samples say something of; 0: there are none
};

bool is_count(std::string_view metric) { return metric.ends_with(".sum"); }

// How much of each sample lies within any kernel.
class BusyTime {
 public:
  explicit BusyTime(const std::vector<Work>& sorted) {
    for (const Work& work : sorted) {
      if (!merged_.empty() && work.start <= merged_.back().second) {
        merged_.back().second = std::max(merged_.back().second, work.end);
      } else {
        merged_.emplace_back(work.start, work.end);
      }
    }
  }
  // Of windows in the order of their starts, which do not overlap.
  uint64_t within(uint64_t start, uint64_t end) {
    while (next_ < merged_.size() && merged_[next_].second <= start) ++next_;
    uint64_t sum = 0;
    for (size_t i = next_; i < merged_.size() && merged_[i].first < end; ++i) {
      sum += std::min(end, merged_[i].second) - std::max(start, merged_[i].first);
      if (merged_[i].second <= end) next_ = i + 1;
    }
    return sum;
  }

 private:
  std::vector<std::pair<uint64_t, uint64_t>> merged_;
  size_t next_ = 0;
};

// Gives each sample to the one kernel that ran during it.
void attribute(Gpu& gpu, std::vector<Sampled>& keys) {
  std::ranges::stable_sort(gpu.work, {}, &Work::start);
  std::ranges::stable_sort(gpu.samples, {}, &Activity::start);
  BusyTime busy(gpu.work);
  const auto ends_later = [&gpu](size_t a, size_t b) { return gpu.work[a].end > gpu.work[b].end; };
  std::priority_queue<size_t, std::vector<size_t>, decltype(ends_later)> running(ends_later);
  std::map<size_t, size_t> running_keys;  // and how many of each
  size_t next = 0;
  uint64_t last_end = 0;
  for (const Activity& sample : gpu.samples) {
    if (sample.start < last_end || sample.end <= sample.start) continue;
    last_end = sample.end;
    for (; next < gpu.work.size() && gpu.work[next].start < sample.end; ++next) {
      running.push(next);
      ++running_keys[gpu.work[next].key];
    }
    while (!running.empty() && gpu.work[running.top()].end <= sample.start) {
      const auto found = running_keys.find(gpu.work[running.top()].key);
      if (--found->second == 0) running_keys.erase(found);
      running.pop();
    }
    const uint64_t covered = busy.within(sample.start, sample.end);
    if (running_keys.size() != 1 || covered == 0) continue;
    Sampled& key = keys[running_keys.begin()->first];
    key.time += static_cast<double>(covered);
    const auto length = static_cast<double>(sample.end - sample.start);
    const size_t count = std::min<size_t>({sample.count, kMostActivities, gpu.metrics.size()});
    for (size_t i = 0; i < count; ++i) {
      if (!std::isfinite(sample.values[i])) continue;
      key.sums[i] +=
          is_count(gpu.metrics[i])
              ? static_cast<double>(sample.values[i])
              // A clock is what it is; the rest of a sample that has other than the
              // kernel's time in it is nobody's work.
              : static_cast<double>(sample.values[i]) * (gpu.metrics[i].ends_with(".per_second")
                                                             ? static_cast<double>(covered)
                                                             : length);
    }
  }
}

double typical_length(std::vector<Activity>& samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  const auto length = [](const Activity& sample) { return sample.end - sample.start; };
  std::ranges::nth_element(samples, middle, {}, length);
  return static_cast<double>(length(*middle));
}

class SampleReader {
 public:
  void take(const Chunk& chunk) {
    switch (chunk.kind) {
      case ChunkKind::kStrings:
        for_each_text(chunk.payload, [this](uint32_t id, std::string_view text) {
          texts_.insert_or_assign(id, std::string(text));
        });
        return;
      case ChunkKind::kMeta:
        return take_meta(chunk.payload);
      case ChunkKind::kKernels:
        return for_each_record<Kernel>(chunk, [this](const Kernel& kernel) {
          add(kernel.device, kernel.start, kernel.end, shape_of(kernel));
        });
      case ChunkKind::kGraphs:
        return for_each_record<Graph>(chunk, [this](const Graph& graph) {
          LaunchShape shape;
          shape.device = graph.device;
          shape.dynamic_shared = graph.graph;  // which graph it is: none has a name
          add(graph.device, graph.start, graph.end, shape);
        });
      case ChunkKind::kCopies:
        return for_each_record<Copy>(chunk, [this](const Copy& copy) { add_copy(copy); });
      case ChunkKind::kSets:
        return for_each_record<Set>(chunk, [this](const Set& set) { add_copy(set); });
      case ChunkKind::kActivity:
        return for_each_record<Activity>(chunk, [this](const Activity& sample) {
          gpus_[sample.device].samples.push_back(sample);
        });
      default:
        return;
    }
  }

  std::optional<CounterSet> finish(const Diagnostics& diagnostics, int64_t bytes) {
    CounterSetBuilder builder;
    builder.origin() = origin_;
    builder.origin().tool = "fathom record";
    builder.origin().form = "samples";
    builder.origin().version = FATHOM_VERSION;
    builder.origin().input_bytes = bytes;
    builder.origin().has_whole_shapes = true;
    builder.diagnostics().merge(diagnostics);
    bool any = false;
    for (auto& [device, gpu] : gpus_) {
      if (gpu.samples.empty() || gpu.metrics.empty()) continue;
      any = true;
      attribute(gpu, sampled_);
      gpu.least_time = kLeastSamples * typical_length(gpu.samples);
    }
    for (const auto& [shape, key] : keys_) {
      const Gpu& gpu = gpus_[shape.device];
      if (gpu.least_time > 0 && shape.name != kCopyName && sampled_[key].time >= gpu.least_time)
        add_row(builder, gpu, shape, sampled_[key]);
    }
    if (!any) return std::nullopt;
    return std::move(builder).seal();
  }

 private:
  void take_meta(std::string_view payload) {
    take_gpu(payload, origin_);
    for_each_fact(payload, [this](const std::vector<std::string_view>& fields) {
      if (fields.size() < 3 || fields[0] != "activity") return;
      const std::optional<int64_t> device = whole_number_in(fields[1]);
      if (!device || *device < 0 || *device > UINT32_MAX) return;
      std::vector<std::string>& metrics = gpus_[static_cast<uint32_t>(*device)].metrics;
      metrics.assign(fields.begin() + 2, fields.end());
      if (metrics.size() > kMostActivities) metrics.resize(kMostActivities);
    });
  }

  // Moves data too, and is not told apart from a kernel's own traffic.
  template <typename Record>
  void add_copy(const Record& copy) {
    LaunchShape shape;
    shape.name = kCopyName;
    shape.device = copy.device;
    add(copy.device, copy.start, copy.end, shape);
  }

  void add(uint32_t device, uint64_t start, uint64_t end, const LaunchShape& shape) {
    if (end <= start) return;
    const auto [found, is_new] = keys_.try_emplace(shape, sampled_.size());
    if (is_new) sampled_.emplace_back();
    Sampled& key = sampled_[found->second];
    ++key.launches;
    key.whole_time += end - start;
    gpus_[device].work.push_back({start, end, found->second});
  }

  void add_row(CounterSetBuilder& builder, const Gpu& gpu, const LaunchShape& shape,
               const Sampled& key) {
    CounterRow row;
    if (shape.name == 0 && shape.mangled == 0) {
      row.kernel = builder.intern(fmt::format("CUDA graph {}", shape.dynamic_shared));
      row.device = shape.device;
    } else {
      row.kernel = builder.intern(texts_[shape.name]);
      row.mangled = builder.intern(texts_[shape.mangled]);
      set_shape(row, shape);
    }
    const double mean = static_cast<double>(key.whole_time) / static_cast<double>(key.launches);
    // Times of a damaged capture add up to more than a time can be.
    row.duration =
        Nanos{static_cast<int64_t>(std::min<uint64_t>(key.whole_time / key.launches, INT64_MAX))};
    const CounterRowId id = builder.add_row(row);
    builder.add_value(id, builder.metric("gpu__time_duration.sum", "ns"), mean);
    for (size_t i = 0; i < gpu.metrics.size(); ++i) {
      const std::string& metric = gpu.metrics[i];
      // Counts are those of one launch; the others, means over the kernel's time.
      const double rate = key.sums[i] / key.time;
      builder.add_value(id, builder.metric(metric, unit_of_metric(metric)),
                        is_count(metric) ? rate * mean : rate);
    }
    builder.add_value(id, builder.metric("fathom__sampled_time.pct", "%"),
                      std::min(100.0, 100 * key.time / static_cast<double>(key.whole_time)));
  }

  std::unordered_map<uint32_t, std::string, TableHash> texts_;
  std::map<uint32_t, Gpu> gpus_;
  std::map<LaunchShape, size_t> keys_;
  std::vector<Sampled> sampled_;
  CounterOrigin origin_;
};

}  // namespace

Result<std::optional<CounterSet>> read_sampled_counters(ByteSource& source,
                                                        const std::string& shown) {
  ChunkReader chunks(source, int64_t{64} << 30);
  SampleReader reader;
  TRY(chunks.for_each(shown, [&reader](const Chunk& chunk) { reader.take(chunk); }));
  return reader.finish(chunks.diagnostics(), chunks.bytes_read());
}

}  // namespace fathom::capture
