#include "trial/statistics.h"

#include <cmath>
#include <numeric>
#include <random>

#include "checks.h"
#include "trial/fit.h"
#include "trial/order.h"

namespace fathom {
namespace {

std::vector<double> counted_up(size_t n) {
  std::vector<double> values;
  for (size_t i = 1; i <= n; ++i) values.push_back(static_cast<double>(i));
  return values;
}

TEST(TrialStatistics, Quantiles) {
  const std::vector<double> values = {1, 2, 3, 4, 10};
  EXPECT_EQ(quantile(values, 0), 1);
  EXPECT_EQ(quantile(values, 0.5), 3);
  EXPECT_DOUBLE_EQ(quantile(values, 0.95), 4 + 0.8 * 6);
  EXPECT_EQ(quantile(values, 1), 10);
  EXPECT_EQ(quantile(std::vector<double>{7}, 0.99), 7);
}

// By hand: of n values the r-th smallest and r-th largest hold the median between them, except
// where fewer than r of n fair coins fall on one side.
TEST(TrialStatistics, IntervalOfTheMedianByOrderStatistics) {
  EXPECT_FALSE(median_interval(counted_up(0)));
  EXPECT_FALSE(median_interval(counted_up(5)));  // 1 − 2/32 = 93.75 %
  const auto six = median_interval(counted_up(6));
  ASSERT_TRUE(six);
  EXPECT_EQ(six->low, 1);
  EXPECT_EQ(six->high, 6);
  EXPECT_NEAR(six->confidence, 1 - 2.0 / 64, 1e-12);
  const auto ten = median_interval(counted_up(10));
  ASSERT_TRUE(ten);
  EXPECT_EQ(ten->low, 2);
  EXPECT_EQ(ten->high, 9);
  EXPECT_NEAR(ten->confidence, 1 - 2 * 11.0 / 1024, 1e-12);
  const auto twenty = median_interval(counted_up(20));
  ASSERT_TRUE(twenty);
  EXPECT_EQ(twenty->low, 6);
  EXPECT_EQ(twenty->high, 15);
  EXPECT_NEAR(twenty->confidence, 0.9586, 1e-4);
  const auto many = median_interval(counted_up(10'000));  // 5000 ± 1.96 × 50
  ASSERT_TRUE(many);
  EXPECT_NEAR(many->low, 4902, 2);
  EXPECT_NEAR(many->high, 5099, 2);
}

TEST(TrialStatistics, OutliersAreFarFromTheMedian) {
  EXPECT_TRUE(outliers(std::vector<double>{10, 11, 10, 12, 11, 10}).empty());
  EXPECT_EQ(outliers(std::vector<double>{10, 11, 10, 30, 11, 10}), std::vector<size_t>{3});
  EXPECT_EQ(outliers(std::vector<double>{5, 5, 5, 5, 5, 5, 5, 5, 5, 9}), std::vector<size_t>{9});
  EXPECT_TRUE(outliers(std::vector<double>{5, 5, 5, 5}).empty());
}

TEST(TrialStatistics, DriftIsATrendAndNotNoise) {
  const Drift up = drift(std::vector<double>{10, 11, 12, 13, 14, 15, 16, 17});
  EXPECT_TRUE(up.is_significant);
  EXPECT_DOUBLE_EQ(up.change, 7);
  EXPECT_FALSE(drift(std::vector<double>{10, 12, 11, 10, 12, 11, 10, 12}).is_significant);
  EXPECT_FALSE(drift(std::vector<double>{1, 2, 3, 4}).is_significant);
  EXPECT_FALSE(drift(std::vector<double>(20, 5.0)).is_significant);
}

TEST(TrialStatistics, SummaryOfASample) {
  const SampleSummary summary = summarize_sample(std::vector<double>{4, 1, 3, 2, 5, 6});
  EXPECT_EQ(summary.count, 6u);
  EXPECT_DOUBLE_EQ(summary.mean, 3.5);
  EXPECT_DOUBLE_EQ(summary.p50, 3.5);
  EXPECT_FALSE(summary.p95);
  std::vector<double> many(100);
  std::iota(many.begin(), many.end(), 0.0);
  EXPECT_DOUBLE_EQ(*summarize_sample(many).p99, 98.01);
  many.pop_back();
  EXPECT_FALSE(summarize_sample(many).p99);
  EXPECT_DOUBLE_EQ(*summarize_sample(many).p95, 93.1);
  many.resize(20);
  EXPECT_TRUE(summarize_sample(many).p95);
  many.resize(19);
  EXPECT_FALSE(summarize_sample(many).p95);
  EXPECT_NEAR(*summary.deviation, 1.8708287, 1e-6);
  EXPECT_NEAR(*summary.spread(), 2.5 / 3.5, 1e-12);
  EXPECT_FALSE(summarize_sample(std::vector<double>{4}).deviation);
  EXPECT_FALSE(summarize_sample(std::vector<double>{4}).spread());
}

// Critical values of Mann and Whitney's U at 5 %, both sides: none for 3 and 3; 0 for 4 and 4; 2
// for 5 and 5; 23 for 10 and 10. The interval leaves out as many of the sorted pairs at each end.
TEST(TrialStatistics, ComparisonUsesTheExactRanks) {
  const auto interval = [](size_t n) {
    std::vector<double> first, second;
    for (size_t i = 0; i < n; ++i) {
      first.push_back(static_cast<double>(i) - 1000);  // differences, as one is negative
      second.push_back(static_cast<double>(i) * static_cast<double>(n));
    }
    return compare_samples(first, second).interval;
  };
  EXPECT_FALSE(interval(3));
  // All n² differences are different and 1 apart: 1000 + n·j − i.
  ASSERT_TRUE(interval(4));
  EXPECT_EQ(interval(4)->low, 1000 - 3);
  EXPECT_NEAR(interval(4)->confidence, 1 - 2.0 / 70, 1e-12);
  ASSERT_TRUE(interval(5));
  EXPECT_EQ(interval(5)->low, 1000 - 4 + 2);
  EXPECT_EQ(interval(5)->high, 1000 + 20 - 2);
  EXPECT_NEAR(interval(5)->confidence, 1 - 8.0 / 252, 1e-12);
  ASSERT_TRUE(interval(10));
  EXPECT_EQ(interval(10)->low, 1000 - 9 + 23);
}

TEST(TrialStatistics, VerdictsOfAComparison) {
  const std::vector<double> slow = {10.0, 10.1, 10.2, 10.1, 10.3, 10.0};
  std::vector<double> fast, close;
  for (const double value : slow) fast.push_back(value / 2), close.push_back(value * 1.005);
  const SampleComparison half = compare_samples(slow, fast);
  EXPECT_EQ(half.verdict, SampleVerdict::kLess);
  EXPECT_NEAR(half.estimate, 0.5, 0.01);
  EXPECT_LT(half.interval->high, 0.52);
  EXPECT_EQ(compare_samples(fast, slow).verdict, SampleVerdict::kMore);
  EXPECT_EQ(compare_samples(slow, slow).verdict, SampleVerdict::kNoDifference);
  EXPECT_EQ(compare_samples(slow, close).verdict, SampleVerdict::kNoDifference);
  // Exact values that differ by less than the least share are no difference either.
  const std::vector<double> exact(10, 100.0), nearly(10, 100.5), apart(10, 102.0);
  EXPECT_EQ(compare_samples(exact, nearly).verdict, SampleVerdict::kNoDifference);
  EXPECT_EQ(compare_samples(exact, apart).verdict, SampleVerdict::kMore);
  EXPECT_EQ(compare_samples(std::vector<double>{1, 2, 3}, std::vector<double>{7, 8, 9}).verdict,
            SampleVerdict::kTooFew);
  EXPECT_EQ(compare_samples({}, slow).verdict, SampleVerdict::kTooFew);
}

TEST(TrialStatistics, AWideIntervalIsNoProofOfNoDifference) {
  const std::vector<double> noisy = {1.0, 2.1, 1.2, 1.9, 1.4, 0.9},
                            other = {1.1, 1.8, 1.0, 2.2, 1.3, 1.5};
  const SampleComparison wide = compare_samples(noisy, other);
  EXPECT_LT(wide.interval->low, 0.95);
  EXPECT_GT(wide.interval->high, 1.05);
  EXPECT_EQ(wide.verdict, SampleVerdict::kNotResolved);
  EXPECT_EQ(sample_verdict_name(wide.verdict), "not resolved: more runs needed");
  // Near-twin: the same order with a tenth of the spread around 10 lies within 5 %.
  std::vector<double> quiet, twin;
  for (const double value : noisy) quiet.push_back(10 + value / 10);
  for (const double value : other) twin.push_back(10 + value / 10);
  EXPECT_EQ(compare_samples(quiet, twin).verdict, SampleVerdict::kNoDifference);
  // Differences, where a value is not positive: the share is of the median.
  const std::vector<double> zeros(6, 0.0);
  EXPECT_EQ(compare_samples(zeros, zeros).verdict, SampleVerdict::kNoDifference);
  const std::vector<double> around = {-1, 1, -2, 2, 0, 3};
  EXPECT_EQ(compare_samples(around, around).verdict, SampleVerdict::kNotResolved);
}

// Samples of one distribution, with the long tail of run times: at most 5 % are called different.
TEST(TrialStatistics, FalsePositivesOfEqualSamples) {
  std::mt19937 random(20261116);
  std::lognormal_distribution<double> times(0, 0.1);
  for (const size_t n : {4u, 6u, 10u, 25u, 60u}) {
    int different = 0, missed = 0, covered = 0;
    const int trials = n < 20 ? 1000 : 300;
    for (int trial = 0; trial < trials; ++trial) {
      std::vector<double> a, b, c;
      for (size_t i = 0; i < n; ++i) {
        a.push_back(times(random));
        b.push_back(times(random));
        c.push_back(1.5 * times(random));
      }
      const SampleVerdict same = compare_samples(a, b).verdict;
      different += same == SampleVerdict::kLess || same == SampleVerdict::kMore;
      missed += compare_samples(a, c).verdict != SampleVerdict::kMore;
      std::sort(a.begin(), a.end());
      const auto interval = median_interval(a);
      covered += interval && interval->low <= 1 && interval->high >= 1;
    }
    // Two standard deviations of a share of 5 % are 1.4 % in 1000 trials, 2.5 % in 300.
    EXPECT_LE(different, trials * (n < 20 ? 65 : 75) / 1000) << n;
    if (n >= 6) {
      EXPECT_LE(missed, trials / 50) << n;
      EXPECT_GE(covered, trials * 94 / 100) << n;
    }
  }
}

TEST(TrialStatistics, Histogram) {
  const auto bins = histogram(std::vector<double>{0, 1, 1, 2, 10}, 5);
  ASSERT_EQ(bins.size(), 5u);
  EXPECT_EQ(bins[0].count, 3u);
  EXPECT_EQ(bins[1].count, 1u);
  EXPECT_EQ(bins[4].count, 1u);
  EXPECT_EQ(bins[4].high, 10);
  EXPECT_EQ(histogram(std::vector<double>{3, 3}, 5).size(), 1u);
  EXPECT_TRUE(histogram({}, 5).empty());
}

TEST(TrialFit, LineThroughPoints) {
  // y = 2 + 3x with +1, −2, +1 added: the sums are the same, the slope stays.
  const std::vector<double> x = {1, 2, 3}, y = {6, 6, 12};
  const auto fit = fit_points(FitKind::kLinear, x, y);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->a, 2, 1e-12);
  EXPECT_NEAR(fit->b, 3, 1e-12);
  EXPECT_NEAR(fit->residuals[1], -2, 1e-12);
  EXPECT_NEAR(*fit->b_error, std::sqrt(6.0 / 2), 1e-12);
  EXPECT_NEAR(fit->r_squared, 1 - 6.0 / 24, 1e-12);
  EXPECT_FALSE(fit_points(FitKind::kLinear, std::vector<double>{2, 2}, std::vector<double>{1, 3}));
  EXPECT_FALSE(fit_points(FitKind::kPower, std::vector<double>{0, 2}, std::vector<double>{1, 3}));
}

TEST(TrialFit, TheSimplestThatExplains) {
  const std::vector<double> x = {1, 2, 4, 8, 16};
  const auto of = [&](auto f) {
    std::vector<double> y;
    for (const double at : x) y.push_back(f(at));
    return best_fit(x, y);
  };
  EXPECT_EQ(of([](double) { return 5.0; })->kind, FitKind::kConstant);
  EXPECT_EQ(of([](double at) { return 5 + 0.001 * at; })->kind, FitKind::kConstant);
  const auto linear = of([](double at) { return 10 + 3 * at; });
  EXPECT_EQ(linear->kind, FitKind::kLinear);
  EXPECT_NEAR(linear->b, 3, 1e-9);
  const auto square = of([](double at) { return 2 * at * at; });
  EXPECT_EQ(square->kind, FitKind::kPower);
  EXPECT_NEAR(square->b, 2, 1e-9);
  EXPECT_NEAR(square->worst_share, 0, 1e-9);
  EXPECT_FALSE(best_fit(std::vector<double>{1, 2}, std::vector<double>{1, 2}));
  EXPECT_FALSE(best_fit(std::vector<double>{1, 2, 4}, std::vector<double>{1, 2, 4}));
}

TEST(TrialOrder, InterleavedForthAndBack) {
  EXPECT_EQ(interleaved(2, 3), (std::vector<size_t>{0, 1, 1, 0, 0, 1}));
  EXPECT_EQ(interleaved(3, 2), (std::vector<size_t>{0, 1, 2, 2, 1, 0}));
  EXPECT_TRUE(interleaved(0, 5).empty());
}

}  // namespace
}  // namespace fathom
