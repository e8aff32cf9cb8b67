#include "trial/statistics.h"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

// Above this, every k-th value of the sorted sample stands for the others: pairs are counted.
constexpr size_t kMostPaired = 1000;
// An interval within this share of none says that there is no difference that matters.
constexpr double kSmallShare = 0.05;

std::vector<double> sorted_copy(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

std::vector<double> thinned(std::span<const double> values) {
  if (values.size() <= kMostPaired) return {values.begin(), values.end()};
  std::vector<double> out;
  for (size_t i = 0; i < kMostPaired; ++i)
    out.push_back(values[i * (values.size() - 1) / (kMostPaired - 1)]);
  return out;
}

// Of the standard normal distribution: above it lies `share`. By bisection of erfc.
double normal_above(double share) {
  double low = -40, high = 40;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(middle / std::sqrt(2.0)) > share ? low : high) = middle;
  }
  return (low + high) / 2;
}

struct PairCount {
  size_t rank = 0;  // counted from 1; 0: none reaches the confidence
  double confidence = 0;
};

// The largest k for which P(U < k) ≤ tail, U being how many of n × m pairs are in order when both
// samples are of one distribution. Then the k-th smallest and the k-th largest of all differences
// bound the shift.
PairCount pair_rank(size_t n, size_t m, double tail) {
  constexpr size_t kExact = 40;
  if (n <= kExact && m <= kExact) {
    // ways[i][u]: orders of i values of one and the j of the other seen so far with u pairs.
    const size_t most = n * m;
    std::vector<std::vector<double>> ways(n + 1, std::vector<double>(most + 1, 0));
    for (size_t i = 0; i <= n; ++i) ways[i][0] = 1;  // none of the other sample
    for (size_t j = 1; j <= m; ++j) {
      for (size_t i = 1; i <= n; ++i) {
        // The largest of all is one of i (j pairs with it), or of j.
        for (size_t u = most + 1; u-- > 0;) {
          ways[i][u] = (u >= j ? ways[i - 1][u - j] : 0) + ways[i][u];
        }
      }
    }
    double all = 0;
    for (const double count : ways[n]) all += count;
    PairCount found;
    double below = 0;
    for (size_t k = 1; k <= most; ++k) {
      below += ways[n][k - 1] / all;
      if (below > tail) break;
      found = {k, 1 - 2 * below};
    }
    return found;
  }
  const double pairs = static_cast<double>(n) * static_cast<double>(m);
  const double deviation = std::sqrt(pairs * static_cast<double>(n + m + 1) / 12);
  const double rank = std::floor(pairs / 2 - normal_above(tail) * deviation);
  return rank < 1 ? PairCount{} : PairCount{static_cast<size_t>(rank), 1 - 2 * tail};
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

}  // namespace

double quantile(std::span<const double> sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(place);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double part = place - static_cast<double>(below);
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

std::optional<SampleInterval> median_interval(std::span<const double> sorted, double confidence) {
  const size_t n = sorted.size();
  if (n == 0) return std::nullopt;
  // P(at most k of n lie below the median), from k = 0 up, in logarithms: 2^-n may underflow.
  const double tail = (1 - confidence) / 2;
  double below = 0;
  size_t rank = 0;
  double reached = 0;
  for (size_t k = 0; k < n / 2; ++k) {
    const double count = static_cast<double>(n), at = static_cast<double>(k);
    below += std::exp(std::lgamma(count + 1) - std::lgamma(at + 1) - std::lgamma(count - at + 1) -
                      count * std::log(2.0));
    if (below > tail) break;
    rank = k + 1;
    reached = 1 - 2 * below;
  }
  if (rank == 0) return std::nullopt;
  return SampleInterval{sorted[rank - 1], sorted[n - rank], reached};
}

std::vector<size_t> outliers(std::span<const double> values) {
  std::vector<size_t> found;
  if (values.size() < 4) return found;
  const double middle = median_of({values.begin(), values.end()});
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - middle));
  double unit = 1.4826 * median_of(distances);
  if (unit == 0) {  // over half are the same: by the mean distance
    for (const double distance : distances) unit += distance;
    unit *= 1.2533 / static_cast<double>(values.size());
  }
  if (unit == 0) return found;
  for (size_t i = 0; i < values.size(); ++i) {
    if (distances[i] > 3.5 * unit) found.push_back(i);
  }
  return found;
}

