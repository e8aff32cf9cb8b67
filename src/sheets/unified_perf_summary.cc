#include <algorithm>
#include <unordered_map>

#include "events/statistics.h"
#include "sheets/kernel_details.h"
#include "sheets/op_columns.h"
#include "sheets/sheets.h"
#include "sheets/unified_ops.h"

namespace fathom {
namespace {

struct Group {
  OpKey key;
  int64_t uid;
  bool has_model;
  std::vector<Nanos> cpu, gpu;
  std::vector<std::span<const EventId>> kernels;
  TimeStatistics cpu_stats, gpu_stats;
};

std::vector<Group> group_ops(const SheetInput& input, const std::vector<UnifiedOp>& ops) {
  std::vector<Group> groups;
  std::unordered_map<OpKey, size_t, OpKeyHash> index;
  for (const UnifiedOp& op : ops) {
    const OpKey key = op_key(input.store, op.event, op.name, op.category);
    const auto [found, is_new] = index.try_emplace(key, groups.size());
    if (is_new) groups.push_back({found->first, op.uid, op.has_model, {}, {}, {}, {}, {}});
    Group& group = groups[found->second];
    group.cpu.push_back(input.store.duration(op.event));
    group.gpu.push_back(busy_time(input.store, op.kernels));
    group.kernels.emplace_back(op.kernels);
  }
  for (Group& g : groups) {
    g.cpu_stats = summarize(std::move(g.cpu));
    g.gpu_stats = summarize(std::move(g.gpu));
  }
  std::ranges::sort(groups, [](const Group& a, const Group& b) {
    return std::tie(b.gpu_stats.sum, a.uid) < std::tie(a.gpu_stats.sum, b.uid);
  });
  return groups;
}

// Filled by cost models; unknown until an op has one.
std::vector<Column*> add_rate_columns(Table& table, std::initializer_list<const char*> suffixes) {
  std::vector<Column*> columns;
  for (const char* rate : {"TB/s", "TFLOPS/s"}) {
    for (const char* suffix : suffixes)
      columns.push_back(&table.real_column(std::string(rate) + suffix));
  }
  return columns;
}

}  // namespace

Table unified_perf_summary_sheet(const SheetInput& input, const std::vector<Launcher>& launchers) {
  const std::vector<UnifiedOp> ops = find_unified_ops(input, launchers);
  const std::vector<Group> groups = group_ops(input, ops);
  Nanos whole;
  for (const Group& g : groups) whole += g.gpu_stats.sum;

  Table table("unified_perf_summary");
  OpKeyColumns keys(table);
  Column& example = table.count_column("ex_UID");
  Column& count = table.count_column("operation_count");
  Column& cpu_sum = table.time_column("total_duration_us", Unit::kMicros);
  Column& cpu_mean = table.real_column("mean_duration_us", Unit::kMicros);
  Column& cpu_std = table.real_column("std_duration_us", Unit::kMicros);
  std::vector<Column*> unknown = {
      &table.real_column("GFLOPS"), &table.real_column("Data Moved (MB)", Unit::kMegabytes),
      &table.real_column("FLOPS/Byte"), &table.text_column("Compute Spec")};
  const auto add_unknown_rates = [&](std::initializer_list<const char*> suffixes) {
    for (Column* column : add_rate_columns(table, suffixes)) unknown.push_back(column);
  };
  add_unknown_rates({"_mean", "_std"});
  Column& gpu_mean = table.real_column("Kernel Time (µs)_mean", Unit::kMicros);
  Column& gpu_std = table.real_column("Kernel Time (µs)_std", Unit::kMicros);
  Column& gpu_sum = table.time_column("Kernel Time (µs)_sum", Unit::kMicros);
  Column& cpu_median = table.real_column("duration_us_median", Unit::kMicros);
  Column& cpu_min = table.time_column("duration_us_min", Unit::kMicros);
  Column& cpu_max = table.time_column("duration_us_max", Unit::kMicros);
  add_unknown_rates({"_median", "_min", "_max"});
  Column& gpu_median = table.real_column("Kernel Time (µs)_median", Unit::kMicros);
  Column& gpu_min = table.time_column("Kernel Time (µs)_min", Unit::kMicros);
  Column& gpu_max = table.time_column("Kernel Time (µs)_max", Unit::kMicros);
  Column& details = table.text_column("kernel_details_summary");
  Column& truncated = table.text_column("trunc_kernel_details");
  unknown.push_back(&table.text_column("perf_params"));
  Column& has_model = table.text_column("has_perf_model");
  PercentColumns percent(table, whole);

  const auto add_deviation = [](Column& column, const TimeStatistics& s) {
    s.sample_deviation ? column.add(nanos_to_micros(*s.sample_deviation)) : column.add_unknown();
  };
  for (const Group& g : groups) {
    keys.add(input.store, g.key);
    example.add(g.uid);
    count.add(static_cast<int64_t>(g.cpu_stats.count));
    cpu_sum.add(g.cpu_stats.sum);
    cpu_mean.add(nanos_to_micros(g.cpu_stats.mean));
    add_deviation(cpu_std, g.cpu_stats);
    gpu_mean.add(nanos_to_micros(g.gpu_stats.mean));
    add_deviation(gpu_std, g.gpu_stats);
    gpu_sum.add(g.gpu_stats.sum);
    cpu_median.add(nanos_to_micros(g.cpu_stats.median));
    cpu_min.add(g.cpu_stats.min);
    cpu_max.add(g.cpu_stats.max);
    gpu_median.add(nanos_to_micros(g.gpu_stats.median));
    gpu_min.add(g.gpu_stats.min);
    gpu_max.add(g.gpu_stats.max);
    const std::vector<KernelDetail> kernels = summarize_kernels(input.store, g.kernels);
    details.add(kernel_details_json(kernels));
    truncated.add(truncated_kernel_details_json(kernels));
    has_model.add(std::string_view(g.has_model ? "True" : "False"));
    percent.add(g.gpu_stats.sum);
    for (Column* column : unknown) column->add_unknown();
  }
  return table;
}

}  // namespace fathom
