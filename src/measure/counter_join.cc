#include "measure/counter_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/hash.h"
#include "base/kernel_name.h"
#include "events/statistics.h"
#include "measure/other_gpu.h"

namespace fathom {
namespace {

// More candidates than this are ambiguous whatever they are, and are not looked through.
constexpr size_t kMaxCandidates = 64;
constexpr double kSlow = 2;

bool same_dims(const std::optional<Dim3>& a, const std::optional<Dim3>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->x == b->x && a->y == b->y && a->z == b->z;
}

// Different only where both are known.
template <typename A, typename B>
bool agree(const std::optional<A>& a, const std::optional<B>& b) {
  return !a || !b || static_cast<int64_t>(*a) == static_cast<int64_t>(*b);
}
bool agree(const std::optional<Dim3>& a, const std::optional<Dim3>& b) {
  return !a || !b || same_dims(a, b);
}

std::optional<int64_t> shared_memory_of(const CounterRow& row) {
  if (!row.static_shared || !row.dynamic_shared) return {};
  return *row.static_shared + *row.dynamic_shared;
}

// Where only one part is known, the whole is no smaller.
bool fits_at_least(const std::optional<int32_t>& whole, const CounterRow& row) {
  const int64_t part = std::max(row.static_shared.value_or(0), row.dynamic_shared.value_or(0));
  return !whole || *whole >= part;
}

// Runs of one kernel and shape, in a trace or in a file of counters.
struct TraceGroup {
  KernelLaunch launch;
  const KernelName* name = nullptr;
  std::vector<EventId> events;
  std::vector<size_t> candidates;  // counter groups that may be of it
  bool by_short_name = false, shapeless = false;
};
struct CounterGroup {
  const KernelName* name = nullptr;
  CounterRow first;
  std::vector<CounterRowId> rows;
  size_t claims = 0;  // trace groups that it may be of
  bool is_candidate = false;
};

// Normal names of a list of texts, each worked out once.
class NormalNames {
 public:
  const KernelName& of(StringId id, std::string_view text) {
    if (id.index >= names_.size()) names_.resize(id.index + 1);
    std::unique_ptr<KernelName>& name = names_[id.index];
    if (!name) name = std::make_unique<KernelName>(normal_kernel_name(text));
    return *name;
  }

 private:
  std::vector<std::unique_ptr<KernelName>> names_;
};

std::string shape_key(std::string_view name, std::optional<int64_t> blocks,
                      std::optional<int64_t> threads) {
  return fmt::format("{}\x1f{}\x1f{}", name, blocks.value_or(-1), threads.value_or(-1));
}

class FileJoin {
 public:
  FileJoin(const EventStore& store, const CounterSet& set) : store_(store), set_(set) {
    group_counters();
    group_kernels();
  }

  void run(CounterJoin::File& into) {
    for (TraceGroup& group : kernels_) find_candidates(group);
    for (TraceGroup& group : kernels_) {
      if (group.candidates.size() == 1) ++counters_[group.candidates[0]].claims;
      for (const size_t at : group.candidates) counters_[at].is_candidate = true;
    }
    for (const TraceGroup& group : kernels_) {
      if (group.candidates.empty()) continue;
      JoinedCounters joined = join(group);
      into.joined_rows += joined.rows.size();
      count_odd(group, joined, into);
      into.kernels.emplace(group.launch, std::move(joined));
    }
    size_t found = 0;
    for (const CounterGroup& group : counters_) found += group.is_candidate ? group.rows.size() : 0;
    into.ambiguous_rows = found - std::min(found, into.joined_rows);
    into.doubt = doubt_of(into);
  }

