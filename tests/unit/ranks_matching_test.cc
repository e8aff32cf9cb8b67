// Collectives of several ranks: matched by group, sequence and size; what cannot be matched is
// counted. Small traces through the real reader.
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

struct Nccl {
  std::string name = "allreduce";
  int64_t start = 0, time = 100;
  int64_t sequence = -1;  // none
  std::string group = "0", ranks = "[0, 1]";
  int64_t in = 3670016, out = 3670016;
  std::string peer = {};  // "\"Dst Rank\":1,"
};

// A kernel of a collective, in µs.
std::string nccl(const Nccl& c) {
  static int64_t correlation = 1'000'000;
  return fmt::format(
      R"({{"ph":"X","cat":"kernel","name":"ncclDevKernel_{}","pid":0,"tid":20,"ts":{},"dur":{},)"
      R"("args":{{"device":0,"stream":20,"correlation":{},"Collective name":"{}",)"
      R"("In msg nelems":{},"Out msg nelems":{},"Group size":2,"dtype":"BFloat16",)"
      R"("Process Group Name":"{}","Process Group Ranks":"{}",{}{}"x":1}}}})",
      c.name, c.start, c.time, ++correlation, c.name, c.in, c.out, c.group, c.ranks, c.peer,
      c.sequence < 0 ? "" : fmt::format("\"Seq\":{},", c.sequence));
}

RankFacts facts_of(int64_t number, const std::vector<std::string>& events, int64_t world = 2) {
  RankFacts facts =
      test::facts_of_text(test::trace_text(events), fmt::format("rank{}.json", number));
  facts.rank = number;
  facts.world_size = world;
  return facts;
}

// Rank 1 computes longer: it begins each collective last and never waits.
TEST(RanksMatching, TheRankThatBeginsLastWaitsLeast) {
  const RankComparison c =
      compare({facts_of(0, {nccl({.start = 0, .time = 1000, .sequence = 1}),
                            nccl({.start = 2000, .time = 500, .sequence = 2})}),
               facts_of(1, {nccl({.start = 900, .time = 100, .sequence = 1}),
                            nccl({.start = 2400, .time = 100, .sequence = 2})})});
  ASSERT_EQ(c.waits.size(), 2u);
  // Two in common are too few for clocks: durations tell.
  EXPECT_EQ(c.clocks.ranks[1].refusal, ClockRefusal::kTooFew);
  EXPECT_FALSE(c.waits[0].by_clocks);
  EXPECT_EQ(c.rows[0].waiting, test::micros(1300));
  EXPECT_EQ(c.rows[1].waiting, Nanos{});
  EXPECT_EQ(c.rows[0].transfer, test::micros(200));
  EXPECT_EQ(c.rows[1].last, 2u);
  EXPECT_EQ(c.verdict, RankVerdict::kStraggler);
  EXPECT_EQ(c.straggler, 1u);
  ASSERT_EQ(c.collectives.size(), 1u);
  EXPECT_NEAR(*c.collectives[0].bus_rate / 1e9, 7 * 1.048576 / 100 * 1e3, 1);
}

TEST(RanksMatching, SequenceNumbersFindTheirOwnAfterAMissingOne) {
  std::vector<std::string> all, without;
  for (int i = 0; i < 10; ++i) {
    all.push_back(nccl({.start = i * 1000, .sequence = i}));
    if (i != 4) without.push_back(nccl({.start = i * 1000 + 5, .sequence = i}));
  }
  const RankComparison c = compare({facts_of(0, all), facts_of(1, without)});
  EXPECT_EQ(c.matches.all.size(), 9u);
  EXPECT_EQ(c.matches.unmatched, 1u);
  for (const CollectiveWait& wait : c.waits) EXPECT_LT(wait.skew, test::micros(10));
}

