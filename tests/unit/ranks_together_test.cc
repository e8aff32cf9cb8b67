// Eight ranks made of the recorded ones, with skew, clock offset and drift that are known.
#include <fmt/format.h>

#include <cmath>

#include "analyze/ranks/compare_ranks.h"
#include "checks.h"
#include "session/code/together.h"
#include "test_files.h"
#include "unit/made_ranks.h"

namespace fathom {
namespace {

using test::RecordedRank;

constexpr int kRanks = 8, kCycles = 6;
// In a kernel of aten::mm between the all-gather and the first all-reduce; between kernels there;
// in both all-reduces; behind them.
constexpr double kInKernel = 3460, kBetweenKernels = 3300, kInReduces = 6000,
                 kBehindReduces = 14'100;

struct Planted {
  std::vector<double> late = std::vector<double>(kRanks, 0.0);  // µs, in each cycle
  double where = kInKernel;
  double ahead = 1375, ppm = 12;  // of a clock, for each rank more
  double jitter = 6;              // that reduces end later, up to, µs
  bool moves = false;             // the late one of a cycle is the next rank
};

RecordedRank made_rank(int r, const Planted& planted) {
  static const RecordedRank recorded(0);
  RecordedRank rank = recorded;
  rank.repeat(kCycles);
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    double latest = 0;
    for (const double late : planted.late) latest = std::max(latest, late);
    const double own = planted.moves ? (cycle % kRanks == r ? latest : 0) : planted.late[r];
    if (own > 0) rank.insert(cycle, planted.where, own);
    if (latest > own) rank.insert(cycle, kInReduces, latest - own);
    // Ends differ a little, as recorded ones do, and the ranks go on together.
    const double jitter = planted.jitter * ((r * 7 + cycle * 3) % 5) / 4;
    rank.insert(cycle, kInReduces + 1, jitter);
    rank.insert(cycle, kBehindReduces, planted.jitter - jitter);
  }
  rank.set_clock(planted.ahead * r, planted.ppm * (r - 3));
  return rank;
}

RankFacts made_facts(int r, const Planted& planted, int64_t world = kRanks) {
  return test::facts_of_text(made_rank(r, planted).json(r, world), fmt::format("rank{}.json", r));
}

std::vector<RankFacts> made_set(const Planted& planted) {
  std::vector<RankFacts> ranks;
  for (int r = 0; r < kRanks; ++r) ranks.push_back(made_facts(r, planted));
  return ranks;
}

Planted one_late(double micros) {
  Planted planted;
  planted.late[5] = micros;
  return planted;
}

double micros_of(Nanos time) { return time.micros(); }

TEST(RanksTogether, FindsClocksStragglerSkewAndCauseWithinOnePercent) {
  const RankComparison c = compare_ranks(made_set(one_late(2000)), nullptr);
  ASSERT_EQ(c.ranks.size(), 8u);
  EXPECT_EQ(c.matches.unmatched, 0u);
  EXPECT_EQ(c.matches.all.size(), 6u * kCycles);
  ASSERT_TRUE(c.clocks.all_aligned());
  for (int r = 1; r < kRanks; ++r) {
    const RankClock& clock = c.clocks.ranks[r];
    // Drift is beside that of rank 0, whose clock is the common one; the offset is that in the
    // middle.
    const double drift = (1 + 12e-6 * (r - 3)) / (1 - 36e-6) - 1;
    EXPECT_NEAR(clock.drift * 1e6, drift * 1e6, std::max(2.0, 0.2 * drift * 1e6)) << r;
    const double middle = 1375.0 * r + drift * kCycles * 15'000.0;
    EXPECT_NEAR(micros_of(*clock.offset), middle, 8) << r;
    EXPECT_LT(micros_of(clock.residual_p90), 15) << r;
  }
  EXPECT_EQ(c.verdict, RankVerdict::kStraggler);
  ASSERT_EQ(c.straggler, 5u);
  const LateRank& late = c.late[5];
  // Two all-reduces of a cycle wait for it.
  EXPECT_NEAR(micros_of(late.late_by), 2 * kCycles * 2000.0, 0.01 * 2 * kCycles * 2000.0);
  size_t planted = 0;
  for (const CollectiveWait& wait : c.waits) {
    if (micros_of(wait.skew) < 1000) continue;
    ++planted;
    EXPECT_EQ(wait.last, 5u);
    EXPECT_NEAR(micros_of(wait.skew), 2000, 20);
    EXPECT_NEAR(micros_of(wait.late_by), 2000, 20);
  }
  EXPECT_EQ(planted, 2u * kCycles);
  EXPECT_EQ(late.reason, LateReason::kSlowerKernels);
  ASSERT_FALSE(late.ops.empty());
  EXPECT_EQ(late.ops[0].name, "aten::mm");
  EXPECT_NEAR(micros_of(late.ops[0].excess), 2 * kCycles * 2000.0, 0.01 * 2 * kCycles * 2000.0);
  EXPECT_NEAR(micros_of(late.excess[part_index(RankPart::kComputation)]), 2 * kCycles * 2000.0,
              0.01 * 2 * kCycles * 2000.0);
}

// The same delay where the GPU has nothing to do.
TEST(RanksTogether, AHostThatIsLateIsIdleTimeOfItsGpu) {
  Planted planted = one_late(2000);
  planted.where = kBetweenKernels;
  const RankComparison c = compare_ranks(made_set(planted), nullptr);
  EXPECT_EQ(c.verdict, RankVerdict::kStraggler);
  ASSERT_EQ(c.straggler, 5u);
  EXPECT_EQ(c.late[5].reason, LateReason::kIdle);
  ASSERT_FALSE(c.late[5].idle.empty());
  EXPECT_NEAR(micros_of(c.late[5].excess[c.late[5].part]), 2 * kCycles * 2000.0,
              0.01 * 2 * kCycles * 2000.0);
  EXPECT_FALSE(c.late[5].idle[0].name.empty());
}

TEST(RanksTogether, SumsClose) {
  const RankComparison c = compare_ranks(made_set(one_late(900)), nullptr);
  for (uint32_t r = 0; r < c.ranks.size(); ++r) {
    EXPECT_EQ(total_of(c.ranks[r].parts), c.ranks[r].wall());
    EXPECT_EQ(c.rows[r].time, c.rows[r].waiting + c.rows[r].transfer + c.rows[r].rest);
  }
  ASSERT_TRUE(c.path.missing.empty());
  EXPECT_EQ(total_of(c.path.parts) + c.path.transfer, c.path.length);
  Nanos at = c.path.segments.front().begin;
  for (const RankPathSegment& s : c.path.segments) {
    EXPECT_EQ(s.begin, at);
    at = s.end;
  }
}

// The critical path goes through the late rank: its kernels, not the waiting of the others.
TEST(RanksTogether, ThePathGoesThroughTheLateRank) {
  const RankComparison c = compare_ranks(made_set(one_late(4000)), nullptr);
  ASSERT_TRUE(c.path.missing.empty());
  EXPECT_GE(micros_of(c.path.by_rank[5]), kCycles * 4000.0);
  EXPECT_GE(micros_of(c.path.parts[part_index(RankPart::kComputation)]), kCycles * 4000.0);
  EXPECT_LE(micros_of(c.path.length), micros_of(c.wall) * 1.01);
}

// Near-twins.
TEST(RanksTogether, EvenRanksHaveNoStraggler) {
  const RankComparison c = compare_ranks(made_set({}), nullptr);
  EXPECT_EQ(c.verdict, RankVerdict::kEven);
  EXPECT_LT(ratio(c.lateness, c.wall), 0.005);
}

TEST(RanksTogether, SkewThatMovesHasNoStraggler) {
  Planted planted = one_late(2000);
  planted.moves = true;
  const RankComparison c = compare_ranks(made_set(planted), nullptr);
  EXPECT_EQ(c.verdict, RankVerdict::kMoving);
  EXPECT_NEAR(micros_of(c.lateness), 2 * kCycles * 2000.0, 0.01 * 2 * kCycles * 2000.0);
  for (int r = 0; r < kCycles; ++r) EXPECT_NEAR(micros_of(c.late[r].late_by), 2 * 2000.0, 100) << r;
}

TEST(RanksTogether, MissingRanksAreNamedAndTheOthersCompared) {
  std::vector<RankFacts> ranks = made_set(one_late(2000));
  ranks.erase(ranks.begin() + 6);
  ranks.erase(ranks.begin() + 2);
  const RankComparison c = compare_ranks(std::move(ranks), nullptr);
  EXPECT_EQ(c.missing, (std::vector<int64_t>{2, 6}));
  EXPECT_EQ(c.verdict, RankVerdict::kStraggler);
  EXPECT_EQ(c.rank_name(c.straggler), "rank 5");
}

// The recording of one rank ends in the middle: what it has is compared.
TEST(RanksTogether, ATruncatedRankIsComparedAsFarAsItGoes) {
  const Planted planted = one_late(2000);
  std::vector<RankFacts> ranks = made_set(planted);
  std::string text = made_rank(3, planted).json(3, kRanks);
  // Repetitions follow each other in the file.
  text.resize(text.size() / 2);
  ranks[3] = test::facts_of_text(text, "rank3.json");
  EXPECT_TRUE(ranks[3].truncated);
  const size_t kept = ranks[3].collectives.size();
  EXPECT_GT(kept, 10u);
  EXPECT_LT(kept, 6u * kCycles);
  const RankComparison c = compare_ranks(std::move(ranks), nullptr);
  EXPECT_EQ(c.verdict, RankVerdict::kStraggler);
  EXPECT_EQ(c.straggler, 5u);
  // Those of the repetition in which it ends have lost their step.
  EXPECT_GE(c.rows[3].collectives + 6, kept);
  EXPECT_EQ(c.rows[4].collectives, 6u * kCycles);
  EXPECT_NEAR(micros_of(c.late[5].late_by), 2 * kCycles * 2000.0, 0.01 * 2 * kCycles * 2000.0);
}

// A clock that is set in the middle of the recording fits no line.
TEST(RanksTogether, ClocksThatFitNoLineAreRefusedAndWaitsAreByDurations) {
  const Planted planted = one_late(2000);
  std::vector<RankFacts> ranks = made_set(planted);
  RankFacts& odd = ranks[2];
  for (size_t i = odd.collectives.size() / 2; i < odd.collectives.size(); ++i) {
    odd.collectives[i].start += Nanos{60'000'000};
    odd.collectives[i].end += Nanos{60'000'000};
  }
  const RankComparison c = compare_ranks(std::move(ranks), nullptr);
  EXPECT_FALSE(c.clocks.ranks[2].aligned());
  EXPECT_TRUE(c.clocks.ranks[4].aligned());
  EXPECT_EQ(c.path.missing, "clocks");
  EXPECT_EQ(c.verdict, RankVerdict::kStraggler);
  EXPECT_EQ(c.straggler, 5u);
  // Ends differ by the jitter.
  EXPECT_NEAR(micros_of(c.late[5].late_by), 2 * kCycles * 2000.0, 0.01 * 2 * kCycles * 2000.0);
  const std::vector<std::string> none;
  EXPECT_FALSE(rank_sentences({c, none}).refused_clocks.empty());
}

TEST(RanksTogether, RanksGivenTwiceAndOtherJobsAreLeftOut) {
  const Planted planted = one_late(2000);
  std::vector<RankFacts> ranks = made_set(planted);
  RankFacts again = ranks[4];
  again.trace = "again.json";
  ranks.push_back(again);
  RankFacts other = ranks[1];
  other.trace = "other.json";
  other.world_size = 2;
  ranks.push_back(other);
  RankFacts later = ranks[6];
  later.trace = "later.json";
  later.rank = 7;
  later.begin += Nanos{3'600'000'000'000};
  later.end += Nanos{3'600'000'000'000};
  ranks.insert(ranks.begin(), later);
  const RankComparison c = compare_ranks(std::move(ranks), nullptr);
  EXPECT_EQ(c.ranks.size(), 8u);
  ASSERT_EQ(c.refused.size(), 3u);
  EXPECT_EQ(c.refused[0].trace, "later.json");
  EXPECT_EQ(c.refused[0].why, RankRefusal::kOtherJob);
  EXPECT_EQ(c.refused[1].trace, "again.json");
  EXPECT_EQ(c.refused[1].why, RankRefusal::kRepeated);
  EXPECT_EQ(c.refused[2].why, RankRefusal::kOtherJob);
  EXPECT_EQ(c.straggler, 5u);
}

// The recorded pair itself, which one machine ran: its clocks are the same.
TEST(RanksTogether, TheRecordedPairHasOneClock) {
  std::vector<RankFacts> ranks;
  for (int r = 0; r < 2; ++r) {
    const auto path = test::source_dir() / fmt::format("examples/ddp-rank{}-h200.json.gz", r);
    ranks.push_back(rank_facts_of(open_trace(path.string()).take(), Scope{}));
  }
  const RankComparison c = compare_ranks(std::move(ranks), nullptr);
  ASSERT_TRUE(c.clocks.all_aligned());
  EXPECT_LT(std::abs(micros_of(*c.clocks.ranks[1].offset)), 100);
  EXPECT_EQ(c.clocks.ranks[1].drift, 0);
  EXPECT_EQ(c.matches.all.size(), 6u);
}

// Both recordings together: natural skew of up to 0.6 ms beside a planted one.
TEST(RanksTogether, PlantedSkewIsFoundBesideTheRecordedOne) {
  const auto total_late = [](double planted) {
    std::vector<RankFacts> ranks;
    for (int r = 0; r < 4; ++r) {
      RecordedRank rank(r % 2);
      rank.repeat(4);
      for (int cycle = 0; cycle < 4; ++cycle)
        rank.insert(cycle, r == 3 ? kInKernel : kInReduces, planted);
      rank.set_clock(400.0 * r, 0);
      ranks.push_back(test::facts_of_text(rank.json(r, 4), fmt::format("rank{}.json", r)));
    }
    return compare_ranks(std::move(ranks), nullptr);
  };
  const RankComparison c = total_late(40'000);
  EXPECT_EQ(c.verdict, RankVerdict::kStraggler);
  EXPECT_EQ(c.straggler, 3u);
  size_t planted = 0;
  for (const CollectiveWait& wait : c.waits) {
    if (micros_of(wait.skew) < 20'000) continue;
    ++planted;
    EXPECT_NEAR(micros_of(wait.late_by), 40'000, 400);
  }
  EXPECT_EQ(planted, 8u);
}

}  // namespace
}  // namespace fathom
