#include "report/trial/sample_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/count_text.h"
#include "base/screen_text.h"

namespace fathom {
namespace {

struct ScaledUnit {
  double size;
  std::string_view name;
};

// Four digits, whatever the size.
std::string four_digits(double value) {
  const double size = std::abs(value);
  if (value == 0) return "0";
  if (size >= 1e7 || size < 1e-4) return fmt::format("{:.3e}", value);
  if (size >= 1000) return fmt::format("{:.0f}", value);
  if (size >= 100) return fmt::format("{:.1f}", value);
  if (size >= 10) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3f}", value);
}

std::string scaled(double value, std::span<const ScaledUnit> units) {
  for (const ScaledUnit& unit : units) {
    // A little less than 1, so that 999.99 µs is shown as 1.000 ms.
    if (std::abs(value) >= 0.99995 * unit.size)
      return fmt::format("{} {}", four_digits(value / unit.size), unit.name);
  }
  return fmt::format("{} {}", four_digits(value / units.back().size), units.back().name);
}

constexpr ScaledUnit kTimes[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}};
constexpr ScaledUnit kBytes[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}};
constexpr ScaledUnit kByteRates[] = {{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1, "B/s"}};
constexpr ScaledUnit kFlopRates[] = {
    {1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1e6, "MFLOP/s"}, {1, "FLOP/s"}};

}  // namespace

std::string measured_text(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "unknown";
  const bool has_unit = !unit.empty() && unit != "number" && unit != "status";
  if (value == 0) return has_unit ? fmt::format("0 {}", unit) : "0";
  if (unit == "s") return scaled(value, kTimes);
  if (unit == "B") return scaled(value, kBytes);
  if (unit == "B/s") return scaled(value, kByteRates);
  if (unit == "FLOP/s") return scaled(value, kFlopRates);
  const bool is_count = value == std::floor(value) && std::abs(value) < 1e15;
  const std::string number =
      is_count ? with_thousands(static_cast<int64_t>(value)) : four_digits(value);
  return has_unit ? fmt::format("{} {}", number, unit) : number;
}

std::string median_text(const SampleSummary& summary, std::string_view unit) {
  std::string median = measured_text(summary.p50, unit);
  if (!summary.interval) return median;
  return fmt::format("{} [{}, {}]", median, measured_text(summary.interval->low, unit),
                     measured_text(summary.interval->high, unit));
}

std::vector<std::string> histogram_lines(std::span<const double> values, std::string_view unit,
                                         size_t bins) {
  constexpr size_t kWidth = 40;
  const std::vector<HistogramBin> all = histogram(values, bins);
  size_t most = 1, widest = 0;
  std::vector<std::string> labels;
  for (const HistogramBin& bin : all) {
    most = std::max(most, bin.count);
    labels.push_back(
        fmt::format("{} … {}", measured_text(bin.low, unit), measured_text(bin.high, unit)));
    widest = std::max(widest, screen_width(labels.back()));
  }
  std::vector<std::string> lines;
  for (size_t i = 0; i < all.size(); ++i) {
    // A bar for every value, however few of many.
    const size_t length = all[i].count == 0 ? 0 : std::max<size_t>(1, all[i].count * kWidth / most);
    std::string bar;
    for (size_t k = 0; k < length; ++k) bar += "█";
    lines.push_back(
        fmt::format("{} │{} {}", fit_left(labels[i], widest), bar, number_text(all[i].count)));
  }
  return lines;
}

std::string faster_text(const SampleComparison& comparison) {
  if (comparison.verdict == SampleVerdict::kTooFew || !comparison.interval)
    return "not known: 95 % needs 4 runs of each";
  const SampleInterval& interval = *comparison.interval;
  if (!comparison.is_ratio) {
    return comparison.verdict == SampleVerdict::kNoDifference ||
                   comparison.verdict == SampleVerdict::kNotResolved
               ? std::string(sample_verdict_name(comparison.verdict))
               : fmt::format("differs by {} [{}, {}]", four_digits(comparison.estimate),
                             four_digits(interval.low), four_digits(interval.high));
  }
  switch (comparison.verdict) {
    case SampleVerdict::kLess:
      return fmt::format("{:.3f} × faster [{:.3f}, {:.3f}]", 1 / comparison.estimate,
                         1 / interval.high, 1 / interval.low);
    case SampleVerdict::kMore:
      return fmt::format("{:.3f} × slower [{:.3f}, {:.3f}]", comparison.estimate, interval.low,
                         interval.high);
    default:
      return fmt::format("{}{}time ratio {:.3f} [{:.3f}, {:.3f}]",
                         sample_verdict_name(comparison.verdict),
                         comparison.verdict == SampleVerdict::kNotResolved ? "; " : ": ",
                         comparison.estimate, interval.low, interval.high);
  }
}

std::string fit_text(const Fit& fit, std::string_view unit, std::string_view x_name) {
  std::string text;
  const std::string error = fit.b_error ? fmt::format(" (± {})", four_digits(*fit.b_error)) : "";
  switch (fit.kind) {
    case FitKind::kConstant:
      text = fmt::format("constant: {}", measured_text(fit.a, unit));
      return text + fmt::format(", largest residual {:.1f} %", 100 * fit.worst_share);
    case FitKind::kLinear:
      text = fmt::format("linear: {} {} {} · {}", measured_text(fit.a, unit), fit.b < 0 ? "−" : "+",
                         measured_text(std::abs(fit.b), unit), x_name);
      break;
    case FitKind::kPower:
      text =
          fmt::format("power: {} · {}^{:.3f}{}", measured_text(fit.a, unit), x_name, fit.b, error);
      break;
  }
  return text + fmt::format(", R² {:.4f}, largest residual {:.1f} %", fit.r_squared,
                            100 * fit.worst_share);
}

std::vector<std::string> sample_warnings(const SampleSummary& summary, std::string_view unit) {
  std::vector<std::string> warnings;
  if (summary.count < 6)
    warnings.push_back(
        fmt::format("{}: a 95 % interval of the median needs 6", counted(summary.count, "value")));
  if (summary.outliers > 0)
    warnings.push_back(fmt::format("{} of {} values {} far from the median", summary.outliers,
                                   summary.count, summary.outliers == 1 ? "is" : "are"));
  // A trend below a hundredth is no concern of anybody.
  if (summary.drift.is_significant && std::abs(summary.drift.change) > 0.01 * std::abs(summary.p50))
    warnings.push_back(fmt::format("drift over the run: {}{}", summary.drift.change < 0 ? "−" : "+",
                                   measured_text(std::abs(summary.drift.change), unit)));
  return warnings;
}

}  // namespace fathom