// Near-twin: without numbers the missing one is seen by its size; those that look alike and do not
// agree in number are left out, not matched with the wrong one.
TEST(RanksMatching, WithoutNumbersAMissingOneMatchesNothingWrong) {
  const auto make = [](bool lacks) {
    std::vector<std::string> events;
    for (int step = 0; step < 6; ++step) {
      const int64_t at = step * 10'000;
      events.push_back(test::annotation(fmt::format("ProfilerStep#{}", step), at, 9'900));
      for (int i = 0; i < 4; ++i) {
        if (lacks && step == 3 && i == 1) continue;
        const int64_t size = i == 3 ? 1000 : 3670016;
        events.push_back(test::launch_call(at + 100 + i * 2000, 5, 50 + step * 4 + i));
        std::string kernel = nccl({.start = at + 200 + i * 2000, .in = size, .out = size});
        const size_t begin = kernel.find("\"correlation\":") + 14;
        kernel.replace(begin, kernel.find(',', begin) - begin, std::to_string(50 + step * 4 + i));
        events.push_back(kernel);
      }
    }
    return events;
  };
  const RankComparison c = compare({facts_of(0, make(false)), facts_of(1, make(true))});
  ASSERT_FALSE(c.matches.groups.empty());
  EXPECT_FALSE(c.matches.groups[0].by_sequence);
  // In step 3 only the one of another size is certain.
  EXPECT_EQ(c.matches.all.size(), 21u);
  for (const CollectiveWait& wait : c.waits) EXPECT_EQ(wait.skew, Nanos{});
}

TEST(RanksMatching, WhatDiffersInSizeIsNotCompared) {
  std::vector<std::string> a, b;
  for (int i = 0; i < 5; ++i) {
    a.push_back(nccl({.start = i * 1000, .sequence = i}));
    b.push_back(nccl({.start = i * 1000,
                      .sequence = i,
                      .in = i == 2 ? 5 : 3670016,
                      .out = i == 2 ? 5 : 3670016}));
  }
  const RankComparison c = compare({facts_of(0, a), facts_of(1, b)});
  EXPECT_EQ(c.matches.differing, 1u);
  EXPECT_EQ(c.matches.all.size(), 4u);
}

// A kernel of no length took some; one that ended before it began is read as such.
TEST(RanksMatching, CollectivesWithoutADurationAreLeftOutAndSaid) {
  std::vector<std::string> a, b;
  for (int i = 0; i < 6; ++i) {
    a.push_back(nccl({.start = i * 1000, .sequence = i}));
    b.push_back(nccl({.start = i * 1000, .time = i == 1 ? -50 : i == 4 ? 0 : 100, .sequence = i}));
  }
  const RankComparison c = compare({facts_of(0, a), facts_of(1, b)});
  EXPECT_EQ(c.matches.untimed, 2u);
  EXPECT_EQ(c.waits.size(), 4u);
  EXPECT_EQ(c.rows[0].transfer, test::micros(400));
  const std::vector<std::string> notes = rank_sentences({c, {}}).notes;
  EXPECT_EQ(std::ranges::count(notes,
                               "2 collectives left out: without a duration, or with a negative "
                               "one, on a rank"),
            1);
  // They are in both traces.
  for (const std::string& note : notes)
    EXPECT_EQ(note.find("in no other trace"), std::string::npos);
}

// A rank that was recorded three times as long computes three times as much, and is not out of
// balance. Its near-twin of the same length is.
TEST(RanksMatching, RanksOfUnequalLengthAreComparedByShares) {
  const auto rank = [](int number, int collectives, int64_t work) {
    std::vector<std::string> events;
    for (int i = 0; i < collectives; ++i) {
      events.push_back(nccl({.start = i * 1000, .sequence = i}));
      events.push_back(fmt::format(
          R"({{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":{},"dur":{},"args":{{"device":0,"stream":7}}}})",
          i * 1000 + 200, work));
    }
    return facts_of(number, events);
  };
  const RankComparison longer = compare({rank(0, 10, 500), rank(1, 30, 500)});
  EXPECT_TRUE(longer.unequal_lengths);
  EXPECT_NEAR(longer.computation_balance, 1, 0.02);
  const auto says = [](const RankComparison& c) {
    return std::ranges::any_of(rank_sentences({c, {}}).notes, [](const std::string& note) {
      return note.starts_with("traces have different lengths");
    });
  };
  EXPECT_TRUE(says(longer));
  const RankComparison busier = compare({rank(0, 10, 250), rank(1, 10, 500)});
  EXPECT_FALSE(busier.unequal_lengths);
  EXPECT_FALSE(says(busier));
  EXPECT_NEAR(busier.computation_balance, 0.75, 0.01);
}

