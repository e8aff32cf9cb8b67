#include "sheets/kernel_contexts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "base/utf8.h"
#include "events/intervals.h"
#include "events/statistics.h"
#include "measure/counter_columns.h"
#include "sheets/op_columns.h"

namespace fathom {
namespace {

// What the order of events on each device says of single events.
struct DeviceTimes {
  std::vector<Nanos> idle_before;  // by event
  // Of kernels: copies to the device since the one before it, and to the host until the next.
  std::vector<Nanos> copies_around;
  std::map<int32_t, std::vector<Interval>> computation;
};

// "Memcpy HtoD (Pageable -> Device)", not within a device.
bool is_copy(const EventStore& store, EventId event, std::string_view direction) {
  return store.kind(event) == EventKind::kMemcpy &&
         store.name(event).find(direction) != std::string_view::npos;
}

DeviceTimes device_times(const SheetInput& input) {
  const EventStore& store = input.store;
  std::map<int32_t, std::vector<EventId>> devices;
  for (const EventId event : all_selected(input))
    devices[store.gpu_work(event).device.value_or(0)].push_back(event);
  DeviceTimes out;
  out.idle_before.resize(store.size());
  out.copies_around.resize(store.size());
  for (auto& [device, events] : devices) {
    std::ranges::sort(events, [&store](EventId a, EventId b) {
      return std::tuple(store.start(a), a) < std::tuple(store.start(b), b);
    });
    std::vector<Interval> work;
    std::optional<Nanos> last;
    Nanos copied;
    EventId last_kernel;
    for (const EventId event : events) {
      const Nanos start = store.start(event), end = start + store.duration(event);
      const Nanos from = last ? std::max(*last, start) : start;  // beside other work it costs less
      if (store.kind(event) == EventKind::kKernel) {
        if (copied > Nanos{}) out.copies_around[event.index] += copied;
        copied = {};
        last_kernel = event;
      } else if (is_copy(store, event, "HtoD") && from < end) {
        copied += end - from;
      } else if (is_copy(store, event, "DtoH") && from < end && last_kernel.valid()) {
        out.copies_around[last_kernel.index] += end - from;  // results of what ran before
      }
      if (last && *last < start) out.idle_before[event.index] = start - *last;
      last = last ? std::max(*last, end) : end;
      if (store.kind(event) == EventKind::kKernel && !input.selection.is_communication(event))
        work.push_back({start, end});
    }
    out.computation[device] = merge_intervals(std::move(work));
  }
  return out;
}

// No report needs more of a name, and a trace may repeat megabytes.
constexpr size_t kLongestName = 2000;

// Whether a kernel's name has a type that tensor cores take as it is.
bool names_narrow_type(std::string_view name) {
  for (const std::string_view type : {"__half", "c10::Half", "bfloat16", "BFloat16", "bf16", "fp16",
                                      "_f16", "__nv_fp8", "e4m3", "e5m2"}) {
    if (name.find(type) != std::string_view::npos) return true;
  }
  return false;
}

double median_micros(std::vector<Nanos> times) { return summarize(std::move(times)).median / 1e3; }

// The part of a collective's time in which its device computes nothing.
double exposed_share(const EventStore& store, const LaunchGroup& group, const DeviceTimes& times) {
  Nanos exposed;
  for (const EventId event : group.events) {
    const auto found = times.computation.find(store.gpu_work(event).device.value_or(0));
    Nanos at = store.start(event);
    const Nanos end = at + store.duration(event);
    const std::vector<Interval>& busy = found->second;
    auto next = std::ranges::upper_bound(busy, at, {}, &Interval::end);
    for (; next != busy.end() && next->begin < end; ++next) {
      if (next->begin > at) exposed += next->begin - at;
      at = std::max(at, next->end);
    }
    if (at < end) exposed += end - at;
  }
  return group.time.count > 0
             ? 100 * static_cast<double>(exposed.count) / static_cast<double>(group.time.count)
             : 0;
}

// Most device memory in use, from the recording of allocations. Managed memory may be there too.
std::optional<double> allocated_megabytes(const EventStore& store) {
  std::map<StringId, double> most;
  for (const CounterValue& value : store.counters()) {
    const std::string_view name = store.name(value.event);
    const bool is_device = name.starts_with("memory in use, GPU ") &&  // source text
                           (name.find(", Device") != std::string_view::npos ||
                            name.find(", Managed") != std::string_view::npos);
    if (!is_device) continue;
    double& so_far = most[store.name_id(value.event)];
    so_far = std::max(so_far, value.value);
  }
  if (most.empty()) return {};
  double sum = 0;
  for (const auto& [name, bytes] : most) sum += bytes;
  return sum / 1e6;
}

// Counted launches of one kernel and shape that took about the same time.
struct LikeLaunches {
  std::vector<CounterRowId> rows;
  double share = 1;   // of the time of all that were counted
  std::string which;  // empty: these are all
};

// A mean over launches that differ much is of none of them. Sorted by duration, a step of over 2 ×
// parts them; those that take the most time together are kept.
LikeLaunches like_launches(const CounterSet& set, std::vector<CounterRowId> rows) {
  constexpr int64_t kStep = 2;
  const auto nanos = [&set](CounterRowId row) { return set.row(row).duration->count; };
  const bool is_timed = std::ranges::all_of(
      rows, [&set](CounterRowId row) { return set.row(row).duration.has_value(); });
  if (!is_timed || rows.size() < 2) return {std::move(rows), 1, {}};
  std::vector<CounterRowId> sorted = rows;
  std::ranges::stable_sort(sorted, {}, nanos);
  double all = 0, most = -1, part = 0;
  size_t from = 0, begin = 0, end = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    all += static_cast<double>(nanos(sorted[i]));
    part += static_cast<double>(nanos(sorted[i]));
    const bool is_last = i + 1 == sorted.size();
    if (!is_last && nanos(sorted[i + 1]) / kStep <= nanos(sorted[i])) continue;
    if (part > most) std::tie(most, begin, end) = std::tuple(part, from, i + 1);
    from = i + 1;
    part = 0;
  }
  if (end - begin == sorted.size()) return {std::move(rows), 1, {}};
  LikeLaunches out;
  out.share = all > 0 ? most / all : 1;
  const double shortest = static_cast<double>(nanos(sorted[begin])) / 1e3,
               longest = static_cast<double>(nanos(sorted[end - 1])) / 1e3;
  out.which = fmt::format("{} of {} counted launches, {:.1f}–{:.1f} µs, {:.0f} % of their time",
                          end - begin, sorted.size(), shortest, longest, 100 * out.share);
  out.rows.assign(sorted.begin() + static_cast<std::ptrdiff_t>(begin),
                  sorted.begin() + static_cast<std::ptrdiff_t>(end));
  std::ranges::sort(out.rows);  // in the tool's order
  return out;
}

class ContextBuilder {
 public:
  ContextBuilder(const SheetInput& input, const Platform* platform, bool has_timeline)
      : input_(input),
        platform_(platform),
        has_timeline_(has_timeline),
        times_(has_timeline ? device_times(input) : DeviceTimes()) {
    if (const CounterJoin* join = input.kernels.counters()) {
      for (const CounterJoin::File& file : join->files()) readers_.emplace_back(file.file->set);
    }
    allocated_ = allocated_megabytes(input.store);
  }

