#include "sheets/cost_columns.h"
#include "sheets/kernel_details.h"
#include "sheets/sheets.h"

namespace fathom {

Table unified_perf_summary_sheet(const SheetInput& input, const MeasuredOps& ops) {
  Table table("unified_perf_summary");
  OpKeyColumns keys(table);
  Column& example = table.count_column("ex_UID");
  Column& count = table.count_column("operation_count");
  Column& cpu_sum = table.time_column("total_duration_us", Unit::kMicros);
  Column& cpu_mean = table.real_column("mean_duration_us", Unit::kMicros);
  Column& cpu_std = table.real_column("std_duration_us", Unit::kMicros);
  CostColumns costs(table, "");
  Column& spec = table.text_column("Compute Spec");
  RateColumns bandwidth(table, "TB/s"), throughput(table, "TFLOPS/s");
  bandwidth.declare({"_mean", "_std"});
  throughput.declare({"_mean", "_std"});
  Column& gpu_mean = table.real_column("Kernel Time (µs)_mean", Unit::kMicros);
  Column& gpu_std = table.real_column("Kernel Time (µs)_std", Unit::kMicros);
  Column& gpu_sum = table.time_column("Kernel Time (µs)_sum", Unit::kMicros);
  Column& cpu_median = table.real_column("duration_us_median", Unit::kMicros);
  Column& cpu_min = table.time_column("duration_us_min", Unit::kMicros);
  Column& cpu_max = table.time_column("duration_us_max", Unit::kMicros);
  bandwidth.declare({"_median", "_min", "_max"});
  throughput.declare({"_median", "_min", "_max"});
  Column& gpu_median = table.real_column("Kernel Time (µs)_median", Unit::kMicros);
  Column& gpu_min = table.time_column("Kernel Time (µs)_min", Unit::kMicros);
  Column& gpu_max = table.time_column("Kernel Time (µs)_max", Unit::kMicros);
  Column& details = table.text_column("kernel_details_summary");
  Column& truncated = table.text_column("trunc_kernel_details");
  Column& params = table.text_column("perf_params");
  Column& has_model = table.text_column("has_perf_model");
  PercentColumns percent(table, ops.total());

  const auto add_deviation = [](Column& column, const TimeStatistics& s) {
    s.sample_deviation ? column.add(nanos_to_micros(*s.sample_deviation)) : column.add_unknown();
  };
  for (const OpGroup& g : ops.groups()) {
    keys.add(input.store, g.key);
    example.add(g.first().uid);
    count.add(static_cast<int64_t>(g.cpu.count));
    cpu_sum.add(g.cpu.sum);
    cpu_mean.add(nanos_to_micros(g.cpu.mean));
    add_deviation(cpu_std, g.cpu);
    gpu_mean.add(nanos_to_micros(g.gpu.mean));
    add_deviation(gpu_std, g.gpu);
    gpu_sum.add(g.gpu.sum);
    cpu_median.add(nanos_to_micros(g.cpu.median));
    cpu_min.add(g.cpu.min);
    cpu_max.add(g.cpu.max);
    gpu_median.add(nanos_to_micros(g.gpu.median));
    gpu_min.add(g.gpu.min);
    gpu_max.add(g.gpu.max);
    const std::vector<KernelDetail> kernels = summarize_kernels(input.store, kernels_of(g.calls));
    details.add(kernel_details_json(kernels));
    truncated.add(truncated_kernel_details_json(kernels));
    costs.add(g.cost);
    g.cost && !g.cost->spec.empty() ? spec.add(g.cost->spec) : spec.add_unknown();
    bandwidth.add(g.cost ? tera_rates(g.cost->bytes, g.gpu_times) : std::nullopt);
    throughput.add(g.cost ? tera_rates(g.cost->flops, g.gpu_times) : std::nullopt);
    g.cost ? params.add(params_json(*g.cost)) : params.add_unknown();
    has_model.add(std::string_view(g.cost ? "True" : "False"));
    percent.add(g.gpu.sum);
  }
  return table;
}

}  // namespace fathom