// Kernels that say nothing of what they do: their times tell whether they end together.
TEST(RanksMatching, CollectivesOfUnknownKindAlignClocksIfTheyFit) {
  const auto rank = [](int number, bool fits) {
    std::vector<std::string> events;
    for (int i = 0; i < 20; ++i) {
      const int64_t at = 1000 * i + 77 * number + (fits ? 0 : number * (i % 5) * 150);
      events.push_back(fmt::format(
          R"({{"ph":"X","cat":"kernel","name":"rcclGenericKernel","pid":0,"tid":20,"ts":{},"dur":60,"args":{{"device":0,"stream":20}}}})",
          at));
    }
    return facts_of(number, events);
  };
  const RankComparison c = compare({rank(0, true), rank(1, true)});
  EXPECT_TRUE(c.clocks.by_unknown_kind);
  ASSERT_EQ(c.waits.size(), 20u);
  EXPECT_EQ(c.clocks.ranks[1].offset, std::optional(test::micros(77)));
  EXPECT_EQ(c.rows[1].transfer, test::micros(20 * 60));
  EXPECT_TRUE(compare({rank(0, true), rank(1, false)}).waits.empty());
}

// A host op that takes longer on one rank, between kernels that are launched slowly everywhere.
TEST(RanksMatching, ALateHostOpIsNamedBesideSlowLaunches) {
  const auto rank = [](int number, int64_t more) {
    std::vector<std::string> events;
    for (int64_t i = 0, at = 0; i < 10; ++i) {
      events.push_back(fmt::format(
          R"({{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":11,"ts":{},"dur":160,"args":{{"External id":{}}}}})",
          at, i + 1));
      events.push_back(test::launch_call(at + 4, 150, i + 1, "11"));
      events.push_back(fmt::format(
          R"({{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":{},"dur":80,"args":{{"device":0,"stream":7,"correlation":{}}}}})",
          at + 155, i + 1));
      const int64_t own = number == 1 ? more : 0;
      events.push_back(fmt::format(
          R"({{"ph":"X","cat":"cpu_op","name":"aten::topk","pid":1,"tid":11,"ts":{},"dur":{}}})",
          at + 240, 30 + own));
      events.push_back(fmt::format(
          R"({{"ph":"X","cat":"user_annotation","name":"gloo:all_reduce","pid":1,"tid":11,"ts":{},"dur":{},)"
          R"("args":{{"Collective name":"all_reduce","In msg nelems":10,"Out msg nelems":10,"dtype":"Float",)"
          R"("Group size":2,"Process Group Name":"0","Process Group Ranks":"[0, 1]","Seq":{}}}}})",
          at + 270 + own, 60 + more - own, i));
      at += 340 + more;
    }
    return facts_of(number, events);
  };
  const RankComparison c = compare({rank(0, 100), rank(1, 100)});
  ASSERT_EQ(c.verdict, RankVerdict::kStraggler);
  ASSERT_FALSE(c.late[1].idle.empty());
  const LateWork& most = c.late[1].idle[0];
  EXPECT_EQ(most.name, "aten::topk");
  EXPECT_EQ(most.excess, test::micros(9 * 100));  // all but the first, which follows none
  EXPECT_EQ(most.others, test::micros(9 * 30));
}

