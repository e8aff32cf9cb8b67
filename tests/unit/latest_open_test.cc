#include "events/latest_open.h"

#include <random>

#include "checks.h"
#include "events/intervals.h"

namespace fathom {
namespace {

// Spans that nest and overlap at random, against a look at each of them.
TEST(LatestOpen, IsTheLastBegunOfThoseOpen) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    std::vector<LatestOpen::Span> spans;
    for (size_t i = 0; i < 30; ++i) {
      const auto begin = static_cast<int64_t>(random() % 60);
      spans.push_back({{begin}, {begin + static_cast<int64_t>(random() % 20) - 2}, i});
    }
    const LatestOpen open(spans);
    for (int64_t time = -1; time < 90; ++time) {
      const LatestOpen::Span* latest = nullptr;
      for (const LatestOpen::Span& span : spans) {
        if (span.begin.count > time || span.end.count <= time) continue;
        if (latest == nullptr || latest->begin <= span.begin) latest = &span;
      }
      EXPECT_EQ(open.at({time}), latest ? std::optional(latest->value) : std::nullopt) << time;
    }
  }
}

TEST(IntervalSet, IsTheUnionInWhateverOrder) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<Interval> all;
    IntervalSet left, right;
    for (int i = 0; i < 40; ++i) {
      const auto begin = static_cast<int64_t>(random() % 300);
      const Interval interval{{begin}, {begin + static_cast<int64_t>(random() % 9)}};
      all.push_back(interval);
      (random() % 3 == 0 ? left : right).add(interval);
    }
    left.add(std::move(right));
    EXPECT_EQ(left.length(), total_length(merge_intervals(all)));
  }
}

}  // namespace
}  // namespace fathom