  KernelContext make(const LaunchGroup& group, ListMissing list) const {
    KernelContext out;
    out.launch = group.launch;
    out.first = group.first;
    out.name = cut_to_bytes(input_.store.text(group.launch.name), kLongestName);
    out.traits = traits_of(group.launch.name, out.name);
    const KernelCode& code = input_.kernels.code(group.first);
    out.source = code.source;
    out.code_facts = code.facts;
    out.count = static_cast<int64_t>(group.events.size());
    out.time = group.time;
    add_trace_values(group, out);
    std::string capability;
    add_counters(group, out, capability);
    if (capability.empty()) capability = trace_capability(group);
    add_launch_values(group, capability, out);
    add_platform_values(out);
    add_derived_values(out.values);
    if (out.file.empty() && platform_ != nullptr && platform_->vendor == "AMD")
      out.tool = CountingTool::kRocprof;
    out.tested = test_hypotheses(out.values, out.tool, list);
    return out;
  }

 private:
  // One name has several shapes.
  const KernelTraits& traits_of(StringId id, std::string_view name) const {
    const auto [known, is_new] = traits_.try_emplace(id);
    if (is_new) known->second = kernel_traits(name);
    return known->second;
  }

  void add_trace_values(const LaunchGroup& group, KernelContext& out) const {
    out.values["runs"] = static_cast<double>(group.events.size());
    out.values["narrow_type"] = names_narrow_type(out.name) ? 1 : 0;
    const bool is_communication = input_.selection.is_communication(group.first);
    out.values["is_communication"] = is_communication ? 1 : 0;
    std::vector<Nanos> durations, idle, copies;
    for (const EventId event : group.events) durations.push_back(input_.store.duration(event));
    const double duration = median_micros(std::move(durations));
    // Of counted launches alone a duration may not be known.
    if (has_timeline_ || duration > 0) out.values["trace_duration_us"] = duration;
    if (!has_timeline_) return;
    for (const EventId event : group.events) {
      copies.push_back(times_.copies_around[event.index]);
      idle.push_back(times_.idle_before[event.index]);
    }
    out.values["idle_before_us"] = median_micros(std::move(idle));
    out.values["copies_around_us"] = median_micros(std::move(copies));
    if (is_communication) out.values["exposed_share"] = exposed_share(input_.store, group, times_);
    if (allocated_) out.values["allocated_mb"] = *allocated_;
  }