// Noise of 20 µs over 55 ms cannot tell 50 ppm, 2.75 µs; that of 0.2 µs can.
TEST(RanksMatching, DriftIsSaidWithItsUncertaintyOrNotAtAll) {
  const auto rank = [](int number, double ppm, double noise) {
    std::vector<std::string> events;
    uint32_t random = 12345;
    for (int i = 0; i < 55; ++i) {
      random = random * 1664525 + 1013904223;
      const double off = noise * (random >> 8) / double{1 << 24};
      std::string event = nccl({.start = 7'777'777, .sequence = i});
      event.replace(event.find("7777777"), 7,
                    fmt::format("{:.3f}", i * 1000 * (1 + ppm * 1e-6) + off));
      events.push_back(event);
    }
    return facts_of(number, events);
  };
  const auto clock = [&](double ppm, double noise) {
    return compare({rank(0, 0, 0), rank(1, ppm, noise)}).clocks.ranks[1];
  };
  const RankClock seen = clock(50, 0.2), hidden = clock(50, 20);
  ASSERT_TRUE(seen.drift_error && hidden.drift_error);
  EXPECT_NE(seen.drift, 0);
  EXPECT_NEAR(seen.drift * 1e6, 50, *seen.drift_error * 1e6);
  EXPECT_LT(*seen.drift_error * 1e6, 15);
  EXPECT_EQ(hidden.drift, 0);
  EXPECT_GT(*hidden.drift_error * 1e6, 50);
}

// Two pairs of ranks with groups of their own, tied together by a group of all.
TEST(RanksMatching, GroupsAreToldApartAndClocksGoFromGroupToGroup) {
  std::vector<RankFacts> ranks;
  for (int r = 0; r < 4; ++r) {
    std::vector<std::string> events;
    const std::string pair = r < 2 ? "[0, 1]" : "[2, 3]";
    const int64_t ahead = r * 5000;
    for (int i = 0; i < 12; ++i)
      events.push_back(nccl({.start = ahead + i * 1000 + (r == 3 ? 40 : 0),
                             .time = r == 3 ? 60 : 100,
                             .sequence = i,
                             .group = r < 2 ? "1" : "2",
                             .ranks = pair}));
    // Rank 1 and 2 alone connect them.
    if (r == 1 || r == 2) {
      for (int i = 0; i < 5; ++i)
        events.push_back(nccl(
            {.start = ahead + 500 + i * 1000, .sequence = i, .group = "3", .ranks = "[1, 2]"}));
    }
    ranks.push_back(facts_of(r, events, 4));
  }
  const RankComparison c = compare(std::move(ranks));
  ASSERT_TRUE(c.clocks.all_aligned());
  for (int r = 0; r < 4; ++r) EXPECT_NEAR(c.clocks.ranks[r].offset->micros(), 5000 * r, 0.01) << r;
  EXPECT_EQ(c.matches.groups.size(), 3u);
  EXPECT_EQ(c.late[3].collectives, 12u);
  EXPECT_EQ(c.late[3].late_by, test::micros(12 * 40));
}

TEST(RanksMatching, GroupsOfOneNameWithOtherMembersAreAConflict) {
  const RankComparison c = compare({facts_of(0, {nccl({.sequence = 1, .ranks = "[0, 1]"})}),
                                    facts_of(1, {nccl({.sequence = 1, .ranks = "[1, 2]"})})});
  EXPECT_GT(c.matches.group_conflicts, 0u);
  EXPECT_EQ(c.verdict, RankVerdict::kNoCollectives);
  // Groups of layers that are split have one name for several sets of ranks: no conflict.
  const RankComparison fine =
      compare({facts_of(0, {nccl({.sequence = 1, .group = "t", .ranks = "[0]"})}),
               facts_of(1, {nccl({.sequence = 1, .group = "t", .ranks = "[1]"})})});
  EXPECT_EQ(fine.matches.group_conflicts, 0u);
}

