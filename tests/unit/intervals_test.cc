#include "events/intervals.h"

#include <array>
#include <random>

#include "checks.h"

namespace fathom {
namespace {

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

std::vector<Interval> intervals(const Pairs& pairs) {
  std::vector<Interval> all;
  for (const auto& [begin, end] : pairs) all.push_back({Nanos{begin}, Nanos{end}});
  return all;
}

Pairs pairs(const std::vector<Interval>& all) {
  Pairs out;
  for (const Interval& i : all) out.emplace_back(i.begin.count, i.end.count);
  return out;
}

Pairs merged(const Pairs& input) { return pairs(merge_intervals(intervals(input))); }

Pairs subtracted(const Pairs& from, const Pairs& removed) {
  return pairs(subtract_intervals(intervals(from), intervals(removed)));
}

TEST(MergeIntervals, SortsAndJoinsWhatOverlaps) {
  EXPECT_EQ(merged({}), Pairs{});
  EXPECT_EQ(merged({{5, 8}, {0, 3}}), (Pairs{{0, 3}, {5, 8}}));
  EXPECT_EQ(merged({{0, 5}, {3, 8}}), (Pairs{{0, 8}}));
  EXPECT_EQ(merged({{0, 10}, {2, 3}, {9, 12}}), (Pairs{{0, 12}}));
}

TEST(MergeIntervals, JoinsWhatOnlyTouches) {
  EXPECT_EQ(merged({{0, 5}, {5, 8}}), (Pairs{{0, 8}}));
  EXPECT_EQ(merged({{0, 5}, {6, 8}}), (Pairs{{0, 5}, {6, 8}}));
}

TEST(MergeIntervals, ALengthOfZeroTouchesButCoversNothing) {
  EXPECT_EQ(merged({{5, 5}}), (Pairs{{5, 5}}));
  EXPECT_EQ(total_length(merge_intervals(intervals({{5, 5}, {7, 7}}))).count, 0);
  EXPECT_EQ(merged({{0, 5}, {5, 5}, {5, 8}}), (Pairs{{0, 8}}));
  EXPECT_EQ(merged({{0, 5}, {2, 2}}), (Pairs{{0, 5}}));
}

TEST(SubtractIntervals, CutsHolesAndEdges) {
  EXPECT_EQ(subtracted({{0, 10}}, {}), (Pairs{{0, 10}}));
  EXPECT_EQ(subtracted({{0, 10}}, {{3, 5}}), (Pairs{{0, 3}, {5, 10}}));
  EXPECT_EQ(subtracted({{0, 10}}, {{-5, 3}, {8, 20}}), (Pairs{{3, 8}}));
  EXPECT_EQ(subtracted({{0, 10}}, {{0, 10}}), Pairs{});
  EXPECT_EQ(subtracted({{2, 4}, {6, 8}}, {{0, 10}}), Pairs{});
}

TEST(SubtractIntervals, WhatOnlyTouchesTakesNothing) {
  EXPECT_EQ(subtracted({{5, 10}}, {{0, 5}, {10, 12}}), (Pairs{{5, 10}}));
}

TEST(SubtractIntervals, OneRemovedMayCutSeveral) {
  EXPECT_EQ(subtracted({{0, 4}, {6, 10}, {12, 14}}, {{3, 13}}), (Pairs{{0, 3}, {13, 14}}));
}

TEST(SubtractIntervals, ALengthOfZeroTakesNothing) {
  EXPECT_EQ(total_length(subtract_intervals(intervals({{0, 10}}), intervals({{5, 5}}))).count, 10);
  EXPECT_EQ(subtracted({{5, 5}}, {{0, 10}}), Pairs{});
}

// Interval arithmetic against counting the units that are covered.
constexpr int64_t kUnits = 40;
using Covered = std::array<bool, kUnits>;

Covered cover(const std::vector<Interval>& all) {
  Covered covered = {};
  for (const Interval& i : all) {
    for (int64_t t = i.begin.count; t < i.end.count; ++t) covered[static_cast<size_t>(t)] = true;
  }
  return covered;
}

std::vector<Interval> random_intervals(std::mt19937& random) {
  std::vector<Interval> all;
  const size_t count = random() % 8;
  for (size_t i = 0; i < count; ++i) {
    const auto begin = static_cast<int64_t>(random() % (kUnits - 8));
    all.push_back({Nanos{begin}, Nanos{begin + static_cast<int64_t>(random() % 8)}});
  }
  return all;
}

void expect_sorted_and_apart(const std::vector<Interval>& all) {
  for (size_t i = 1; i < all.size(); ++i) EXPECT_LT(all[i - 1].end, all[i].begin);
}

TEST(IntervalArithmetic, AgreesWithCountingUnits) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::vector<Interval> a = random_intervals(random), b = random_intervals(random);
    const std::vector<Interval> left = merge_intervals(a), right = merge_intervals(b);
    expect_sorted_and_apart(left);
    const Covered in_a = cover(a), in_b = cover(b);
    ASSERT_EQ(cover(left), in_a);
    const std::vector<Interval> rest = subtract_intervals(left, right);
    Covered expected = {};
    int64_t units = 0;
    for (size_t t = 0; t < kUnits; ++t) {
      expected[t] = in_a[t] && !in_b[t];
      units += expected[t];
    }
    ASSERT_EQ(cover(rest), expected);
    ASSERT_EQ(total_length(rest).count, units);
  }
}

}  // namespace
}  // namespace fathom
