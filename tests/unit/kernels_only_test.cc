// Recordings without ops: what the rows are then, and what is not claimed.
#include "checks.h"
#include "report/trace/summary.h"
#include "session/analyze.h"
#include "small_trace.h"

namespace fathom {
namespace {

Summary summary_of(const Trace& trace) {
  const Result<Analysis> analysis = analyze(trace, Scope{}, {1});
  EXPECT_TRUE(analysis.ok());
  return analysis.value().summary;
}

bool has_finding(const Summary& s, std::string_view kind) {
  return std::ranges::any_of(s.findings, [&](const auto& f) { return f.kind == kind; });
}

TEST(KernelsOnly, WithoutOpsTheKernelsAreTheRows) {
  const Trace trace = test::open_events(
      {test::launch_call(0, 5, 1), test::launch_call(10, 5, 2), test::launch_call(20, 5, 3),
       test::kernel("gemm_a", 30, 100, 1), test::kernel("ncclAllReduce", 130, 50, 2),
       test::kernel("gemm_a", 180, 100, 3)});
  const Summary s = summary_of(trace);
  EXPECT_FALSE(s.has_ops);
  EXPECT_TRUE(s.has_launches);
  ASSERT_EQ(s.ops.size(), 2u);
  EXPECT_EQ(s.ops[0].name, "gemm_a");
  EXPECT_EQ(s.ops[0].category, "gemm");
  EXPECT_EQ(s.ops[0].calls, 2);
  EXPECT_EQ(s.ops[1].category, "communication");
  EXPECT_NE(summary_text(s, {false, false, 100}).find("Top kernels"), std::string::npos);
}

// The near-twin: one op in the trace, and launches without one keep the launch's name.
TEST(KernelsOnly, WithAnOpTheLaunchStaysPartOfTheName) {
  const Trace trace =
      test::open_events({test::launch_call(0, 5, 1), test::cpu_op("aten::mm", 50, 9),
                         test::kernel("gemm_a", 30, 100, 1)});
  const Summary s = summary_of(trace);
  EXPECT_TRUE(s.has_ops);
  ASSERT_EQ(s.ops.size(), 1u);
  EXPECT_EQ(s.ops[0].name, "cudaLaunchKernel->gemm_a (Synthetic Op)");
}

// Nothing tells that the host was late: idle time has no cause, and no kernel hides behind it.
TEST(KernelsOnly, WithoutLaunchesIdleTimeHasNoCause) {
  std::vector<std::string> kernels;
  for (int i = 0; i < 20; ++i) kernels.push_back(test::kernel("k", 1000 * i, 100, i));
  const Trace alone = test::open_events(kernels);
  EXPECT_FALSE(alone.tree.has_launches());
  EXPECT_EQ(alone.tree.unlinked().size(), 0u);
  const Summary s = summary_of(alone);
  EXPECT_FALSE(s.has_launches);
  EXPECT_GT(ratio(s.timeline.idle, s.timeline.total), 0.8);
  EXPECT_FALSE(has_finding(s, "host_bound"));
  EXPECT_TRUE(s.findings.empty());
  EXPECT_NE(summary_text(s, {false, false, 100}).find("no launches"), std::string::npos);
  // With late launches the same gaps have one.
  std::vector<std::string> launched = kernels;
  for (int i = 0; i < 20; ++i) launched.push_back(test::launch_call(1000 * i - 20, 10, i));
  const Summary with = summary_of(test::open_events(launched));
  EXPECT_FALSE(with.findings.empty());
}

TEST(KernelsOnly, MpiOnTheHostIsCommunication) {
  std::vector<std::string> events;
  for (int i = 0; i < 5; ++i) {
    events.push_back(test::launch_call(1000 * i + 900, 10, i));
    events.push_back(test::kernel("k", 1000 * i + 950, 100, i));
    events.push_back(test::annotation("MPI_Recv", 1000 * i + 60, 800));
  }
  EXPECT_TRUE(has_finding(summary_of(test::open_events(events)), "exposed_communication"));
}

TEST(KernelsOnly, RangesAreNamedWhereThereAreNoSteps) {
  const Trace trace =
      test::open_events({test::annotation("forward", 0, 500), test::launch_call(0, 5, 1),
                         test::kernel("k", 30, 100, 1)});
  EXPECT_EQ(summary_of(trace).ranges, std::vector<std::string>{"forward"});
}

}  // namespace
}  // namespace fathom