  // Of several files, the one with the most to tell.
  void add_counters(const LaunchGroup& group, KernelContext& out, std::string& capability) const {
    if (input_.kernels.counters() == nullptr) return;
    const CounterJoin& join = *input_.kernels.counters();
    for (size_t file = 0; file < join.files().size(); ++file) {
      const JoinedCounters& joined = join.find(file, group.launch);
      if (joined.quality == JoinQuality::kNone) continue;
      if (joined.quality == JoinQuality::kAmbiguous) {
        if (out.file.empty()) out.quality = JoinQuality::kAmbiguous;
        continue;
      }
      const CounterFile& counters = *join.files()[file].file;
      const LikeLaunches like = like_launches(counters.set, counted_rows(input_, joined));
      const std::vector<CounterRowId>& rows = like.rows;
      HardwareValues values = counter_values(counters.set, readers_[file], rows);
      const bool is_trusted = joined.slow_rows < joined.rows.size();
      const bool is_better = out.file.empty() || (is_trusted && !out.is_trusted) ||
                             (is_trusted == out.is_trusted && values.size() > counted_values_);
      if (!is_better) continue;
      counted_values_ = values.size();
      out.file = counters.name;
      out.quality = joined.quality;
      out.trust = trust_text(joined);
      out.is_trusted = is_trusted;
      capability = counters.set.origin().capability;
      out.tool = counting_tool(counters.set.origin());
      out.which = like.which;
      out.told_share = like.share;
      out.stalls = stalls_of(readers_[file], rows);
      chosen_ = std::move(values);
    }
    // Counters of another situation explain nothing.
    if (!out.file.empty() && out.is_trusted) {
      for (const auto& [name, value] : chosen_) out.values.insert_or_assign(name, value);
    }
    chosen_.clear();
    counted_values_ = 0;
  }

  static HardwareValues counter_values(const CounterSet& set, const CounterColumnReader& reader,
                                       const std::vector<CounterRowId>& rows) {
    std::map<std::string, std::pair<double, size_t>, std::less<>> sums;
    const auto add = [&sums](std::string_view name, double value) {
      auto& [sum, count] = sums[std::string(name)];
      sum += value;
      ++count;
    };
    for (const CounterRowId row : rows) {
      for (size_t i = 0; i < counter_columns().size(); ++i) {
        if (const auto value = reader.value(row, i)) add(counter_columns()[i].id, *value);
      }
      for (const auto& stall : reader.stalls(row, true))
        add("stall_" + std::string(stall.reason), 100 * stall.share);
      if (const auto duration = set.row(row).duration)
        add("duration_us", static_cast<double>(duration->count) / 1e3);
    }
    HardwareValues out;
    for (const auto& [name, sum] : sums) out[name] = sum.first / static_cast<double>(sum.second);
    return out;
  }

