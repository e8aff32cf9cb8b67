#include "checks.h"
#include "unit/cost_calls.h"

namespace fathom {
namespace {

using test::cost;
using test::element;
using test::gradient_cost;
using test::kBf16;
using test::kFp32;
using test::kFp8;
using test::none;
using test::number;
using test::param;
using test::tensor;

TEST(NormalizationCost, LayerNormHasAMeanAndADeviationForEachRow) {
  // 3 rows of 4: 6·4 + 3·12 + 2·12; in and out 24 elements, weight and bias 8, 2 · 3 floats
  EXPECT_COST(
      cost("aten::native_layer_norm", {tensor({3, 4}), number("[4]"), tensor({4}), tensor({4})}),
      24 + 60, 24 * 2 + 8 * 2 + 24);
}

std::vector<ArgValue> batch_norm(const char* training) {
  return {tensor({2, 3, 5}),  tensor({3}, kFp32), tensor({3}, kFp32),
          tensor({3}, kFp32), tensor({3}, kFp32), number(training)};
}

TEST(NormalizationCost, BatchNormTrainsOrInfers) {
  // 30 elements, 3 channels. Training computes statistics and writes four of them.
  const auto trains = cost("aten::batch_norm", batch_norm("True"));
  EXPECT_COST(trains, 18 + 90 + 60, 60 * 2 + 6 * 4 + 3 * 4 * 4);
  EXPECT_EQ(param(*trains, "is_training"), "true");
  const auto infers = cost("aten::batch_norm", batch_norm("False"));
  EXPECT_COST(infers, 18 + 60, 60 * 2 + 6 * 4 + 3 * 4 * 2);
  EXPECT_EQ(param(*infers, "is_training"), "false");
}

TEST(NormalizationCost, RmsNormHasNoMean) {
  // 3 · (2·4 + 2) + 2·12; in, out, weight
  EXPECT_COST(cost("aten::_fused_rms_norm", {tensor({3, 4}), number("[4]"), tensor({4})}), 30 + 24,
              28 * 2);
  EXPECT_COST(cost("aiter::rms_norm", {tensor({3, 4}), tensor({4}), number("1e-05")}), 54, 28 * 2);
}

TEST(NormalizationCost, AResidualIsAddedAndItsSumWritten) {
  EXPECT_COST(cost("_C::fused_add_rms_norm", {tensor({3, 4}), tensor({3, 4}), tensor({4})}),
              54 + 12, (28 + 24) * 2);
}

TEST(NormalizationCost, QuantizedResults) {
  // out 12 bytes, scale 3 floats; 2 more operations on each element
  EXPECT_COST(cost("aiter::rmsnorm_quant",
                   {tensor({3, 4}, kFp8), tensor({3, 4}), tensor({3, 1}, kFp32), tensor({4})}),
              54 + 24, 24 + 12 + 12 + 8);
  // A scale for each two elements: 6 floats
  EXPECT_COST(cost("vllm::rocm_aiter_rmsnorm_fp8_group_quant",
                   {tensor({3, 4}), tensor({4}), number("1e-05"), number("2")}),
              54 + 24, 24 + 12 + 24 + 8);
}

TEST(NormalizationCost, RowsFilledUp) {
  // 4 columns are written as 6; residual read and written
  EXPECT_COST(cost("vllm::rocm_aiter_triton_add_rmsnorm_pad",
                   {tensor({3, 4}), tensor({4}), number("1e-05"), tensor({3, 4}), number("6")}),
              54 + 12, (12 + 18 + 24 + 4) * 2);
}

TEST(NormalizationCost, ASecondInputBesideTheFirst) {
  // x1 3 × 4 to four bits with scales (17/32 bytes), x2 3 × 2 normalized: 3·(2·2 + 2) + 12
  EXPECT_COST(cost("sglang_profiler::fused_mxfp4_quant_fused_rms_mxfp4_quant",
                   {tensor({3, 4}), tensor({4}), number("1e-05"), tensor({3, 2}), tensor({2}),
                    number("1e-05"), none()}),
              54 + 24 + 30, 24 + 12 * 0.53125 + 8 + 2 * 12 + 4);
}

TEST(NormalizationCost, GroupNormScalesChannels) {
  // group_norm(x, groups, weight, bias): 6·3 + 5·30, 10 rows of means
  EXPECT_COST(cost("aten::group_norm", {tensor({2, 3, 5}), number("1"), tensor({3}), tensor({3})}),
              18 + 150, 66 * 2 + 80);
}

TEST(NormalizationCost, Gradients) {
  // gradient and input read, the input's written; weight read, two gradients written
  EXPECT_COST(cost("aten::native_layer_norm_backward",
                   {tensor({3, 4}), tensor({3, 4}), number("[4]"), none(), none(), tensor({4})}),
              96, (36 + 12) * 2);
  EXPECT_COST(cost("aten::cudnn_batch_norm_backward",
                   {tensor({2, 3, 5}), tensor({2, 3, 5}, kFp32), tensor({3}, kFp32)}),
              240, 60 + 120 + 60 + 36);
  EXPECT_COST(
      gradient_cost("aten::layer_norm", {tensor({3, 4}), number("[4]"), tensor({4}), tensor({4})}),
      96, (36 + 12) * 2);
}

TEST(NormalizationCost, OddArguments) {
  EXPECT_FALSE(cost("aten::layer_norm", {none(), number("[4]")}));
  EXPECT_FALSE(cost("aten::layer_norm", {tensor({3, 4}, "mystery"), number("[4]")}));
  // [-4]: a negative size gives a negative count, and that no cost
  EXPECT_FALSE(cost("aten::rms_norm", {tensor({3, 4}), number("[-400000]"), none()}));
  EXPECT_COST(cost("aten::rms_norm", {tensor({0, 4}), number("[4]"), none()}), 0, 0);
}

}  // namespace
}  // namespace fathom