 private:
  void group_counters() {
    std::unordered_map<std::string, size_t, TableHash> index;
    for (CounterRowId id(0); id.index < set_.size(); ++id.index) {
      const CounterRow& row = set_.row(id);
      const StringId shown = row.mangled.valid() ? row.mangled : row.kernel;
      const KernelName& name = counter_names_.of(shown, set_.text(shown));
      const auto dims = [](const std::optional<Dim3>& d) {
        return d ? fmt::format("{}x{}x{}", d->x, d->y, d->z) : std::string("-");
      };
      const std::string key = fmt::format(
          "{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}", name.text, dims(row.grid),
          dims(row.block), dims(row.cluster), row.grid_blocks.value_or(-1),
          row.block_threads.value_or(-1), row.registers.value_or(-1),
          row.static_shared.value_or(-1), row.dynamic_shared.value_or(-1));
      const auto [found, is_new] = index.try_emplace(key, counters_.size());
      if (is_new) {
        counters_.push_back({&name, row, {}, 0});
        add_to_indexes(counters_.size() - 1);
      }
      counters_[found->second].rows.push_back(id);
    }
    for (CounterGroup& group : counters_) order_rows(group.rows);
  }

  // In the order of the launches, also where a file was sorted by something else. Where numbers
  // repeat, as in several files put together, the order of the file is all there is.
  void order_rows(std::vector<CounterRowId>& rows) const {
    std::vector<std::tuple<int64_t, int64_t, CounterRowId>> numbered;
    for (const CounterRowId row : rows) {
      if (!set_.row(row).launch) return;
      numbered.emplace_back(set_.row(row).process.value_or(-1), *set_.row(row).launch, row);
    }
    std::ranges::sort(numbered);
    const auto same_launch = [](const auto& a, const auto& b) {
      return std::get<0>(a) == std::get<0>(b) && std::get<1>(a) == std::get<1>(b);
    };
    if (std::ranges::adjacent_find(numbered, same_launch) != numbered.end()) return;
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = std::get<2>(numbered[i]);
  }

  void add_to_indexes(size_t at) {
    const CounterGroup& group = counters_[at];
    const bool has_shape = group.first.grid_blocks && group.first.block_threads;
    if (!has_shape) {
      shapeless_[std::string(group.name->text)].push_back(at);
      return;
    }
    named_[std::string(group.name->text)].push_back(at);
    full_[shape_key(group.name->text, group.first.grid_blocks, group.first.block_threads)]
        .push_back(at);
    short_[shape_key(group.name->base(), group.first.grid_blocks, group.first.block_threads)]
        .push_back(at);
  }

  void group_kernels() {
    std::unordered_map<KernelLaunch, size_t, KernelLaunchHash> index;
    for (EventId event(0); event.index < store_.size(); ++event.index) {
      if (store_.kind(event) != EventKind::kKernel) continue;
      const KernelLaunch launch = kernel_launch(store_, event);
      const auto [found, is_new] = index.try_emplace(launch, kernels_.size());
      if (is_new) {
        kernels_.push_back(
            {launch, &trace_names_.of(launch.name, store_.text(launch.name)), {}, {}});
      }
      kernels_[found->second].events.push_back(event);
    }
    for (TraceGroup& group : kernels_) {
      std::ranges::sort(group.events, [this](EventId a, EventId b) {
        return std::tuple(store_.start(a), a) < std::tuple(store_.start(b), b);
      });
    }
  }

  bool fits(const TraceGroup& kernel, const CounterGroup& counter) const {
    const KernelLaunch& launch = kernel.launch;
    // No kernel runs without registers: a profiler that writes 0 did not know.
    const bool has_registers = launch.registers.value_or(0) > 0;
    return agree(launch.grid, counter.first.grid) && agree(launch.block, counter.first.block) &&
           (!has_registers || agree(launch.registers, counter.first.registers)) &&
           agree(launch.shared_memory, shared_memory_of(counter.first)) &&
           fits_at_least(launch.shared_memory, counter.first);
  }

  template <typename Map>
  void add_from(const Map& map, const std::string& key, TraceGroup& group, bool only_short) {
    const auto found = map.find(key);
    if (found == map.end()) return;
    size_t seen = 0;
    for (const size_t at : found->second) {
      if (++seen > kMaxCandidates) break;
      const CounterGroup& counter = counters_[at];
      // A name without template arguments may be any of those with them.
      const bool is_short = group.name->has_arguments() != counter.name->has_arguments();
      if (only_short && !is_short) continue;
      if (fits(group, counter)) group.candidates.push_back(at);
    }
  }