  static std::vector<std::pair<std::string, double>> stalls_of(
      const CounterColumnReader& reader, const std::vector<CounterRowId>& rows) {
    std::map<std::string, double> shares;
    size_t count = 0;
    for (const CounterRowId row : rows) {
      const auto stalls = reader.stalls(row);
      count += !stalls.empty();
      for (const auto& stall : stalls) shares[std::string(stall.reason)] += 100 * stall.share;
    }
    std::vector<std::pair<std::string, double>> out(shares.begin(), shares.end());
    for (auto& [reason, share] : out) share /= static_cast<double>(count);
    std::ranges::sort(out, [](const auto& a, const auto& b) {
      return std::tie(b.second, a.first) < std::tie(a.second, b.first);
    });
    return out;
  }

  const GpuProperties* gpu_of(const LaunchGroup& group) const {
    const auto& gpus = input_.store.metadata().gpus;
    const int64_t device = input_.store.gpu_work(group.first).device.value_or(0);
    for (const GpuProperties& gpu : gpus) {
      if (gpu.id == device) return &gpu;
    }
    return gpus.size() == 1 ? gpus.data() : nullptr;
  }

  std::string trace_capability(const LaunchGroup& group) const {
    const GpuProperties* gpu = gpu_of(group);
    if (gpu == nullptr || !gpu->compute_major || !gpu->compute_minor) return {};
    return fmt::format("{}.{}", *gpu->compute_major, *gpu->compute_minor);
  }

  void add_launch_values(const LaunchGroup& group, const std::string& capability,
                         KernelContext& out) const {
    const KernelLaunch& launch = group.launch;
    const std::optional<int64_t> blocks = total_of(launch.grid), threads = total_of(launch.block);
    if (blocks) out.values["grid_blocks"] = static_cast<double>(*blocks);
    if (threads) out.values["block_threads"] = static_cast<double>(*threads);
    if (launch.registers.value_or(0) > 0) out.values["registers"] = *launch.registers;
    if (launch.shared_memory) out.values["shared_bytes"] = *launch.shared_memory;
    const SmLimits* limits = sm_limits(capability);
    if (limits == nullptr || !threads || launch.registers.value_or(0) <= 0 || !launch.shared_memory)
      return;
    const auto occupancy =
        theoretical_occupancy(*limits, {*threads, *launch.registers, *launch.shared_memory});
    if (!occupancy) return;
    out.limiter = occupancy->limiter;
    out.values["theoretical_occupancy"] = occupancy->percent;
    const auto is_limiter = [&](OccupancyLimiter limiter) {
      return occupancy->limiter == limiter ? 1.0 : 0.0;
    };
    out.values["limited_by_registers"] = is_limiter(OccupancyLimiter::kRegisters);
    out.values["limited_by_shared"] = is_limiter(OccupancyLimiter::kShared);
    out.values["limited_by_block"] = is_limiter(OccupancyLimiter::kBlockSize);
    const GpuProperties* gpu = gpu_of(group);
    std::optional<int64_t> multiprocessors;
    if (gpu != nullptr) multiprocessors = gpu->multiprocessors;
    if (!multiprocessors && platform_ != nullptr) multiprocessors = platform_->compute_units;
    if (!blocks || !multiprocessors || *multiprocessors <= 0 || *blocks <= 0) return;
    const double waves =
        static_cast<double>(*blocks) / static_cast<double>(*multiprocessors * occupancy->blocks);
    out.values["waves"] = waves;
    out.values["full_waves"] = std::ceil(waves);
    // Blocks of a multiprocessor, largest over mean, if they are spread evenly.
    const double share = static_cast<double>(*blocks) / static_cast<double>(*multiprocessors);
    out.values["block_imbalance"] = std::ceil(share) / share;
  }

  void add_platform_values(KernelContext& out) const {
    if (platform_ == nullptr) return;
    if (platform_->boost_clock) out.values["boost_clock"] = *platform_->boost_clock;
    const auto peak = [this](std::string_view spec) -> std::optional<double> {
      const Rate* rate = platform_->find(spec);
      return rate == nullptr ? std::nullopt : rate->peak;
    };
    const std::optional<double> bandwidth = platform_->memory_bandwidth.peak;
    if (bandwidth) out.values["peak_bandwidth"] = *bandwidth;
    if (const auto matrix = peak("matrix_fp16")) out.values["peak_matrix"] = *matrix;
    if (const auto vector = peak("vector_fp32")) {
      out.values["peak_vector"] = *vector;
      if (bandwidth && *bandwidth > 0) out.values["vector_ridge"] = *vector / *bandwidth;
    }
  }

