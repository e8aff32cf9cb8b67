#include "session/rank_collectives.h"

#include <fmt/format.h>

#include "checks.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

// One all-reduce of 7 MB over 2 ranks: its number, begin and time in µs.
std::string all_reduce(int64_t number, int64_t start, int64_t time) {
  return fmt::format(
      R"({{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_bf16_RING_LL","pid":0,)"
      R"("tid":20,"ts":{},"dur":{},"args":{{"device":0,"stream":20,"correlation":{},)"
      R"("Collective name":"allreduce","In msg nelems":3670016,"Out msg nelems":3670016,)"
      R"("Group size":2,"dtype":"BFloat16","Process Group Name":"0","Seq":{}}}}})",
      start, time, number + 100, number);
}

RankCollectives rank(int64_t number, const std::vector<std::string>& events) {
  RankCollectives collected = collect_collectives(test::open_events(events));
  collected.rank = number;
  return collected;
}

// Rank 1 computes longer: it begins each collective last and never waits.
TEST(RankCollectives, TheRankThatBeginsLastWaitsLeast) {
  const std::vector<RankCollectives> ranks = {
      rank(0, {all_reduce(1, 0, 1000), all_reduce(2, 2000, 500)}),
      rank(1, {all_reduce(1, 900, 100), all_reduce(2, 2400, 100)})};
  const auto waits = compare_ranks(ranks);
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->collectives, 2u);
  EXPECT_EQ(waits->transfer, test::micros(200));
  EXPECT_EQ(waits->ranks[0].waiting, test::micros(1300));
  EXPECT_EQ(waits->ranks[1].waiting, Nanos{});
  EXPECT_EQ(waits->ranks[1].last, 2u);
  EXPECT_NEAR(*waits->bus_rate / 1e9, 7 * 1.048576 / 100 * 1e3, 1);
  const auto lines = rank_waits_lines(*waits);
  EXPECT_NE(lines.back().find("wait for rank 1"), std::string::npos) << lines.back();
}

// Near-twin: both take the same time. Nobody waits, and nobody is blamed.
TEST(RankCollectives, EvenRanksHaveNoStraggler) {
  const std::vector<RankCollectives> ranks = {
      rank(0, {all_reduce(1, 0, 100), all_reduce(2, 2000, 110)}),
      rank(1, {all_reduce(1, 0, 110), all_reduce(2, 2000, 100)})};
  const auto waits = compare_ranks(ranks);
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->ranks[0].waiting, test::micros(10));
  for (const std::string& line : rank_waits_lines(*waits))
    EXPECT_EQ(line.find("The others wait"), std::string::npos) << line;
}

TEST(RankCollectives, WhatIsNotInAllTracesIsCountedAndLeftOut) {
  const std::vector<RankCollectives> ranks = {
      rank(0, {all_reduce(1, 0, 100), all_reduce(2, 200, 5000)}), rank(1, {all_reduce(1, 0, 90)})};
  const auto waits = compare_ranks(ranks);
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->collectives, 1u);
  EXPECT_EQ(waits->unmatched, 1u);
  EXPECT_EQ(waits->ranks[0].time, test::micros(100));
}

TEST(RankCollectives, TracesWithoutCommonCollectivesTellNothing) {
  EXPECT_FALSE(compare_ranks(std::vector<RankCollectives>{rank(0, {all_reduce(1, 0, 100)}),
                                                          rank(1, {all_reduce(7, 0, 100)})}));
  EXPECT_FALSE(compare_ranks(std::vector<RankCollectives>{rank(0, {all_reduce(1, 0, 100)})}));
  EXPECT_FALSE(compare_ranks(std::vector<RankCollectives>{rank(0, {}), rank(1, {})}));
}

TEST(RankCollectives, ARankThatIsGivenTwiceCountsOnce) {
  const auto one = [] { return rank(0, {all_reduce(1, 0, 1000)}); };
  std::vector<RankCollectives> ranks = {one(), one(), rank(1, {all_reduce(1, 900, 100)}),
                                        rank(1, {all_reduce(1, 5000, 700)})};
  const auto repeats = leave_out_repeats(ranks);
  ASSERT_EQ(repeats.size(), 2u);
  EXPECT_TRUE(repeats[0].is_same_recording);
  EXPECT_FALSE(repeats[1].is_same_recording) << "rank 1 at another time";
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(compare_ranks(ranks)->ranks[0].waiting, test::micros(900));
  // Without rank numbers, recordings that differ are of different ranks.
  ranks = {one(), rank(1, {all_reduce(1, 900, 100)}), one()};
  for (RankCollectives& r : ranks) r.rank = std::nullopt;
  EXPECT_EQ(leave_out_repeats(ranks).size(), 1u);
  EXPECT_EQ(ranks.size(), 2u);
}

TEST(RankCollectives, SheetsSplitTransferFromWaiting) {
  const std::vector<RankCollectives> ranks = {
      rank(0, {all_reduce(1, 0, 1000), all_reduce(2, 2000, 500)}),
      rank(1, {all_reduce(1, 900, 100), all_reduce(2, 2400, 100)})};
  const std::vector<Table> sheets = rank_sheets(ranks, *compare_ranks(ranks));
  ASSERT_EQ(sheets.size(), 2u);
  EXPECT_EQ(sheets[0].rows(), 2u);
  const Table& collectives = sheets[1];
  ASSERT_EQ(collectives.rows(), 4u) << "each collective of each rank";
  const auto cell = [&](std::string_view column, size_t row) {
    for (const Column& c : collectives.columns())
      if (c.name() == column) return c.cell(row);
    return std::string("no such column");
  };
  for (size_t row = 0; row < 4; ++row)
    EXPECT_EQ(std::stod(cell("duration us", row)),
              std::stod(cell("transfer us", row)) + std::stod(cell("waiting us", row)));
  EXPECT_EQ(std::stod(cell("waiting us", 0)), 900);
  EXPECT_EQ(cell("last to begin", 1), "yes");
  EXPECT_EQ(cell("last to begin", 0), "");
}

}  // namespace
}  // namespace fathom