  void find_candidates(TraceGroup& group) {
    const std::optional<int64_t> blocks = total_of(group.launch.grid),
                                 threads = total_of(group.launch.block);
    const std::string name = group.name->text;
    if (!blocks || !threads) {
      group.shapeless = true;
      add_from(named_, name, group, false);
    } else {
      add_from(full_, shape_key(name, blocks, threads), group, false);
      if (!group.candidates.empty()) return;
      add_from(short_, shape_key(group.name->base(), blocks, threads), group, true);
      group.by_short_name = !group.candidates.empty();
    }
    if (!group.candidates.empty()) return;
    add_from(shapeless_, name, group, false);
    group.shapeless = true;
  }

  JoinedCounters join(const TraceGroup& group) const {
    JoinedCounters joined;
    joined.quality = JoinQuality::kAmbiguous;
    const bool is_unsure = group.shapeless && !set_.origin().has_whole_shapes;
    if (group.candidates.size() != 1 || is_unsure) return joined;
    const CounterGroup& counter = counters_[group.candidates[0]];
    if (counter.claims != 1) return joined;
    joined.rows = counter.rows;
    const bool is_exact = !group.by_short_name && counter.rows.size() == group.events.size() &&
                          is_one_device(group.events);
    joined.quality = is_exact ? JoinQuality::kExact : JoinQuality::kByKey;
    if (is_exact) joined.events = group.events;
    judge(group, joined);
    return joined;
  }

  bool is_one_device(const std::vector<EventId>& events) const {
    return std::ranges::all_of(events, [&](EventId event) {
      return store_.gpu_work(event).device == store_.gpu_work(events.front()).device;
    });
  }

  void judge(const TraceGroup& group, JoinedCounters& joined) const {
    const double limit = kSlow * median_of(group);
    bool is_known = false;
    for (const CounterRowId row : joined.rows) {
      const std::optional<Nanos> duration = set_.row(row).duration;
      const bool is_slow = duration && static_cast<double>(duration->count) > limit;
      is_known = is_known || duration.has_value();
      joined.is_slow.push_back(is_slow);
      joined.slow_rows += is_slow;
    }
    if (is_known) joined.trusted = joined.slow_rows == 0;
  }

  double median_of(const TraceGroup& group) const {
    std::vector<Nanos> durations;
    durations.reserve(group.events.size());
    for (EventId event : group.events) durations.push_back(store_.duration(event));
    return summarize(std::move(durations)).median;
  }

  // A kernel that ran much faster than in the trace is no worse measured, but where most are off
  // either way, the values are not of these kernels.
  void count_odd(const TraceGroup& group, const JoinedCounters& joined,
                 CounterJoin::File& into) const {
    if (joined.rows.empty()) return;
    const double median = median_of(group);
    for (const CounterRowId row : joined.rows) {
      const std::optional<Nanos> duration = set_.row(row).duration;
      if (!duration) continue;
      const auto time = static_cast<double>(duration->count);
      ++into.timed_rows;
      into.odd_rows += time > kSlow * median || time * kSlow < median;
    }
  }

  std::string doubt_of(const CounterJoin::File& file) const {
    const size_t found = file.joined_rows + file.ambiguous_rows;
    if (2 * found < set_.size()) {
      return fmt::format("{} of its {} launches {} of a kernel and shape of the trace", found,
                         set_.size(), found == 1 ? "is" : "are");
    }
    if (2 * file.odd_rows > file.timed_rows) {
      return fmt::format("the durations of {} of {} launches differ from the trace's by over 2 ×",
                         file.odd_rows, file.timed_rows);
    }
    return {};
  }