// Forward through stages 0, 1, 2 and back; peers are counted within the group.
TEST(RanksMatching, SendsAndReceivesShowPipelineStages) {
  const auto at = [](std::string kind, int64_t start, int64_t time, int64_t peer) {
    return nccl({.name = kind,
                 .start = start,
                 .time = time,
                 .group = "p",
                 .ranks = "[3, 5, 9]",
                 .peer = fmt::format("\"{} Rank\":{},", kind == "send" ? "Dst" : "Src", peer)});
  };
  std::vector<std::string> first, middle, last;
  for (int i = 0; i < 4; ++i) {
    const int64_t t = i * 1000;
    first.push_back(at("send", t + 100, 10, 1));
    middle.push_back(at("recv", t + 20, 90, 0));
    middle.push_back(at("send", t + 200, 10, 2));
    last.push_back(at("recv", t + 20, 190, 1));
    last.push_back(at("send", t + 300, 10, 1));
    middle.push_back(at("recv", t + 250, 60, 2));
    middle.push_back(at("send", t + 400, 10, 0));
    first.push_back(at("recv", t + 150, 260, 1));
  }
  // Clocks need collectives of all.
  for (std::vector<std::string>* events : {&first, &middle, &last}) {
    for (int i = 0; i < 4; ++i)
      events->push_back(
          nccl({.start = i * 1000 + 600, .sequence = i, .group = "p", .ranks = "[3, 5, 9]"}));
  }
  const RankComparison c =
      compare({facts_of(3, first, 12), facts_of(5, middle, 12), facts_of(9, last, 12)});
  ASSERT_TRUE(c.pipeline);
  EXPECT_EQ(c.pipeline->stages, 3u);
  EXPECT_FALSE(c.pipeline->is_ring);
  for (uint32_t r = 0; r < 3; ++r) EXPECT_EQ(c.pipeline->stage[r], r);
  EXPECT_EQ(c.matches.groups.back().collectives, 16u);
  // The last waits 180 µs for what takes 10.
  EXPECT_EQ(c.pipeline->bubble[2], test::micros(4 * 180));
}

TEST(RanksMatching, AllToAllsShowWhoGetsMost) {
  std::vector<RankFacts> ranks;
  for (int r = 0; r < 4; ++r) {
    std::vector<std::string> events;
    for (int i = 0; i < 5; ++i)
      events.push_back(nccl({.name = "all_to_allv",
                             .start = i * 1000,
                             .sequence = i,
                             .ranks = "[0, 1, 2, 3]",
                             .in = 1000,
                             .out = r == 2 ? 2500 : 500}));
    ranks.push_back(facts_of(r, events, 4));
  }
  const RankComparison c = compare(std::move(ranks));
  ASSERT_TRUE(c.experts);
  EXPECT_EQ(c.experts->collectives, 5u);
  EXPECT_DOUBLE_EQ(c.experts->mean_imbalance, 2.5);
  EXPECT_EQ(c.experts->most_loaded, 2u);
  EXPECT_FALSE(c.pipeline);
}

TEST(RanksMatching, ARankWithMoreKernelsHasMoreWork) {
  const auto make = [](int kernels) {
    std::vector<std::string> events;
    int64_t id = 1;
    for (int i = 0; i < 8; ++i) {
      const int64_t at = i * 10'000;
      for (int k = 0; k < kernels; ++k, ++id) {
        events.push_back(test::cpu_op("aten::mm", at + k * 500, 50));
        events.push_back(test::launch_call(at + k * 500 + 5, 5, id));
        events.push_back(test::kernel("gemm", at + k * 500 + 20, 480, id));
      }
      const int64_t begin = at + kernels * 500 + 20;
      events.push_back(nccl({.start = begin, .time = at + 8000 - begin, .sequence = i}));
    }
    return events;
  };
  const RankComparison c = compare({facts_of(0, make(4)), facts_of(1, make(6))});
  EXPECT_EQ(c.verdict, RankVerdict::kStraggler);
  EXPECT_EQ(c.straggler, 1u);
  EXPECT_EQ(c.late[1].reason, LateReason::kMoreWork);
  ASSERT_FALSE(c.late[1].ops.empty());
  EXPECT_EQ(c.late[1].ops[0].own_count, 7u * 6);
  EXPECT_EQ(c.late[1].ops[0].other_count, 7u * 4);
}

