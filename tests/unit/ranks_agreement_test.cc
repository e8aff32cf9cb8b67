#include <fmt/format.h>

#include <functional>

#include "checks.h"
#include "session/code/together.h"
#include "test_files.h"

// The same traces by other tools: `bench/make_ranks.py DIR 4 200`, read by TraceLens
// (NcclAnalyser, commit 171dd747) and by HTA (commit f4d0062c, with the last step). docs/ranks.md
// has what they define differently.
namespace fathom::test {
namespace {

constexpr double kTraceLensLatencyMs = 60.307891;  // Total comm latency (ms)
constexpr double kTraceLensAlgorithm = 22.670312;  // algo bw (GB/s)_mean, of 2^30 bytes
constexpr double kTraceLensBus = 34.005467;        // bus bw (GB/s)_mean
constexpr double kHtaComputeMicros[] = {80000, 79200, 80000, 119200};
constexpr double kHtaKernelMicros[] = {183590, 183590, 183592, 183589};  // first to last kernel

TEST(RanksAgreement, WithTraceLensAndHta) {
  const TemporaryDirectory folder;
  if (run_command("python3 bench/make_ranks.py '" + folder.path().string() + "' 4 200",
                  source_dir())
          .exit_code != 0)
    GTEST_SKIP() << "skipped: no python3";
  const std::vector<std::string> traces = expand_traces({folder.path().string()}).take();
  const Together together = analyze_together(traces, {}).take();
  const RankComparison& c = together.comparison;
  ASSERT_EQ(c.collectives.size(), 1u);
  const CollectiveRow& row = c.collectives[0];
  EXPECT_EQ(row.count, 200u);
  EXPECT_NEAR(row.transfer.millis(), kTraceLensLatencyMs, 1e-6);
  EXPECT_NEAR(*row.algorithm_rate / (1 << 30), kTraceLensAlgorithm, 1e-3 * kTraceLensAlgorithm);
  EXPECT_NEAR(*row.bus_rate / (1 << 30), kTraceLensBus, 1e-3 * kTraceLensBus);
  ASSERT_EQ(c.ranks.size(), 4u);
  for (size_t r = 0; r < 4; ++r) {
    // HTA cuts times to whole microseconds: up to 1 of 100 in each kernel here.
    EXPECT_NEAR(c.ranks[r].parts[part_index(RankPart::kComputation)].micros(), kHtaComputeMicros[r],
                0.011 * kHtaComputeMicros[r]);
    EXPECT_NEAR(c.ranks[r].wall().micros(), kHtaKernelMicros[r], 1e-3 * kHtaKernelMicros[r]);
    EXPECT_EQ(c.ranks[r].hidden.count, 0);  // comp_comm_overlap_pctg 0
  }
}

// TraceLens's own cases of several ranks, made by the same rule (its
// tests/test_simplified_nccl_mode and test_all2allv_summary), and what its NcclAnalyser answers for
// them.
std::string gathers(int rank, bool has_group) {
  std::string events;
  for (int i = 0; i < 20; ++i) {
    const int start = 1'000'000 + rank * 50 + i * 1000 + rank * (i % 3 == 0 ? 5 : 2);
    events += fmt::format(
        R"({}{{"ph":"X","cat":"kernel","name":"void rcclGenericKernel<1, false>",)"
        R"("pid":{},"tid":3,"ts":{},"dur":{},"args":{{"External id":{},"device":{},"stream":3,"correlation":{}{}}}}})",
        i == 0 ? "" : ",", rank, start, 50 + 3 * rank, 100 + i, rank, 50 + i,
        has_group ? R"(,"Process Group Name":"default_pg","Process Group Ranks":[0,1,2,3],)"
                    R"("Collective name":"_allgather_base","Group size":4,"dtype":"BFloat16",)"
                    R"("In msg nelems":40960,"Out msg nelems":163840)"
                  : "");
  }
  return events;
}

RankComparison compared(const std::function<std::string(int)>& events_of) {
  const TemporaryDirectory folder;
  for (int rank = 0; rank < 4; ++rank)
    write_file(folder.path() / fmt::format("rank_{}.json", rank),
               "{\"traceEvents\":[" + events_of(rank) + "]}");
  return analyze_together(expand_traces({folder.path().string()}).take(), {}).take().comparison;
}

TEST(RanksAgreement, WithTraceLensOnItsOwnRanks) {
  const RankComparison c = compared([](int rank) { return gathers(rank, true); });
  ASSERT_EQ(c.collectives.size(), 1u);
  EXPECT_EQ(c.collectives[0].count, 20u);
  EXPECT_EQ(c.collectives[0].transfer.millis(), 1.0);                            // comm latency
  EXPECT_NEAR(*c.collectives[0].algorithm_rate / (1 << 30), 6.103515625, 1e-9);  // algo bw (GB/s)
  EXPECT_NEAR(*c.collectives[0].bus_rate / (1 << 30), 4.57763671875, 1e-9);      // bus bw (GB/s)
  // Without process groups: matched by order.
  const RankComparison bare = compared([](int rank) { return gathers(rank, false); });
  ASSERT_EQ(bare.collectives.size(), 1u);
  EXPECT_EQ(bare.collectives[0].count, 20u);
  EXPECT_EQ(bare.collectives[0].transfer.millis(), 1.0);
}

TEST(RanksAgreement, WithTraceLensOnImbalancedExperts) {
  const RankComparison c = compared([](int rank) {
    constexpr int kElements[] = {8000, 1000, 1000, 1000}, kTimes[] = {200, 300, 400, 500};
    return fmt::format(
        R"({{"ph":"X","cat":"kernel","name":"ncclKernel_AllToAllv_{}","ts":1000,"dur":{},"args":{{)"
        R"("External id":100,"Process Group Name":"pg_default","Process Group Ranks":[0,1,2,3],)"
        R"("Collective name":"all_to_allv","Group size":4,"dtype":"Float","In msg nelems":{},)"
        R"("Out msg nelems":{},"stream":0}}}})",
        rank, kTimes[rank], kElements[rank], kElements[rank]);
  });
  ASSERT_TRUE(c.experts);
  EXPECT_NEAR(c.experts->mean_imbalance, 2.909090909, 1e-9);  // size_imbalance
  ASSERT_EQ(c.waits.size(), 1u);
  EXPECT_EQ(c.waits[0].transfer.micros(), 200);  // min_rank_dur (us)
}

}  // namespace
}  // namespace fathom::test
