#include "report/kernel_hardware.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/ascii.h"
#include "report/markdown.h"
#include "report/roofline_drawing.h"
#include "report/svg.h"

namespace fathom {
namespace {

constexpr size_t kStallBars = 8;

struct Row {
  std::string_view name, title;
  double scale = 1;
  std::string_view unit;
};
// What a page shows of a kernel, in this order.
constexpr Row kRows[] = {
    {"trace_duration_us", "Duration, median in the trace", 1, "µs"},
    {"duration_us", "Duration of the counted run", 1, "µs"},
    {"occupancy", "Achieved occupancy", 1, "%"},
    {"theoretical_occupancy", "Theoretical occupancy", 1, "%"},
    {"registers", "Registers per thread", 1, ""},
    {"shared_bytes", "Shared memory per block", 1, "B"},
    {"waves", "Waves", 1, ""},
    {"tail_loss", "Lost in the last wave", 1, "%"},
    {"sm_imbalance", "Active cycles of an SM, largest over mean", 1, ""},
    {"sm_throughput", "SM throughput", 1, "%"},
    {"issue_percent", "Issue slots used", 1, "%"},
    {"tensor", "Tensor pipe", 1, "%"},
    {"dram_throughput", "DRAM throughput", 1, "%"},
    {"dram_rate", "DRAM bandwidth", 1, "GB/s"},
    {"l2_throughput", "L2 throughput", 1, "%"},
    {"l1_hit", "L1 hit rate", 1, "%"},
    {"l2_hit", "L2 hit rate", 1, "%"},
    {"bytes_per_sector", "Used bytes of a 32-byte sector", 1, "B"},
    {"bank_conflicts", "Bank conflicts, of shared wavefronts", 1, "%"},
    {"local_mb", "Local memory (spills, arrays)", 1, "MB"},
    {"tma_read", "Read by TMA", 1, "MB"},
    {"tma_written", "Written by TMA", 1, "MB"},
    {"nvlink_received", "NVLink, received", 1, "MB"},
    {"nvlink_sent", "NVLink, sent", 1, "MB"},
    {"flop", "FLOP counted", 1e-9, "GFLOP"},
    {"dram_mb", "DRAM bytes counted", 1, "MB"},
    {"intensity", "Intensity", 1, "FLOP/B"},
    {"flop_rate", "Achieved", 1e-12, "TFLOP/s"},
    {"sm_clock", "SM clock", 1e-6, "MHz"},
    {"clock_share", "Of boost clock", 1, "%"},
};

std::string needs_text(const TestedHypothesis& tested) {
  std::string out;
  for (const std::string_view name : tested.missing)
    out += fmt::format("{}{}", out.empty() ? "" : "; ", value_header(name));
  return out;
}

std::string gain_cell(const TestedHypothesis& tested) {
  std::string range = gain_text(tested);
  if (!range.empty()) return range;
  if (tested.best) return "none";
  std::string out = "not known";
  if (!tested.missing.empty()) out += "; needs " + needs_text(tested);
  if (!tested.command.empty()) out += fmt::format(": `{}`", tested.command);
  return out;
}

}  // namespace

std::string context_table(const KernelContext& kernel) {
  std::string out = "| | value |\n|---|---:|\n";
  for (const Row& row : kRows) {
    const auto value = kernel.value(row.name);
    if (!value) continue;
    const double shown = *value * row.scale;
    out += fmt::format("| {} | {:.{}f} {} |\n", row.title, shown,
                       shown == std::floor(shown) ? 0 : (std::fabs(shown) < 10 ? 2 : 1), row.unit);
  }
  if (kernel.value("theoretical_occupancy"))
    out += fmt::format("| Occupancy limited by | {} |\n", limiter_text(kernel.limiter));
  return out;
}

std::string hypothesis_tables(const KernelContext& kernel) {
  std::string confirmed, untested, rejected;
  for (const TestedHypothesis& tested : kernel.tested) {
    const Hypothesis& hypothesis = *tested.hypothesis;
    const std::string evidence = evidence_text(kernel, tested);  // names are the data's own
    if (tested.verdict == Verdict::kConfirmed) {
      confirmed +=
          fmt::format("| **{}** | {} | {} | {} |\n", hypothesis.title, evidence, gain_cell(tested),
                      gain_text(tested).empty() ? hypothesis.advice : hypothesis.fix);
    } else if (tested.verdict == Verdict::kRejected) {
      rejected += fmt::format("| {} | {} |\n", hypothesis.title, evidence);
    } else {
      untested += fmt::format("| {} | {} | {} |\n", hypothesis.title, needs_text(tested),
                              tested.command.empty() ? "" : "`" + tested.command + "`");
    }
  }
  std::string out;
  if (confirmed.empty())
    out += "None is confirmed by the counters.\n";
  else
    out += "| confirmed | evidence | predicted speed-up | try |\n|---|---|---|---|\n" + confirmed;
  if (!untested.empty()) out += "\n| untested | needs | command |\n|---|---|---|\n" + untested;
  if (!untested.empty() && kernel.tool == CountingTool::kRocprof)
    out += "\nFor those without a command AMD's tools have no counter that Fathom reads.\n";
  if (!rejected.empty()) out += "\n| rejected | evidence |\n|---|---|\n" + rejected;
  return out;
}

std::string roofline_text(const KernelContext& kernel) {
  const auto intensity = kernel.value("intensity"), rate = kernel.value("flop_rate"),
             bandwidth = kernel.value("peak_bandwidth"), vector = kernel.value("peak_vector"),
             matrix = kernel.value("peak_matrix");
  if (!intensity || !rate || *intensity <= 0 || *rate <= 0) return {};
  std::string out = fmt::format("{:.3g} FLOP/B at {}", *intensity, flop_rate_text(*rate));
  if (!bandwidth || !vector) return out;
  // Which roof of arithmetic holds depends on what computes.
  const bool on_tensor = kernel.value("tensor_flop").value_or(0) > 0 && matrix;
  const double compute = on_tensor ? *matrix : *vector, memory = *intensity * *bandwidth;
  return out + fmt::format(", {:.0f} % of the {} roof ({})",
                           100 * *rate / std::min(compute, memory),
                           memory < compute ? "memory"
                           : on_tensor      ? "tensor FP16"
                                            : "FP32",
                           flop_rate_text(std::min(compute, memory)));
}

std::string stalls_line(const KernelContext& kernel, size_t most) {
  std::string out;
  for (size_t i = 0; i < std::min(kernel.stalls.size(), most); ++i) {
    out += fmt::format("{}{} {:.0f} %", i > 0 ? ", " : "", kernel.stalls[i].first,
                       kernel.stalls[i].second);
  }
  return out;
}

std::string roofline_svg(const KernelContext& kernel) {
  const auto intensity = kernel.value("intensity"), rate = kernel.value("flop_rate");
  const auto bandwidth = kernel.value("peak_bandwidth"), matrix = kernel.value("peak_matrix"),
             vector = kernel.value("peak_vector");
  if (!intensity || !rate || !bandwidth || !vector || *intensity <= 0 || *rate <= 0) return {};
  Roofline roofline{
      *bandwidth,
      fmt::format("DRAM {:.3g} TB/s (peak)", *bandwidth / 1e12),
      {{"FP32", *vector}},
      {{*intensity, *rate, 5, fmt::format("{:.3g} FLOP/B, {}", *intensity, flop_rate_text(*rate))}},
      "FLOP per byte of DRAM, both counted",
      {}};
  if (matrix && *matrix > *vector) roofline.roofs.push_back({"tensor FP16", *matrix});
  return roofline_drawing(roofline);
}

std::string stalls_svg(const KernelContext& kernel) {
  if (kernel.stalls.empty()) return {};
  const size_t count = std::min(kernel.stalls.size(), kStallBars);
  constexpr int kWidth = 560, kBar = 22, kLeft = 150, kSpace = 330;
  std::string out = svg_begin(kWidth, static_cast<int>(count) * kBar + 40);
  out += "<text x=\"10\" y=\"18\">Why warps did not issue, percent of warp states</text>\n";
  for (size_t i = 0; i < count; ++i) {
    const auto& [reason, share] = kernel.stalls[i];
    const int top = 30 + static_cast<int>(i) * kBar;
    std::string plain;
    for (const char c : reason.substr(0, 40)) {
      plain += is_word_character(c) || c == ' ' ? c : '?';
    }
    out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kLeft - 8,
                       top + 15, plain);
    out +=
        fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"#4a7ab5\"/>\n",
                    kLeft, top + 2, std::clamp(share, 0.0, 100.0) / 100 * kSpace, kBar - 4);
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{:.0f} %</text>\n",
                       kLeft + std::clamp(share, 0.0, 100.0) / 100 * kSpace + 6, top + 15, share);
  }
  return out + "</svg>\n";
}

}  // namespace fathom