TEST(RanksMatching, RanksAreReadFromNames) {
  EXPECT_EQ(rank_in_name("a/rank-3.json.gz"), 3);
  EXPECT_EQ(rank_in_name("trace_rank_12.pt.trace.json"), 12);
  EXPECT_EQ(rank_in_name("Rank0007.json"), 7);
  EXPECT_EQ(rank_in_name("rank4/trace.json"), 4);
  EXPECT_EQ(rank_in_name("frank/trace.json"), std::nullopt);
  EXPECT_EQ(rank_in_name("trace-17.json"), std::nullopt);
  EXPECT_EQ(rank_in_name("rank99999999999999999999.json"), std::nullopt);
}

// Hostile: numbers beyond the world, a world without end, lists of members that are no lists.
TEST(RanksMatching, OddNumbersAndListsAreCountedAndHarmless) {
  std::vector<RankFacts> ranks;
  for (const int64_t number : {int64_t{0}, int64_t{1}, int64_t{77}, int64_t{-5}, INT64_MAX}) {
    std::vector<std::string> events;
    for (int i = 0; i < 4; ++i)
      events.push_back(nccl({.start = i * 1000,
                             .sequence = INT64_MAX - i,
                             .ranks = "[0, 1, ..., 99999999999999999999"}));
    ranks.push_back(facts_of(number, events, 2));
  }
  const RankComparison c = compare(std::move(ranks));
  EXPECT_EQ(c.beyond_world, 2u);
  EXPECT_EQ(c.matches.all.size(), 4u);
  std::vector<RankFacts> endless;
  for (int r = 0; r < 2; ++r) endless.push_back(facts_of(r, {nccl({.sequence = 1})}, INT64_MAX));
  const RankComparison e = compare(std::move(endless));
  EXPECT_EQ(e.missing_count, static_cast<size_t>(INT64_MAX) - 2);
  EXPECT_EQ(e.missing.size(), 100u);
  const std::vector<std::string> none;
  EXPECT_FALSE(ranks_text({e, none}, {}, {}).empty());
  EXPECT_FALSE(ranks_markdown({e, none}).empty());
}

TEST(RanksMatching, ARankWithoutANumberIsCalledByItsFile) {
  RankComparison c;
  for (const char* trace :
       {"/runs/a/node0/trace.json", "/runs/a/node1/trace.json", "/runs/a/x.json"})
    c.ranks.emplace_back().trace = trace;
  c.ranks.emplace_back().rank = 3;
  EXPECT_EQ(c.rank_name(0), "node0/trace.json");
  EXPECT_EQ(c.rank_name(1), "node1/trace.json");
  EXPECT_EQ(c.rank_name(2), "x.json");
  EXPECT_EQ(c.rank_name(3), "rank 3");
}

TEST(RanksMatching, AThousandTinyRanksFitAScreenAndAPicture) {
  const RankFacts one =
      facts_of(0,
               {nccl({.start = 0, .sequence = 1}), nccl({.start = 500, .sequence = 2}),
                nccl({.start = 900, .sequence = 3})},
               1000);
  std::vector<RankFacts> ranks;
  for (int64_t r = 0; r < 1000; ++r) {
    ranks.push_back(one);
    ranks.back().rank = r;
    ranks.back().trace = fmt::format("rank{}.json", r);
    ranks.back().collectives[1].start += Nanos{r == 700 ? 90'000 : 0};
  }
  const RankComparison c = compare(std::move(ranks));
  EXPECT_EQ(c.matches.all.size(), 3u);
  EXPECT_EQ(c.straggler, 700u);
  const std::vector<std::string> none;
  const std::string screen = ranks_text({c, none}, {}, {});
  EXPECT_LT(std::ranges::count(screen, '\n'), 40);
  EXPECT_LT(ranks_drawing(c).size(), 4'000'000u);
  EXPECT_LT(ranks_markdown({c, none}).size(), 100'000u);
}

}  // namespace
}  // namespace fathom
