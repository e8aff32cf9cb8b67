#include "sheets/kernel_contexts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/utf8.h"
#include "events/intervals.h"
#include "events/statistics.h"
#include "measure/counter_columns.h"
#include "sheets/op_columns.h"

namespace fathom {
namespace {

// What the order of events on each device says of single events.
struct DeviceTimes {
  std::map<EventId, Nanos> idle_before;  // of those with any
  // Of kernels: copies to the device since the one before it, and to the host until the next.
  std::map<EventId, Nanos> copies_around;
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
        if (copied > Nanos{}) out.copies_around[event] += copied;
        copied = {};
        last_kernel = event;
      } else if (is_copy(store, event, "HtoD") && from < end) {
        copied += end - from;
      } else if (is_copy(store, event, "DtoH") && from < end && last_kernel.valid()) {
        out.copies_around[last_kernel] += end - from;  // results of what ran before
      }
      if (last && *last < start) out.idle_before[event] = start - *last;
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

  KernelContext make(const LaunchGroup& group) const {
    KernelContext out;
    out.launch = group.launch;
    out.first = group.first;
    out.name = cut_to_bytes(input_.store.text(group.launch.name), kLongestName);
    out.traits = kernel_traits(out.name);
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
    out.tested = test_hypotheses(out.values);
    return out;
  }

 private:
  void add_trace_values(const LaunchGroup& group, KernelContext& out) const {
    out.values["runs"] = static_cast<double>(group.events.size());
    out.values["narrow_type"] = names_narrow_type(out.name) ? 1 : 0;
    const bool is_communication = input_.selection.is_communication(group.first);
    out.values["is_communication"] = is_communication ? 1 : 0;
    if (!has_timeline_) return;
    std::vector<Nanos> durations, idle, copies;
    for (const EventId event : group.events) {
      const auto copied = times_.copies_around.find(event);
      copies.push_back(copied == times_.copies_around.end() ? Nanos{} : copied->second);
      durations.push_back(input_.store.duration(event));
      const auto found = times_.idle_before.find(event);
      idle.push_back(found == times_.idle_before.end() ? Nanos{} : found->second);
    }
    out.values["trace_duration_us"] = median_micros(std::move(durations));
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
      const std::vector<CounterRowId> rows = counted_rows(input_, joined);
      const CounterFile& counters = *join.files()[file].file;
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
  mutable HardwareValues chosen_;
  mutable size_t counted_values_ = 0;
};

std::string number_text(double value) {
  const double size = std::fabs(value);
  if (size >= 1e12) return fmt::format("{:.2f} T", value / 1e12);
  if (size >= 1e9) return fmt::format("{:.2f} G", value / 1e9);
  if (size >= 1e6) return fmt::format("{:.2f} M", value / 1e6);
  if (size >= 100 || value == std::floor(value)) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}", value, size >= 10 ? 1 : 2);
}

void add_dims(Column& column, const std::optional<Dim3>& d) {
  d ? column.add(fmt::format("({}, {}, {})", d->x, d->y, d->z)) : column.add_unknown();
}

std::string values_text(const KernelContext& kernel, const std::vector<std::string_view>& names) {
  std::string out;
  for (const std::string_view name : names) {
    const auto value = kernel.value(name);
    if (!value) continue;
    const std::string_view unit = value_unit(name);
    if (unit == kYesOrNoUnit) {
      out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", value_title(name),
                         *value != 0 ? "yes" : "no");
      continue;
    }
    const std::string number = number_text(*value);
    // "1.95 GHz", "87.1 %"
    const bool has_prefix = std::string_view("TGM").find(number.back()) != std::string_view::npos;
    out += fmt::format("{}{} {}{}{}", out.empty() ? "" : ", ", value_title(name), number,
                       unit.empty() || has_prefix ? "" : " ", unit);
  }
  return out;
}

}  // namespace

std::optional<double> KernelContext::value(std::string_view which) const {
  const auto found = values.find(which);
  if (found == values.end()) return {};
  return found->second;
}

std::vector<KernelContext> kernel_contexts(const SheetInput& input, const Platform* platform,
                                           size_t limit, bool has_timeline) {
  if (input.kernels.counters() == nullptr) return {};
  return launch_contexts(input, platform, limit, has_timeline);
}

std::vector<KernelContext> launch_contexts(const SheetInput& input, const Platform* platform,
                                           size_t limit, bool has_timeline) {
  std::vector<KernelContext> out;
  const ContextBuilder builder(input, platform, has_timeline);
  for (const LaunchGroup& group : group_launches(input)) {
    if (out.size() == limit) break;
    out.push_back(builder.make(group));
  }
  return out;
}