Drift drift(std::span<const double> values) {
  Drift found;
  const std::vector<double> series = thinned(values);
  const size_t n = series.size();
  if (n < 5) return found;
  int64_t concordant = 0;
  std::vector<double> slopes;
  slopes.reserve(n * (n - 1) / 2);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i + 1; j < n; ++j) {
      concordant += (series[j] > series[i]) - (series[j] < series[i]);
      slopes.push_back((series[j] - series[i]) / static_cast<double>(j - i));
    }
  }
  // Values that are equal make the statistic vary less.
  std::vector<double> sorted = series;
  std::sort(sorted.begin(), sorted.end());
  const auto weight = [](size_t count) {
    const double c = static_cast<double>(count);
    return c * (c - 1) * (2 * c + 5);
  };
  double variance = weight(n);
  for (size_t i = 0, j = 0; i < n; i = j) {
    while (j < n && sorted[j] == sorted[i]) ++j;
    variance -= weight(j - i);
  }
  variance /= 18;
  const auto middle = slopes.begin() + static_cast<ptrdiff_t>(slopes.size() / 2);
  std::nth_element(slopes.begin(), middle, slopes.end());
  found.change = *middle * static_cast<double>(n - 1);
  if (variance <= 0) return found;
  const double distance = std::max<double>(0, static_cast<double>(std::abs(concordant)) - 1);
  found.is_significant = distance / std::sqrt(variance) > 2.5758;  // 1 %, both sides
  return found;
}

std::optional<double> SampleSummary::spread() const {
  if (p50 == 0) return std::nullopt;
  if (interval) return (interval->high - interval->low) / 2 / std::abs(p50);
  if (deviation) return *deviation / std::abs(p50);
  return std::nullopt;
}

SampleSummary summarize_sample(std::span<const double> values) {
  SampleSummary summary;
  summary.count = values.size();
  if (values.empty()) return summary;
  const std::vector<double> sorted = sorted_copy(values);
  const double n = static_cast<double>(values.size());
  for (const double value : sorted) summary.mean += value / n;
  if (values.size() > 1) {
    double squares = 0;
    for (const double value : sorted) squares += (value - summary.mean) * (value - summary.mean);
    summary.deviation = std::sqrt(squares / (n - 1));
  }
  summary.least = sorted.front();
  summary.most = sorted.back();
  summary.p50 = quantile(sorted, 0.5);
  if (values.size() >= 20) summary.p95 = quantile(sorted, 0.95);
  if (values.size() >= 100) summary.p99 = quantile(sorted, 0.99);
  summary.interval = median_interval(sorted);
  summary.outliers = outliers(values).size();
  summary.drift = drift(values);
  return summary;
}

SampleComparison compare_samples(std::span<const double> first, std::span<const double> second,
                                 double least_share, double confidence) {
  SampleComparison comparison;
  const std::vector<double> a = thinned(sorted_copy(first)), b = thinned(sorted_copy(second));
  if (a.empty() || b.empty()) return comparison;
  comparison.is_ratio = a.front() > 0 && b.front() > 0;
  std::vector<double> steps;
  steps.reserve(a.size() * b.size());
  for (const double x : a) {
    for (const double y : b) steps.push_back(comparison.is_ratio ? y / x : y - x);
  }
  std::sort(steps.begin(), steps.end());
  const double none = comparison.is_ratio ? 1 : 0;
  comparison.estimate = quantile(steps, 0.5);
  comparison.noise = comparison.is_ratio ? least_share : 0;
  const PairCount pair = pair_rank(a.size(), b.size(), (1 - confidence) / 2);
  if (pair.rank == 0) return comparison;
  comparison.interval =
      SampleInterval{steps[pair.rank - 1], steps[steps.size() - pair.rank], pair.confidence};
  const bool leaves_out = comparison.interval->low > none || comparison.interval->high < none;
  const bool is_large = std::abs(comparison.estimate - none) > comparison.noise;
  // Of differences, the share is of the larger median.
  const double unit =
      comparison.is_ratio ? 1 : std::max(std::abs(quantile(a, 0.5)), std::abs(quantile(b, 0.5)));
  const double small = std::max(kSmallShare * unit, comparison.noise);
  const bool is_narrow =
      comparison.interval->low >= none - small && comparison.interval->high <= none + small;
  comparison.verdict = leaves_out && is_large ? (comparison.estimate < none ? SampleVerdict::kLess
                                                                            : SampleVerdict::kMore)
                       : is_narrow            ? SampleVerdict::kNoDifference
                                              : SampleVerdict::kNotResolved;
  return comparison;
}

std::string_view sample_verdict_name(SampleVerdict verdict) {
  switch (verdict) {
    case SampleVerdict::kTooFew:
      return "too few runs";
    case SampleVerdict::kNoDifference:
      return "no difference";
    case SampleVerdict::kLess:
      return "less";
    case SampleVerdict::kMore:
      return "more";
    case SampleVerdict::kNotResolved:
      break;
  }
  return "not resolved: more runs needed";
}

std::vector<HistogramBin> histogram(std::span<const double> values, size_t bins) {
  std::vector<HistogramBin> out;
  if (values.empty() || bins == 0) return out;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double low = *least, high = *most;
  if (!(high > low)) return {{low, high, values.size()}};
  const double width = (high - low) / static_cast<double>(bins);
  for (size_t i = 0; i < bins; ++i) {
    out.push_back({low + width * static_cast<double>(i),
                   i + 1 == bins ? high : low + width * static_cast<double>(i + 1), 0});
  }
  for (const double value : values) {
    const double place = (value - low) / width;
    ++out[std::min(bins - 1, static_cast<size_t>(std::max(0.0, place)))].count;
  }
  return out;
}

}  // namespace fathom
