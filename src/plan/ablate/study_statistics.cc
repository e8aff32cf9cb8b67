#include <algorithm>
#include <cmath>

#include "plan/ablate/study_parts.h"
#include "trial/statistics.h"

namespace fathom::ablate {

std::vector<double> first_times(const Timed& timed) {
  std::vector<double> times;
  times.reserve(timed.samples.size());
  for (const Sample& sample : timed.samples) times.push_back(sample.seconds);
  return times;
}

double median_of_times(std::vector<double> times) {
  std::ranges::sort(times);
  return times.empty() ? 0 : quantile(times, 0.5);
}

Estimate estimate_of(const std::vector<double>& times) {
  const SampleSummary summary = summarize_sample(times);
  Estimate estimate{summary.p50, summary.least, summary.most, summary.count};
  // With too few runs for an interval all of them are shown.
  if (summary.interval)
    estimate.low = summary.interval->low, estimate.high = summary.interval->high;
  return estimate;
}

SpeedUp speed_up(const std::vector<double>& before, const std::vector<double>& after) {
  const SampleComparison comparison = compare_samples(before, after);
  SpeedUp out;
  if (!comparison.is_ratio || comparison.estimate <= 0) return out;
  out.ratio = 1 / comparison.estimate;
  out.low = out.high = out.ratio;
  out.has_interval = comparison.interval.has_value();
  if (comparison.interval && comparison.interval->low > 0) {
    out.low = 1 / comparison.interval->high;
    out.high = 1 / comparison.interval->low;
  }
  using Found = SampleVerdict;
  out.difference = comparison.verdict == Found::kNoDifference  ? Difference::kNone
                   : comparison.verdict == Found::kLess        ? Difference::kFaster
                   : comparison.verdict == Found::kMore        ? Difference::kSlower
                   : comparison.verdict == Found::kNotResolved ? Difference::kNotResolved
                                                               : Difference::kUnknown;
  return out;
}

void add_run_warnings(const std::vector<double>& times, std::vector<Warning>& warnings) {
  const SampleSummary summary = summarize_sample(times);
  const auto count = static_cast<double>(summary.count);
  if (!summary.interval) warnings.push_back({Warning::Kind::kFewRuns, count, 0});
  if (summary.outliers > 0)
    warnings.push_back({Warning::Kind::kOutliers, static_cast<double>(summary.outliers), count});
  // A trend of less than 1 % matters to nobody.
  const double percent = summary.p50 > 0 ? 100 * summary.drift.change / summary.p50 : 0;
  if (summary.drift.is_significant && std::abs(percent) >= 1)
    warnings.push_back({Warning::Kind::kDrift, percent, 0});
}

std::optional<double> drift_percent(const std::vector<double>& series) {
  const Drift found = drift(series);
  if (!found.is_significant || std::abs(found.change) < 0.01) return std::nullopt;
  return 100 * found.change;
}

}  // namespace fathom::ablate