std::vector<ConfirmedLimit> find_bottlenecks(const std::vector<KernelContext>& kernels) {
  std::vector<ConfirmedLimit> out;
  for (const KernelContext& kernel : kernels) {
    for (const TestedHypothesis& tested : kernel.tested) {
      if (tested.verdict != Verdict::kConfirmed) continue;
      const double saved = tested.best ? 1 - *tested.best : 0;
      double time = static_cast<double>(kernel.time.count);
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

std::string_view limiter_text(OccupancyLimiter limiter) {
  switch (limiter) {
    case OccupancyLimiter::kNone:
      return "none";
    case OccupancyLimiter::kRegisters:
      return "registers";
    case OccupancyLimiter::kShared:
      return "shared memory";
    case OccupancyLimiter::kBlockSize:
      return "block size";
  }
  return "";
}

std::string_view verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kConfirmed:
      return "confirmed";
    case Verdict::kRejected:
      return "rejected";
    case Verdict::kUntested:
      return "untested";
  }
  return "";
}

std::string evidence_text(const KernelContext& kernel, const Hypothesis& hypothesis) {
  return values_text(kernel, hypothesis.evidence);
}

std::string evidence_text(const KernelContext& kernel, const TestedHypothesis& tested) {
  return values_text(kernel, tested.verdict == Verdict::kRejected ? tested.rejecting
                                                                  : tested.hypothesis->evidence);
}

std::string gain_text(const TestedHypothesis& tested) {
  if (!tested.best || *tested.best >= 1) return {};
  const double most = *tested.most_gain();
  return fmt::format("{:.2f}–{:.{}f} ×", *tested.least_gain(), most, most < 10 ? 2 : 0);
}

Table kernels_sheet(const std::vector<KernelContext>& kernels) {
  Table table("kernels");
  Column& name = table.text_column("Kernel name");
  Column& grid = table.text_column("Grid");
  Column& block = table.text_column("Block");
  Column& family = table.text_column("Family");
  Column& tile = table.text_column("Tile");
  Column& dtype = table.text_column("Data type");
  Column& layout = table.text_column("Layout");
  Column& count = table.count_column("Count");
  Column& time = table.time_column("Time (µs)", Unit::kMicros);
  Column& from = table.text_column("Counters from");
  Column& quality = table.text_column("Join");
  Column& trusted = table.text_column("Trusted");
  struct Shown {
    std::string_view name, header;
    Unit unit;
    double scale;
    Column* column;
  };
  std::vector<Shown> shown = {
      {"registers", "Registers per thread", Unit::kNone, 1, nullptr},
      {"shared_bytes", "Shared memory per block (B)", Unit::kNone, 1, nullptr},
      {"theoretical_occupancy", "Theoretical occupancy (%)", Unit::kPercent, 1, nullptr},
      {"occupancy", "Achieved occupancy (%)", Unit::kPercent, 1, nullptr},
      {"sm_throughput", "SM throughput (%)", Unit::kPercent, 1, nullptr},
      {"issue_percent", "Issue slots (%)", Unit::kPercent, 1, nullptr},
      {"tensor", "Tensor pipe (%)", Unit::kPercent, 1, nullptr},
      {"dram_throughput", "DRAM throughput (%)", Unit::kPercent, 1, nullptr},
      {"dram_rate", "DRAM (GB/s)", Unit::kGigabytesPerSecond, 1, nullptr},
      {"dram_mb", "DRAM (MB)", Unit::kMegabytes, 1, nullptr},
      {"l1_hit", "L1 hit rate (%)", Unit::kPercent, 1, nullptr},
      {"l2_hit", "L2 hit rate (%)", Unit::kPercent, 1, nullptr},
      {"bytes_per_sector", "Used bytes per sector", Unit::kNone, 1, nullptr},
      {"bank_conflicts", "Bank conflicts (%)", Unit::kPercent, 1, nullptr},
      {"local_mb", "Local memory (MB)", Unit::kMegabytes, 1, nullptr},
      {"flop", "Counted GFLOP", Unit::kNone, 1e-9, nullptr},
      {"intensity", "FLOP per DRAM byte", Unit::kNone, 1, nullptr},
      {"flop_rate", "TFLOP/s", Unit::kNone, 1e-12, nullptr},
      {"waves", "Waves", Unit::kNone, 1, nullptr},
      {"tail_loss", "Tail (%)", Unit::kPercent, 1, nullptr},
      {"sm_imbalance", "SM cycles, largest over mean", Unit::kNone, 1, nullptr},
      {"sm_clock", "SM clock (MHz)", Unit::kNone, 1e-6, nullptr},
  };
  // Where used: few chips and few kernels have it.
  for (const Shown& one :
       {Shown{"tma_read", "Read by TMA (MB)", Unit::kMegabytes, 1, nullptr},
        Shown{"tma_written", "Written by TMA (MB)", Unit::kMegabytes, 1, nullptr},
        Shown{"nvlink_received", "NVLink received (MB)", Unit::kMegabytes, 1, nullptr},
        Shown{"nvlink_sent", "NVLink sent (MB)", Unit::kMegabytes, 1, nullptr}}) {
    if (std::ranges::any_of(kernels, [&one](const KernelContext& kernel) {
          return kernel.value(one.name).value_or(0) > 0;
        }))
      shown.push_back(one);
  }
  Column& limiter = table.text_column("Occupancy limited by");
  for (Shown& one : shown) one.column = &table.real_column(std::string(one.header), one.unit);
  Column& stalls = table.text_column("Top stall reasons");
  Column& confirmed = table.text_column("Confirmed");
  Column& gain = table.text_column("Predicted speed-up");
  const bool has_source = std::ranges::any_of(
      kernels, [](const KernelContext& kernel) { return !kernel.source.empty(); });
  Column* source = has_source ? &table.text_column("Source") : nullptr;
  for (const KernelContext& kernel : kernels) {
    if (kernel.file.empty()) continue;
    const auto text = [](Column& column, std::string_view cell) {
      cell.empty() ? column.add_unknown() : column.add(cell);
    };
    name.add(kernel.name);
    add_dims(grid, kernel.launch.grid);
    add_dims(block, kernel.launch.block);
    text(family, kernel.traits.family);
    text(tile, kernel.traits.tile);
    text(dtype, kernel.traits.dtype);
    text(layout, kernel.traits.layout);
    count.add(kernel.count);
    time.add(kernel.time);
    from.add(kernel.file);
    quality.add(quality_text(kernel.quality));
    text(trusted, kernel.trust);
    kernel.value("theoretical_occupancy") ? limiter.add(limiter_text(kernel.limiter))
                                          : limiter.add_unknown();
    for (const Shown& one : shown) {
      const auto value = kernel.value(one.name);
      value ? one.column->add(*value * one.scale) : one.column->add_unknown();
    }
    std::string reasons, ids, gains;
    for (size_t i = 0; i < std::min<size_t>(kernel.stalls.size(), 3); ++i) {
      reasons += fmt::format("{}{} {:.0f} %", i > 0 ? ", " : "", kernel.stalls[i].first,
                             kernel.stalls[i].second);
    }
    for (const TestedHypothesis& tested : kernel.tested) {
      if (tested.verdict != Verdict::kConfirmed) continue;
      ids += fmt::format("{}{}", ids.empty() ? "" : ", ", tested.hypothesis->id);
      const std::string range = gain_text(tested);
      gains += fmt::format("{}{}", gains.empty() ? "" : ", ", range.empty() ? "-" : range);
    }
    text(stalls, reasons);
    text(confirmed, ids);
    text(gain, gains);
    if (source != nullptr) text(*source, kernel.source);
  }
  return table;
}

Table hypotheses_sheet(const std::vector<KernelContext>& kernels, size_t limit) {
  Table table("hypotheses");
  Column& name = table.text_column("Kernel name");
  Column& grid = table.text_column("Grid");
  Column& block = table.text_column("Block");
  Column& time = table.time_column("Time (µs)", Unit::kMicros);
  Column& hypothesis = table.text_column("Hypothesis");
  Column& verdict = table.text_column("Verdict");
  Column& evidence = table.text_column("Evidence");
  Column& low = table.real_column("Speed-up, least");
  Column& high = table.real_column("Speed-up, most");
  Column& missing = table.text_column("Missing");
  Column& command = table.text_column("Command");
  for (size_t i = 0; i < std::min(limit, kernels.size()); ++i) {
    const KernelContext& kernel = kernels[i];
    for (const TestedHypothesis& tested : kernel.tested) {
      name.add(kernel.name);
      add_dims(grid, kernel.launch.grid);
      add_dims(block, kernel.launch.block);
      time.add(kernel.time);
      hypothesis.add(tested.hypothesis->id);
      verdict.add(verdict_text(tested.verdict));
      const std::string shown = evidence_text(kernel, tested);
      shown.empty() ? evidence.add_unknown() : evidence.add(shown);
      low.add(tested.least_gain());
      high.add(tested.most_gain());
      std::string names;
      for (const std::string_view one : tested.missing)
        names += fmt::format("{}{}", names.empty() ? "" : "; ", value_header(one));
      names.empty() ? missing.add_unknown() : missing.add(names);
      tested.command.empty() ? command.add_unknown() : command.add(tested.command);
    }
  }
  return table;
}

}  // namespace fathom