  const EventStore& store_;
  const CounterSet& set_;
  NormalNames counter_names_, trace_names_;
  std::vector<CounterGroup> counters_;
  std::vector<TraceGroup> kernels_;
  using Index = std::unordered_map<std::string, std::vector<size_t>, TableHash>;
  Index full_, short_, named_, shapeless_;
};

// Nsight Compute gives the device's attributes as metrics of each launch.
std::optional<int64_t> counted_multiprocessors(const CounterSet& set) {
  if (set.size() == 0) return {};
  for (const MetricValue& value : set.values(CounterRowId(0))) {
    if (set.metric_name(value.metric) == "device__attribute_multiprocessor_count" &&
        value.value >= 1 && value.value < 1e6)
      return static_cast<int64_t>(value.value);
  }
  return {};
}

}  // namespace

bool KernelLaunch::operator==(const KernelLaunch& other) const {
  return name == other.name && same_dims(grid, other.grid) && same_dims(block, other.block) &&
         registers == other.registers && shared_memory == other.shared_memory;
}

size_t KernelLaunchHash::operator()(const KernelLaunch& launch) const {
  const TableHash hash;
  const auto dims = [&hash](const std::optional<Dim3>& d) {
    return d ? hash(d->x, d->y, d->z) : size_t{0};
  };
  return hash(launch.name.index, dims(launch.grid), dims(launch.block),
              launch.registers.value_or(-1), launch.shared_memory.value_or(-1));
}

KernelLaunch kernel_launch(const EventStore& store, EventId kernel) {
  const GpuWork& work = store.gpu_work(kernel);
  return {store.name_id(kernel), work.grid, work.block, work.registers, work.shared_memory};
}

CounterJoin CounterJoin::of_its_own_rows(const EventStore& store, const CounterFile& file) {
  CounterJoin out;
  File& own = out.files_.emplace_back();
  own.file = &file;
  for (EventId event(0); event.index < store.size() && event.index < file.set.size();
       ++event.index) {
    if (!is_gpu_work(store.kind(event))) continue;
    const CounterRowId row(event.index);
    JoinedCounters& joined = own.kernels[kernel_launch(store, event)];
    joined.quality = JoinQuality::kExact;
    joined.rows.push_back(row);
    joined.events.push_back(event);
    joined.is_slow.push_back(false);
    if (file.set.row(row).duration) joined.trusted = true;
    ++own.joined_rows;
  }
  return out;
}

CounterJoin::CounterJoin(const EventStore& store, const std::vector<CounterFile>& files) {
  for (const CounterFile& file : files) {
    File joined;
    joined.file = &file;
    CounterOrigin origin = file.set.origin();
    if (!origin.multiprocessors) origin.multiprocessors = counted_multiprocessors(file.set);
    joined.refusal = other_gpu(store.metadata(), origin);
    if (joined.refusal.empty()) FileJoin(store, file.set).run(joined);
    files_.push_back(std::move(joined));
  }
}

const JoinedCounters& CounterJoin::find(size_t file, const KernelLaunch& launch) const {
  static const JoinedCounters none;
  const auto found = files_[file].kernels.find(launch);
  return found == files_[file].kernels.end() ? none : found->second;
}

CounterCoverage counter_coverage(const EventStore& store, std::span<const EventId> events,
                                 const CounterJoin& join) {
  CounterCoverage coverage;
  for (EventId event : events) {
    if (store.kind(event) != EventKind::kKernel) continue;
    const Nanos time = store.duration(event);
    coverage.total += time;
    const KernelLaunch launch = kernel_launch(store, event);
    bool is_joined = false, is_trusted = false, is_ambiguous = false;
    for (size_t file = 0; file < join.files().size(); ++file) {
      const JoinedCounters& joined = join.find(file, launch);
      is_ambiguous = is_ambiguous || joined.quality == JoinQuality::kAmbiguous;
      if (joined.quality < JoinQuality::kByKey) continue;
      is_joined = true;
      is_trusted = is_trusted || joined.trusted.value_or(true);
    }
    if (is_joined) coverage.joined += time;
    if (is_joined && !is_trusted) coverage.untrusted += time;
    if (!is_joined && is_ambiguous) coverage.ambiguous += time;
  }
  return coverage;
}

}  // namespace fathom
