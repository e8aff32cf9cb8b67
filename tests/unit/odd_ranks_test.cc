// Sets of ranks as they come from clusters: clocks that are set differently, several slow ranks,
// GPUs of two kinds, pipelines without any all-reduce, CPU runs. Each beside a set that looks
// alike.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/ranks/compare_ranks.h"
#include "checks.h"
#include "report/ranks/ranks_report.h"
#include "unit/made_ranks.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::compare;

constexpr Nanos kHour{3'600'000'000'000};

std::string collective(std::string_view category, std::string_view name, int64_t start,
                       int64_t time, std::string_view more = "") {
  static int64_t correlation = 0;
  return test::event_text(
      category, name, start, time,
      fmt::format(R"("device":0,"stream":20,"correlation":{},"Collective name":"{}",)"
                  R"("In msg nelems":1024,"Out msg nelems":1024,"dtype":"Float",)"
                  R"("Process Group Name":"0"{})",
                  ++correlation, name, more));
}

// An all-reduce every millisecond, which all leave together; the rank begins it `late` µs late.
RankFacts rank_of(int64_t number, int64_t world, const std::vector<int64_t>& late,
                  std::string_view category = "kernel") {
  std::vector<std::string> events;
  for (size_t i = 0; i < late.size(); ++i) {
    const int64_t at = 1000 * static_cast<int64_t>(i);
    events.push_back(test::annotation(fmt::format("ProfilerStep#{}", i), at, 999));
    if (category == "kernel") events.push_back(test::kernel("gemm", at + 10, 300 + late[i], i));
    const int64_t begin = at + 320 + late[i];
    events.push_back(collective(category, "all_reduce", begin, at + 900 - begin));
  }
  RankFacts facts =
      test::facts_of_text(test::trace_text(events), fmt::format("rank{}.json", number));
  facts.rank = number;
  facts.world_size = world;
  facts.gpu = "NVIDIA H200";
  return facts;
}

RankFacts shifted(RankFacts facts, Nanos by) {
  facts.base_time = Nanos{1'790'857'026'000'000'000} + by;
  facts.begin += *facts.base_time;
  facts.end += *facts.base_time;
  for (RankCollective& c : facts.collectives) {
    c.start += *facts.base_time;
    c.end += *facts.base_time;
  }
  return facts;
}

bool notes_hold(const RankComparison& c, std::string_view text) {
  const std::vector<std::string> none;
  return std::ranges::any_of(rank_sentences({c, none}).notes, [&](const std::string& note) {
    return note.find(text) != std::string::npos;
  });
}

std::vector<int64_t> even(size_t count, int64_t late = 0) {
  return std::vector<int64_t>(count, late);
}

// Two of six begin late together, now one, now the other last.
TEST(OddRanks, SeveralThatAreLateTogetherAreNamedTogether) {
  std::vector<int64_t> one, other;
  for (int i = 0; i < 10; ++i) {
    one.push_back(200 + (i % 2) * 5);
    other.push_back(200 + (i % 3) * 4);
  }
  std::vector<RankFacts> ranks = {rank_of(2, 6, one), rank_of(5, 6, other)};
  for (const int64_t r : {0, 1, 3, 4}) ranks.push_back(rank_of(r, 6, even(10, r)));
  const RankComparison c = compare(std::move(ranks));
  EXPECT_EQ(c.verdict, RankVerdict::kTogether);
  EXPECT_EQ(c.late_ranks, (std::vector<uint32_t>{2, 5}));
  EXPECT_EQ(c.since, 0);
  const std::vector<std::string> none;
  EXPECT_NE(rank_sentences({c, none}).verdict.find("2 ranks are late together"), std::string::npos);
  EXPECT_NE(ranks_json({c, none}, {}).find("\"late_ranks\": [\n    2,\n    5\n  ]"),
            std::string::npos);
}