  const SheetInput& input_;
  const Platform* platform_;
  bool has_timeline_;
  DeviceTimes times_;
  std::vector<CounterColumnReader> readers_;
  std::optional<double> allocated_;
  mutable std::unordered_map<StringId, KernelTraits> traits_;
  mutable HardwareValues chosen_;
  mutable size_t counted_values_ = 0;
};

}  // namespace

std::optional<double> KernelContext::value(std::string_view value_name) const {
  const auto found = values.find(value_name);
  if (found == values.end()) return {};
  return found->second;
}

std::vector<KernelContext> kernel_contexts(const SheetInput& input, const Platform* platform,
                                           size_t limit, bool has_timeline) {
  if (input.kernels.counters() == nullptr) return {};
  return launch_contexts(input, platform, limit, has_timeline);
}

namespace {

// One name may be several kernels of the list, each with its own verdict: the shape tells which.
void tell_shapes_apart(std::vector<KernelContext>& kernels) {
  std::unordered_map<StringId, size_t> counted;
  for (const KernelContext& kernel : kernels) counted[kernel.launch.name] += !kernel.file.empty();
  const auto dims = [](const std::optional<Dim3>& d) {
    return d ? fmt::format("{}×{}×{}", d->x, d->y, d->z) : std::string("unknown");
  };
  for (KernelContext& kernel : kernels) {
    if (kernel.file.empty() || counted[kernel.launch.name] < 2) continue;
    std::string shape = fmt::format("launches with grid {}, block {}", dims(kernel.launch.grid),
                                    dims(kernel.launch.block));
    kernel.which = kernel.which.empty() ? shape : fmt::format("{}: {}", shape, kernel.which);
  }
}

}  // namespace

std::vector<KernelContext> launch_contexts(const SheetInput& input, const Platform* platform,
                                           size_t limit, bool has_timeline, size_t list_missing) {
  std::vector<KernelContext> out;
  const ContextBuilder builder(input, platform, has_timeline);
  for (const LaunchGroup& group : group_launches(input)) {
    if (out.size() == limit) break;
    out.push_back(
        builder.make(group, out.size() < list_missing ? ListMissing::kYes : ListMissing::kNo));
  }
  tell_shapes_apart(out);
  return out;
}

bool explains_kernel(const KernelContext& kernel, const TestedHypothesis& tested) {
  if (tested.verdict != Verdict::kConfirmed) return false;
  const std::vector<std::string_view>& values = tested.hypothesis->evidence;
  const auto rests_on = [&values](std::string_view name) {
    return std::ranges::find(values, name) != values.end();
  };
  // Waiting before a kernel is told as idle time, a collective's as exposed time.
  if (rests_on("idle_before_us") || rests_on("exposed_share")) return false;
  // A unit near its peak leaves no room for what the hypothesis predicts.
  constexpr double kNearPeak = 60;
  for (const std::string_view unit : {"sm_throughput", "tensor", "dram_throughput"}) {
    const double used = kernel.value(unit).value_or(0);
    if (used >= kNearPeak && !rests_on(unit) && tested.best && *tested.best < used / 100 - 0.02)
      return false;
  }
  return true;
}

std::vector<ConfirmedLimit> find_bottlenecks(const std::vector<KernelContext>& kernels) {
  std::vector<ConfirmedLimit> out;
  for (const KernelContext& kernel : kernels) {
    for (const TestedHypothesis& tested : kernel.tested) {
      if (tested.verdict != Verdict::kConfirmed) continue;
      const double saved = tested.best ? 1 - *tested.best : 0;
      double time = kernel.told_share * static_cast<double>(kernel.time.count);
      // Where the time before a kernel is part of what is left, it is part of what is saved.
      time += 1e3 * micros_before(*tested.hypothesis, kernel.values) *
              static_cast<double>(kernel.count);
      out.push_back({&kernel, &tested, Nanos{std::llround(saved * time)}});
    }
  }
  std::ranges::stable_sort(out, [](const ConfirmedLimit& a, const ConfirmedLimit& b) {
    return std::tuple(!a.tested->explained_by.empty(), b.saving) <
           std::tuple(!b.tested->explained_by.empty(), a.saving);
  });
  return out;
}

}  // namespace fathom
