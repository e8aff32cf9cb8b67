// Kernels with what is known of them in words and tables: kernels.csv, hypotheses.csv.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "measure/counter_columns.h"
#include "sheets/kernel_contexts.h"
#include "sheets/op_columns.h"

namespace fathom {
namespace {

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
  const std::string values = values_text(kernel, hypothesis.evidence);
  return kernel.which.empty() || values.empty() ? values
                                                : fmt::format("{}; {}", values, kernel.which);
}

std::string evidence_text(const KernelContext& kernel, const TestedHypothesis& tested) {
  if (tested.verdict == Verdict::kRejected) return values_text(kernel, tested.rejecting);
  return evidence_text(kernel, *tested.hypothesis);
}

std::string gain_text(const TestedHypothesis& tested) {
  if (!tested.best || *tested.best >= 1) return {};
  const double most = *tested.most_gain();
  return fmt::format("{:.2f}–{:.{}f} ×", *tested.least_gain(), most, most < 10 ? 2 : 0);
}

namespace {

// A metric with a column of its own.
struct ShownMetric {
  std::string_view name, header;
  Unit unit;
  double scale;
  Column* column = nullptr;
};

std::vector<ShownMetric> shown_metrics(const std::vector<KernelContext>& kernels) {
  std::vector<ShownMetric> shown = {
      {"registers", "Registers per thread", Unit::kNone, 1},
      {"shared_bytes", "Shared memory per block (B)", Unit::kNone, 1},
      {"theoretical_occupancy", "Theoretical occupancy (%)", Unit::kPercent, 1},
      {"occupancy", "Achieved occupancy (%)", Unit::kPercent, 1},
      {"sm_throughput", "SM throughput (%)", Unit::kPercent, 1},
      {"issue_percent", "Issue slots (%)", Unit::kPercent, 1},
      {"tensor", "Tensor pipe (%)", Unit::kPercent, 1},
      {"dram_throughput", "DRAM throughput (%)", Unit::kPercent, 1},
      {"dram_rate", "DRAM (GB/s)", Unit::kGigabytesPerSecond, 1},
      {"dram_mb", "DRAM (MB)", Unit::kMegabytes, 1},
      {"l1_hit", "L1 hit rate (%)", Unit::kPercent, 1},
      {"l2_hit", "L2 hit rate (%)", Unit::kPercent, 1},
      {"bytes_per_sector", "Used bytes per sector", Unit::kNone, 1},
      {"bank_conflicts", "Bank conflicts (%)", Unit::kPercent, 1},
      {"local_mb", "Local memory (MB)", Unit::kMegabytes, 1},
      {"flop", "Counted GFLOP", Unit::kNone, 1e-9},
      {"intensity", "FLOP per DRAM byte", Unit::kNone, 1},
      {"flop_rate", "TFLOP/s", Unit::kNone, 1e-12},
      {"waves", "Waves", Unit::kNone, 1},
      {"tail_loss", "Tail (%)", Unit::kPercent, 1},
      {"sm_imbalance", "SM cycles, largest over mean", Unit::kNone, 1},
      {"sm_clock", "SM clock (MHz)", Unit::kNone, 1e-6},
  };
  // Where used: few chips and few kernels have it.
  for (const ShownMetric& one :
       {ShownMetric{"tma_read", "Read by TMA (MB)", Unit::kMegabytes, 1},
        ShownMetric{"tma_written", "Written by TMA (MB)", Unit::kMegabytes, 1},
        ShownMetric{"nvlink_received", "NVLink received (MB)", Unit::kMegabytes, 1},
        ShownMetric{"nvlink_sent", "NVLink sent (MB)", Unit::kMegabytes, 1}}) {
    if (std::ranges::any_of(kernels, [&one](const KernelContext& kernel) {
          return kernel.value(one.name).value_or(0) > 0;
        }))
      shown.push_back(one);
  }
  return shown;
}

}  // namespace

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
  std::vector<ShownMetric> shown = shown_metrics(kernels);
  Column& limiter = table.text_column("Occupancy limited by");
  for (ShownMetric& one : shown) one.column = &table.real_column(std::string(one.header), one.unit);
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
    kernel.is_timed() ? time.add(kernel.time) : time.add_unknown();
    from.add(kernel.file);
    quality.add(quality_text(kernel.quality));
    text(trusted, kernel.trust);
    kernel.value("theoretical_occupancy") ? limiter.add(limiter_text(kernel.limiter))
                                          : limiter.add_unknown();
    for (const ShownMetric& one : shown) {
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
      kernel.is_timed() ? time.add(kernel.time) : time.add_unknown();
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