// The near twin: the same two, each at its own times.
TEST(OddRanks, ThoseThatAreLateAtOtherTimesAreNot) {
  std::vector<int64_t> one, other;
  for (int i = 0; i < 10; ++i) {
    one.push_back(i % 2 == 0 ? 200 : 0);
    other.push_back(i % 2 == 0 ? 0 : 200);
  }
  std::vector<RankFacts> ranks = {rank_of(2, 6, one), rank_of(5, 6, other)};
  for (const int64_t r : {0, 1, 3, 4}) ranks.push_back(rank_of(r, 6, even(10, r)));
  const RankComparison c = compare(std::move(ranks));
  EXPECT_EQ(c.verdict, RankVerdict::kMoving);
  EXPECT_TRUE(c.late_ranks.empty());
}

TEST(OddRanks, ClocksThatAreSetHoursApartAreAligned) {
  std::vector<RankFacts> ranks;
  for (int64_t r = 0; r < 4; ++r)
    ranks.push_back(shifted(rank_of(r, 4, even(10, r == 3 ? 200 : 0)), Nanos{r / 2 * kHour.count}));
  const RankComparison c = compare(std::move(ranks));
  ASSERT_EQ(c.ranks.size(), 4u);
  EXPECT_EQ(c.clocks.ranks[2].offset, std::optional(kHour));
  EXPECT_EQ(c.recorded_apart, kHour);
  EXPECT_EQ(c.straggler, 3u);
  EXPECT_TRUE(notes_hold(c, "recorded 3600.00 s apart"));
}

// One of four that was recorded at another time is of another run.
TEST(OddRanks, OneAtAnotherTimeThanMostIsLeftOut) {
  std::vector<RankFacts> ranks;
  for (int64_t r = 0; r < 4; ++r)
    ranks.push_back(shifted(rank_of(r, 4, even(10)), r == 1 ? kHour : Nanos{}));
  const RankComparison c = compare(std::move(ranks));
  EXPECT_EQ(c.ranks.size(), 3u);
  EXPECT_EQ(c.recorded_apart, Nanos{});
  EXPECT_TRUE(notes_hold(c, "recorded at another time"));
}

// Two runs in one folder: one of them is compared, not some ranks of each.
TEST(OddRanks, OfTwoRunsOneIsCompared) {
  std::vector<RankFacts> ranks;
  for (const int64_t r : {0, 1, 2}) {
    ranks.push_back(shifted(rank_of(r, 3, even(10)), r == 1 ? kHour : Nanos{}));
    ranks.push_back(shifted(rank_of(r, 3, even(10)), r == 1 ? Nanos{} : kHour));
  }
  const RankComparison c = compare(std::move(ranks));
  ASSERT_EQ(c.ranks.size(), 3u);
  for (const RankFacts& r : c.ranks) EXPECT_EQ(*r.base_time, *c.ranks[0].base_time);
}

// What a trace that is cut off lacks: a number of years is no offset of a clock.
TEST(OddRanks, WithoutABaseTimeTheOffsetIsUnknown) {
  std::vector<RankFacts> ranks = {shifted(rank_of(0, 3, even(10)), {}), rank_of(1, 3, even(10)),
                                  shifted(rank_of(2, 3, even(10)), test::micros(70))};
  const RankComparison c = compare(std::move(ranks));
  ASSERT_TRUE(c.clocks.ranks[1].aligned());
  EXPECT_FALSE(c.clocks.ranks[1].offset);
  EXPECT_EQ(c.clocks.ranks[2].offset, std::optional(test::micros(70)));
  const std::vector<std::string> none;
  const std::string said = rank_sentences({c, none}).clocks;
  EXPECT_NE(said.find("rank 2 is farthest ahead, by 70.0 µs"), std::string::npos) << said;
  EXPECT_NE(said.find("offset of 1 rank unknown"), std::string::npos) << said;
}

