#include <gtest/gtest.h>

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

}  // namespace
}  // namespace fathom::test
