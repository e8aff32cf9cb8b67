#include "analyze/coverage.h"

#include "checks.h"
#include "unit/workload.h"

namespace fathom {
namespace {

using test::kMatrix;
using test::kTwoBf16;
using test::Workload;

std::string described(const Workload& w, const char* platform = "H200") {
  std::string text;
  w.assess(
      [&](const Assessment& a) {
        const Coverage coverage = measure_coverage(a);
        text = fmt::format("{:.0f} % assessed", coverage.assessed * 100);
        for (const Coverage::Gap& gap : coverage.gaps)
          text += fmt::format("; {} {:.0f} %: {}", not_assessed_name(gap.reason), gap.share * 100,
                              gap.examples.at(0));
      },
      platform);
  return text;
}

TEST(Coverage, WhatHasAModelAndAPlatformIsAssessed) {
  Workload w;
  w.op("aten::mm", kMatrix, kTwoBf16, 200);
  EXPECT_EQ(described(w), "100 % assessed");
}

TEST(Coverage, AnUnknownGpuMeansNothingWasAssessed) {
  Workload w;
  w.op("aten::mm", kMatrix, kTwoBf16, 200);
  EXPECT_EQ(described(w, nullptr), "0 % assessed; platform 100 %: aten::mm");
}

TEST(Coverage, UnknownOpsAreNamed) {
  Workload w;
  w.op("aten::mm", kMatrix, kTwoBf16, 200).op("mylib::stencil", "[[8]]", R"(["float"])", 600);
  EXPECT_EQ(described(w), "25 % assessed; unknown_ops 75 %: mylib::stencil");
}

TEST(Coverage, OpsWithoutShapesAreTold) {
  Workload w;
  w.op("aten::mm", kMatrix, kTwoBf16, 200);
  w.raw(test::cpu_op("aten::mm", w.host(), 8));
  w.raw(test::launch_call(w.host() + 2, 2, 99));
  w.raw(test::kernel("k", w.gpu(), 200, 99));
  EXPECT_EQ(described(w), "50 % assessed; no_shapes 50 %: aten::mm");
}

TEST(Coverage, KernelsOfGraphsAndWithoutALaunchAreTold) {
  Workload w;
  w.op("aten::mm", kMatrix, kTwoBf16, 200);
  w.raw(test::launch_call(w.host(), 4, 50, "1", "cudaGraphLaunch"));
  w.raw(test::kernel("nvjet_x", w.gpu(), 500, 50));
  w.raw(test::kernel("lost", w.gpu() + 600, 300, 77777));
  EXPECT_EQ(described(w),
            "20 % assessed; graphs 50 %: cudaGraphLaunch->nvjet_x (Synthetic Op); unlinked 30 %: "
            "lost");
}

// Near-twin: collectives and copies over a link have no limit here, and need none.
TEST(Coverage, CollectivesDoNotCount) {
  Workload w;
  w.op("aten::mm", kMatrix, kTwoBf16, 200);
  w.op("c10d::allreduce_", "[[8]]", R"(["float"])", 900, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  EXPECT_EQ(described(w), "100 % assessed");
}

}  // namespace
}  // namespace fathom
