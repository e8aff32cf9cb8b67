#include "analyze/reference_rates.h"

#include <cmath>

#include "checks.h"
#include "unit/workload.h"

namespace fathom {
namespace {

using test::first_finding;
using test::Workload;

Cost product(double m, double n, double k, std::string spec = "matrix_bf16") {
  Cost cost;
  cost.flops = 2 * m * n * k;
  cost.bytes = 2 * (m * k + n * k + m * n);
  cost.spec = std::move(spec);
  cost.params = {{"M", std::to_string(m)}, {"N", std::to_string(n)}, {"K", std::to_string(k)}};
  return cost;
}

std::optional<UsualTime> usual(std::string_view op, const Cost& cost,
                               const char* platform = "H200") {
  return usual_time({op, &cost, false}, *Platforms::built_in().find(platform).value());
}

// Measured: 4096 cubed at 808 TFLOP/s is 170 µs; 1 x 4096 x 4096 takes 12 µs.
TEST(ReferenceRates, AMeasuredShapeHasItsMeasuredTime) {
  const auto large = usual("aten::mm", product(4096, 4096, 4096));
  ASSERT_TRUE(large);
  EXPECT_NEAR(large->seconds * 1e6, 170, 10);
  EXPECT_FALSE(large->estimated);
  const auto decode = usual("aten::mm", product(1, 4096, 4096));
  ASSERT_TRUE(decode);
  EXPECT_NEAR(decode->seconds * 1e6, 12, 2);
}

TEST(ReferenceRates, BetweenMeasuredShapesTheTimeLiesBetween) {
  const auto below = usual("aten::mm", product(2048, 4096, 4096));
  const auto between = usual("aten::mm", product(3000, 4096, 4096));
  const auto above = usual("aten::mm", product(4096, 4096, 4096));
  ASSERT_TRUE(below && between && above);
  EXPECT_GT(between->seconds, below->seconds);
  EXPECT_LT(between->seconds, above->seconds);
}

TEST(ReferenceRates, AProductAndItsTransposeAreTheSameWork) {
  const auto one = usual("aten::mm", product(32, 14336, 4096));
  const auto turned = usual("aten::mm", product(14336, 32, 4096));
  ASSERT_TRUE(one && turned);
  EXPECT_NEAR(one->seconds / turned->seconds, 1, 0.01);
}

TEST(ReferenceRates, OfAShapeFarFromAllNothingIsKnown) {
  EXPECT_FALSE(usual("aten::mm", product(1e6, 1e6, 1e6)));
  EXPECT_FALSE(usual("aten::mm", product(1, 1, 1)));
  EXPECT_FALSE(usual("aten::mm", product(4096, 4096, 4096, "matrix_fp64"))) << "not measured";
  EXPECT_FALSE(usual("mylib::mm", product(4096, 4096, 4096))) << "no op that is known";
  EXPECT_FALSE(usual("aten::mm", Cost{}));
}

TEST(ReferenceRates, OtherGpusAreScaledByTheirLimitsAndSaySo) {
  const auto h200 = usual("aten::mm", product(8192, 8192, 8192));
  const auto a100 = usual("aten::mm", product(8192, 8192, 8192), "A100 80GB SXM");
  ASSERT_TRUE(h200 && a100);
  EXPECT_TRUE(a100->estimated);
  EXPECT_NEAR(a100->seconds / h200->seconds, 798.0 / 312, 0.05);
}

TEST(ReferenceRates, StreamsGoByTheirBytes) {
  const auto add = [](double bytes) {
    Cost cost;
    cost.flops = bytes / 12;
    cost.bytes = bytes;
    cost.spec = "vector_fp32";
    return usual("aten::add", cost)->seconds;
  };
  EXPECT_NEAR(3 * 1024.0 * (1 << 20) / add(3 * 1024.0 * (1 << 20)) / 1e12, 4.37, 0.1) << "TB/s";
  EXPECT_LT(add(1024), 3e-6) << "a kernel's fixed cost";
  EXPECT_GT(add(1024), 0.5e-6);
  // An op that was not measured goes by one of its kind.
  Cost tanh;
  tanh.bytes = 1 << 20;
  tanh.spec = "vector_bf16";
  EXPECT_TRUE(usual("aten::tanh", tanh));
}

// 1 x 4096 x 4096 in 12.5 µs is 63 % of the memory's limit: nobody does better.
TEST(ReferenceRates, AProductAtItsUsualRateIsNoFinding) {
  constexpr const char* kDims = "[[1,4096],[4096,4096]]";
  constexpr const char* kTypes = R"(["c10::BFloat16","c10::BFloat16"])";
  Workload usual_rate, slow;
  for (int i = 0; i < 200; ++i) usual_rate.op("aten::mm", kDims, kTypes, 13);
  for (int i = 0; i < 200; ++i) slow.op("aten::mm", kDims, kTypes, 30);
  EXPECT_EQ(first_finding(usual_rate.find(), FindingKind::kLowEfficiency), nullptr);
  const auto findings = slow.find();
  const Finding* f = first_finding(findings, FindingKind::kLowEfficiency);
  ASSERT_NE(f, nullptr) << "twice the usual time is one";
  // What can be saved is what others save: 30 - 12 µs a call, not 30 - 8.
  EXPECT_NEAR(f->saving_at_most.micros(), 200 * (30 - 12.1), 200 * 1.5);
}

// Products with TF32 are no faster than the GPU: 8192 cubed in 2.75 ms is 400 TFLOP/s.
TEST(ReferenceRates, Fp32OperandsOnTensorCoresAreHeldAgainstTf32) {
  Workload tf32;
  constexpr const char* kDims = "[[8192,8192],[8192,8192]]";
  constexpr const char* kTypes = R"(["float","float"])";
  for (int i = 0; i < 5; ++i)
    tf32.op("aten::mm", kDims, kTypes, 2750, "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize");
  tf32.assess([](const Assessment& a) {
    ASSERT_EQ(a.ops().size(), 1u);
    EXPECT_EQ(a.ops()[0].rate_name, "matrix_tf32");
    EXPECT_NEAR(*a.ops()[0].efficiency, 400.0 / 409, 0.02);
  });
  Workload plain;
  for (int i = 0; i < 5; ++i)
    plain.op("aten::mm", kDims, kTypes, 21500, "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_ffma");
  plain.assess([](const Assessment& a) {
    EXPECT_EQ(a.ops().at(0).rate_name, "vector_fp32");
    EXPECT_NEAR(*a.ops().at(0).efficiency, 1, 0.02);
  });
}

// A small tensor may stand in a cache; a hundred times the memory's rate is a wrong shape or time.
TEST(ReferenceRates, AnOpFarFasterThanTheGpuHasNoLimit) {
  const auto efficiency = [](const char* dims, int64_t time) {
    Workload w;
    w.op("aten::add", dims, test::kTwoBf16, time);
    std::optional<double> found;
    w.assess([&found](const Assessment& a) {
      found = a.ops().at(0).efficiency;
      EXPECT_EQ(found.has_value(), a.ops().at(0).no_limit.empty());
    });
    return found;
  };
  EXPECT_GT(efficiency("[[1048576,1024],[1048576,1024]]", 500).value_or(0), 1);
  EXPECT_FALSE(efficiency("[[1048576,1024],[1048576,1024]]", 5));
}

}  // namespace
}  // namespace fathom
