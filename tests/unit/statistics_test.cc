#include "events/statistics.h"

#include <cmath>

#include "checks.h"

namespace fathom {
namespace {

TimeStatistics of(std::vector<int64_t> values) {
  std::vector<Nanos> times;
  for (int64_t v : values) times.push_back(Nanos{v});
  return summarize(std::move(times));
}

TEST(TimeStatistics, SampleAndPopulationDeviationDiffer) {
  const TimeStatistics s = of({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(s.count, 8u);
  EXPECT_EQ(s.sum, Nanos{40});
  EXPECT_EQ(s.min, Nanos{2});
  EXPECT_EQ(s.max, Nanos{9});
  EXPECT_DOUBLE_EQ(s.mean, 5);
  EXPECT_DOUBLE_EQ(s.population_deviation, 2);
  ASSERT_TRUE(s.sample_deviation);
  EXPECT_DOUBLE_EQ(*s.sample_deviation, std::sqrt(32.0 / 7));
}

TEST(TimeStatistics, OneValueHasNoSampleDeviation) {
  const TimeStatistics s = of({7});
  EXPECT_EQ(s.count, 1u);
  EXPECT_DOUBLE_EQ(s.mean, 7);
  EXPECT_DOUBLE_EQ(s.median, 7);
  EXPECT_DOUBLE_EQ(s.population_deviation, 0);
  EXPECT_FALSE(s.sample_deviation);
}

TEST(TimeStatistics, TheMedianOfAnEvenNumberLiesBetweenTheTwoInTheMiddle) {
  EXPECT_DOUBLE_EQ(of({1, 2}).median, 1.5);
  EXPECT_DOUBLE_EQ(of({9, 1, 3, 4}).median, 3.5);
  EXPECT_DOUBLE_EQ(of({9, 1, 3}).median, 3);
}

TEST(TimeStatistics, NothingHasNoStatistics) {
  const TimeStatistics s = of({});
  EXPECT_EQ(s.count, 0u);
  EXPECT_EQ(s.sum, Nanos{0});
  EXPECT_FALSE(s.sample_deviation);
}

TEST(TimeStatistics, TheSumIsExactWhereADoubleIsNot) {
  const int64_t large = (int64_t{1} << 53) + 1;
  EXPECT_EQ(of({large, large, 1}).sum.count, 2 * large + 1);
}

TEST(TimeStatistics, DeviationsOfLargeEqualTimesAreZero) {
  const TimeStatistics s = of({4'000'000'000'000'000, 4'000'000'000'000'000});
  EXPECT_DOUBLE_EQ(s.population_deviation, 0);
  EXPECT_DOUBLE_EQ(*s.sample_deviation, 0);
}

TEST(TimeStatistics, TheOrderOfTheValuesChangesNothing) {
  const TimeStatistics a = of({1, 1'000'000, 3, 77}), b = of({77, 3, 1, 1'000'000});
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.median, b.median);
  EXPECT_EQ(a.population_deviation, b.population_deviation);
  EXPECT_EQ(a.sample_deviation, b.sample_deviation);
}

}  // namespace
}  // namespace fathom