TEST(OddRanks, WhatARankLacksIsCounted) {
  RankFacts cut = rank_of(1, 3, even(10));
  std::erase_if(cut.collectives,
                [](const RankCollective& c) { return c.step == 3 || c.step == 4; });
  const RankComparison c =
      compare({rank_of(0, 3, even(10)), std::move(cut), rank_of(2, 3, even(10))});
  EXPECT_EQ(c.rows[0].missing, 0u);
  EXPECT_EQ(c.rows[1].missing, 2u);
  EXPECT_TRUE(notes_hold(c, "rank 1 lacks 2"));
  EXPECT_FALSE(notes_hold(
      compare({rank_of(0, 3, even(10)), rank_of(1, 3, even(10)), rank_of(2, 3, even(10))}),
      "lacks"));
}

TEST(OddRanks, GpusOfTwoKindsAreNamedAndExplainALateRank) {
  std::vector<RankFacts> ranks;
  for (int64_t r = 0; r < 3; ++r) ranks.push_back(rank_of(r, 3, even(10, r == 2 ? 200 : 0)));
  const std::vector<std::string> none;
  const auto why = [&](const RankComparison& c) {
    std::string text;
    for (const std::string& line : rank_sentences({c, none}).why) text += line;
    return text;
  };
  EXPECT_NE(why(compare(ranks)).find("Compare clocks"), std::string::npos);
  ranks[2].gpu = "NVIDIA A100-SXM4-80GB";
  const RankComparison c = compare(std::move(ranks));
  EXPECT_NE(why(c).find("Its GPU is NVIDIA A100-SXM4-80GB, that of most others NVIDIA H200"),
            std::string::npos)
      << why(c);
  EXPECT_NE(ranks_text({c, none}, {false, false, 200}, {}).find("2 × NVIDIA H200, 1 × NVIDIA A100"),
            std::string::npos);
}

// Sends and receives alone align no clocks; stages and bubbles do not need them.
TEST(OddRanks, APipelineWithoutOtherCollectivesHasStages) {
  std::vector<RankFacts> ranks;
  for (int64_t r = 0; r < 3; ++r) {
    std::vector<std::string> events;
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t at = i * 1000 + r * 200;
      if (r > 0)
        events.push_back(
            collective("kernel", "recv", at - 60, 70, fmt::format(",\"Src Rank\":{}", r - 1)));
      events.push_back(test::kernel("gemm", at + 20, 150, 100 * r + i));
      if (r < 2)
        events.push_back(
            collective("kernel", "send", at + 180, 30, fmt::format(",\"Dst Rank\":{}", r + 1)));
    }
    ranks.push_back(test::facts_of_text(test::trace_text(events), fmt::format("rank{}.json", r)));
    ranks.back().rank = r;
  }
  const RankComparison c = compare(std::move(ranks));
  EXPECT_EQ(c.verdict, RankVerdict::kNoCollectives);
  ASSERT_TRUE(c.pipeline);
  EXPECT_EQ(c.pipeline->stages, 3u);
  EXPECT_EQ(c.pipeline->bubble[1], test::micros(4 * 40));  // 70 µs for what takes 30
}

TEST(OddRanks, WithoutGpuWorkTheStepsAreTheWallTime) {
  std::vector<RankFacts> ranks;
  for (int64_t r = 0; r < 3; ++r)
    ranks.push_back(rank_of(r, 3, even(10, r == 1 ? 150 : 0), "user_annotation"));
  EXPECT_FALSE(ranks[0].has_gpu_work);
  EXPECT_EQ(ranks[0].wall(), test::micros(9999));
  EXPECT_EQ(total_of(ranks[0].parts), ranks[0].wall());
  EXPECT_EQ(ranks[0].parts[part_index(RankPart::kCommunication)], test::micros(10 * 580));
  const RankComparison c = compare(std::move(ranks));
  EXPECT_EQ(c.verdict, RankVerdict::kStraggler);
  const std::vector<std::string> none;
  const std::string text = ranks_text({c, none}, {false, false, 200}, {});
  EXPECT_NE(text.find("without GPU work: collectives of the host 5"), std::string::npos) << text;
  EXPECT_EQ(text.find("GPU idle"), std::string::npos) << text;
}

}  // namespace
}  // namespace fathom
