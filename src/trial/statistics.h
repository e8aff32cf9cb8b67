#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// Statistics of repeated measurements that assume no distribution: run times have long tails, and
// few runs are made. Values that are not finite are left out by the caller.

struct SampleInterval {
  double low = 0, high = 0;
  double confidence = 0;  // reached, at least what was asked for
};

// Of sorted values, between two of them in proportion (R's type 7); 0 ≤ q ≤ 1, one value at least.
double quantile(std::span<const double> sorted, double q);

// Between two of the sorted values, by the binomial distribution of how many lie below the median.
// Nothing where there are too few of them (under 6 for 95 %).
std::optional<SampleInterval> median_interval(std::span<const double> sorted,
                                              double confidence = 0.95);

// Values that lie over 3.5 deviations from the median, a deviation being 1.4826 × the median
// distance from it (Iglewicz and Hoaglin); places in the order given.
std::vector<size_t> outliers(std::span<const double> values);

// A trend over the values in the order they were measured, by Mann and Kendall's test at 1 %.
struct Drift {
  double change = 0;  // of the whole series: Theil and Sen's slope × (count − 1)
  bool is_significant = false;
};
Drift drift(std::span<const double> values);

struct SampleSummary {
  size_t count = 0;
  double mean = 0, least = 0, most = 0;
  double p50 = 0;
  std::optional<double> p95, p99;          // from 20 and 100 values on: with fewer, the largest
  std::optional<double> deviation;         // over n − 1; unknown for a single value
  std::optional<SampleInterval> interval;  // of the median
  size_t outliers = 0;
  Drift drift;
  // Half the interval's width as a share of the median; the deviation's share where there is none.
  std::optional<double> spread() const;
};
// In the order measured; at least one value.
SampleSummary summarize_sample(std::span<const double> values);

enum class SampleVerdict : uint8_t {
  kTooFew,  // 95 % cannot be reached with so few values: under 4 of each
  kNoDifference,
  kLess,  // the second sample's values are smaller
  kMore,
  kNotResolved  // the interval holds both none and a difference that matters
};
// "no difference", "not resolved: more runs needed".
std::string_view sample_verdict_name(SampleVerdict verdict);

// The second sample against the first.
struct SampleComparison {
  SampleVerdict verdict = SampleVerdict::kTooFew;
  // Hodges and Lehmann's: the median of all ratios second / first. Differences where a value is not
  // positive.
  bool is_ratio = true;
  double estimate = 1;
  std::optional<SampleInterval> interval;
  double noise = 0;  // differences below this share (or, of differences, amount) are none
};
// By Mann and Whitney's test: there is a difference where the interval leaves 1 out and the
// estimate is further from it than `least_share`; there is none where the interval lies within 5 %
// of
// 1. Anything else is not resolved.
SampleComparison compare_samples(std::span<const double> first, std::span<const double> second,
                                 double least_share = 0.01, double confidence = 0.95);

// Of equal width, from the least to the most. One where all values are the same.
struct HistogramBin {
  double low = 0, high = 0;
  size_t count = 0;
};
std::vector<HistogramBin> histogram(std::span<const double> values, size_t bins);

}  // namespace fathom
