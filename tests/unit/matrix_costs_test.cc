#include "checks.h"
#include "unit/cost_calls.h"

namespace fathom {
namespace {

using test::cost;
using test::element;
using test::gradient_cost;
using test::kBf16;
using test::kByte;
using test::kFp32;
using test::kFp4;
using test::kFp8;
using test::kInt32;
using test::none;
using test::number;
using test::param;
using test::tensor;

TEST(GemmCost, TwoOperationsForEachProduct) {
  // 2 · 2 · 4 · 3; (2·3 + 3·4 + 2·4) · 2 bytes
  EXPECT_COST(cost("aten::mm", {tensor({2, 3}), tensor({3, 4})}), 48, 52);
  EXPECT_COST(cost("aten::mm", {tensor({2, 3}, kFp32), tensor({3, 4}, kFp32)}), 48, 104);
}

TEST(GemmCost, ABiasIsAddedAndRead) {
  // + 2·4 additions; + 4 elements of the bias
  EXPECT_COST(cost("aten::addmm", {tensor({4}), tensor({2, 3}), tensor({3, 4})}), 56, 60);
  // A bias that is spread over the rows has four elements in memory.
  EXPECT_COST(cost("aten::addmm", {tensor({2, 4}, kBf16, {0, 1}), tensor({2, 3}), tensor({3, 4})}),
              56, 60);
}

TEST(GemmCost, ABatchMultiplies) {
  EXPECT_COST(cost("aten::bmm", {tensor({5, 2, 3}), tensor({5, 3, 4})}), 5 * 48, 5 * 52);
  EXPECT_COST(cost("aten::baddbmm", {tensor({5, 2, 4}), tensor({5, 2, 3}), tensor({5, 3, 4})}),
              5 * 56, 5 * 52 + 5 * 2 * 4 * 2);
}

TEST(GemmCost, WhatIsRepeatedIsReadOnce) {
  // B is one matrix seen five times: 5·2·3 + 3·4 + 5·2·4 elements
  EXPECT_COST(cost("aten::bmm", {tensor({5, 2, 3}), tensor({5, 3, 4}, kBf16, {0, 4, 1})}), 5 * 48,
              (30 + 12 + 40) * 2);
}

TEST(GemmCost, ABatchOverOneMatrixIsOneLongProduct) {
  const auto linear = cost("aten::linear", {tensor({5, 2, 3}), tensor({4, 3}), none()});
  EXPECT_COST(linear, 2 * 10 * 4 * 3, (30 + 12 + 40) * 2);
  EXPECT_EQ(param(*linear, "M"), "10");
  EXPECT_EQ(param(*linear, "bias"), "false");
}

TEST(GemmCost, NarrowTypesAreWrittenWide) {
  // 8 bits in (6 + 12 bytes), 16 out (8 · 2 bytes)
  const auto scaled =
      cost("aten::_scaled_mm", {tensor({2, 3}, kFp8), tensor({3, 4}, kFp8), element(kFp32),
                                element(kFp32), none(), none(), none(), number("False")});
  EXPECT_COST(scaled, 48, 6 + 12 + 16);
  EXPECT_EQ(scaled->spec, "matrix_fp8");
  // 6 is float in PyTorch's numbering.
  EXPECT_COST(cost("aten::_scaled_mm", {tensor({2, 3}, kFp8), tensor({3, 4}, kFp8), none(), none(),
                                        none(), none(), number("6")}),
              48, 6 + 12 + 32);
  EXPECT_COST(cost("aten::_int_mm", {tensor({2, 3}, "signed char"), tensor({3, 4}, "signed char")}),
              48, 6 + 12 + 32);
}

TEST(GemmCost, AVectorIsAMatrixOfOneColumn) {
  EXPECT_COST(cost("aten::mv", {tensor({2, 3}), tensor({3})}), 2 * 2 * 3, (6 + 3 + 2) * 2);
}

TEST(GemmCost, TheOperandThatTakesTheResultTellsItsType) {
  // aiter: W lies as N × K, the fifth argument is the result
  EXPECT_COST(cost("aiter::gemm_a8w8_ck",
                   {tensor({2, 3}, kFp8), tensor({4, 3}, kFp8), tensor({2, 1}, kFp32),
                    tensor({4, 1}, kFp32), tensor({2, 4}, kFp32)}),
              48, 6 + 12 + 8 * 4);
}

TEST(GemmCost, FourBitsLieTwoInAByte) {
  // K is 2 · 16 = 32: 2·2·4·32; bytes 2·16 + 4·16 and their scales 2 + 4, results 8 · 2
  const auto packed = cost("aiter::gemm_a4w4", {tensor({2, 16}, kFp4), tensor({4, 16}, kFp4),
                                                tensor({2, 1}, kByte), tensor({4, 1}, kByte)});
  EXPECT_COST(packed, 512, 32 + 64 + 2 + 4 + 16);
  EXPECT_EQ(packed->spec, "matrix_fp4");
  // Only the weights: K = 32 in A
  EXPECT_COST(cost("vllm::gemm_with_dynamic_quant", {tensor({2, 32}), tensor({4, 16}, kByte)}), 512,
              2 * 32 * 2 + 64 + 16);
}

TEST(GemmCost, TheCallMayTransposeItsOperands) {
  // A is K × M and B is N × K: M = 2, K = 3, N = 4
  EXPECT_COST(cost("primus_turbo::hipblaslt_gemm_fp8",
                   {tensor({3, 2}, kFp8), element(kFp32), tensor({4, 3}, kFp8), element(kFp32),
                    number("15"), number("True"), number("True"), number("False")}),
              48, 6 + 12 + 16);
  EXPECT_FALSE(cost("primus_turbo::hipblaslt_gemm_fp8",
                    {tensor({3, 2}, kFp8), element(kFp32), tensor({4, 3}, kFp8), element(kFp32),
                     number("15"), number("False"), number("True"), number("False")}));
}

TEST(GemmCost, AnEmptyBiasIsNone) {
  std::vector<ArgValue> args(15);
  args[0] = tensor({4, 3});  // weights, "1": transposed, so N × K
  args[4] = number("1");
  args[5] = tensor({2, 3});
  args[9] = number("0");
  args[10] = tensor({2, 4});
  args[14] = tensor({0});
  EXPECT_COST(cost("tex_ts::te_gemm_ts", args), 48, 52);
  args[14] = tensor({4});
  EXPECT_COST(cost("tex_ts::te_gemm_ts", args), 56, 60);
}

TEST(GemmCost, TheBatchMayComeSecond) {
  const std::string op =
      "sglang_profiler::batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant_"
      "batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant";
  // M = 7, batch = 5: X is M × batch × K
  EXPECT_COST(cost(op, {tensor({7, 5, 3}), tensor({5, 4, 3}, kFp8)}), 2 * 5 * 7 * 4 * 3,
              7 * 5 * 3 * 2 + 5 * 4 * 3 + 5 * 7 * 4 * 2);
}

TEST(GemmCost, TensileNamesTellHowOperandsLie) {
  test::Around around{{{"Cijk_Alik_Bljk_HHS", {}, {}}}, {}, {}};
  const auto found = cost("aten::mm", {tensor({2, 3}), tensor({3, 4})}, around);
  ASSERT_TRUE(found);
  EXPECT_EQ(param(*found, "transpose"), "[true,false]");
}

TEST(GemmCost, WhatDoesNotFitIsUnknown) {
  EXPECT_FALSE(cost("aten::mm", {tensor({2, 3}), tensor({5, 4})}));
  EXPECT_FALSE(cost("aten::mm", {tensor({2, 3})}));
  EXPECT_FALSE(cost("aten::mm", {tensor({2, 3}, "mystery"), tensor({3, 4})}));
  EXPECT_FALSE(cost("aten::bmm", {tensor({5, 2, 3}), tensor({6, 3, 4})}));
}

TEST(GroupedGemmCost, ExpertsWithoutATokenAreNotRead) {
  // 2 tokens, 3 → 4, 8 experts of which 2 are read
  EXPECT_COST(cost("aten::_grouped_mm", {tensor({2, 3}), tensor({8, 3, 4}), tensor({8}, kInt32)}),
              48, (6 + 2 * 12 + 8) * 2);
  // Weights may lie as N × K.
  EXPECT_COST(cost("primus_turbo::grouped_gemm", {tensor({20, 3}), tensor({8, 4, 3})}), 480,
              (60 + 8 * 12 + 80) * 2);
}

TEST(GroupedGemmCost, GradientsOfTheWeightsSumOverTheTokens) {
  // a is T × K and b T × N, in 8 groups: 2 · 10 · 3 · 4, results 8 · 3 · 4
  EXPECT_COST(cost("primus_turbo::grouped_gemm_variable_k",
                   {tensor({10, 3}), tensor({10, 4}), tensor({8}, kInt32)}),
              240, (30 + 40 + 96) * 2);
  // torch: a is K × T
  EXPECT_COST(cost("aten::_grouped_mm", {tensor({3, 10}), tensor({10, 4}), tensor({8}, kInt32)}),
              240, (30 + 40 + 96) * 2);
}

TEST(GroupedGemmCost, RoutesTellTheRows) {
  // 4 tokens choose 2 of 4 experts: 4(1 − (2/4)⁴) = 3.75 are read; 8 rows, 3 → 5
  std::vector<ArgValue> args(9);
  args[0] = tensor({4, 3});
  args[1] = tensor({4, 5, 3}, kFp8);
  args[3] = tensor({8, 5});
  args[8] = tensor({4, 2}, kInt32);
  EXPECT_COST(cost("sglang_profiler::fused_moe_triton_kernels_invoke_fused_moe_kernel", args),
              2 * 8 * 3 * 5, 8 * 3 * 2 + 3.75 * 15 + 8 * 5 * 2);
}

// [N, C, H, W], [Out, C, kh, kw], then stride, padding, dilation, transposed, output_padding,
// groups.
std::vector<ArgValue> convolution(ArgValue bias, const char* transposed = "False",
                                  const char* groups = "1") {
  return {tensor({1, 2, 5, 5}), tensor({2, 2, 3, 3}), std::move(bias),
          number("[1, 1]"),     number("[1, 1]"),     number("[1, 1]"),
          number(transposed),   number("[0, 0]"),     number(groups)};
}

TEST(ConvolutionCost, EachResultMeetsTheFilter) {
  // 2·5·5 results, each 2 · (2·3·3); (50 + 36 + 50) · 2 bytes
  EXPECT_COST(cost("aten::convolution", convolution(none())), 50 * 36, 136 * 2);
  EXPECT_COST(cost("aten::convolution", convolution(tensor({2}))), 50 * 36 + 50, 138 * 2);
}

TEST(ConvolutionCost, StrideAndPaddingMakeTheResult) {
  std::vector<ArgValue> args = convolution(none());
  args[3] = number("[2, 2]");
  args[4] = number("[0, 0]");
  // floor((5 − 3) / 2) + 1 = 2
  EXPECT_COST(cost("aten::convolution", args), 2 * 2 * 2 * 36, (50 + 36 + 8) * 2);
  args[5] = number("[2, 2]");  // reaches over 5: floor(0 / 2) + 1 = 1
  EXPECT_COST(cost("aten::convolution", args), 2 * 36, (50 + 36 + 2) * 2);
}

TEST(ConvolutionCost, TransposedEachInputMeetsTheFilter) {
  std::vector<ArgValue> args = convolution(none(), "True");
  args[1] = tensor({2, 4, 3, 3});  // in, out
  args[3] = number("[2, 2]");
  args[7] = number("[1, 1]");
  // (5 − 1)·2 − 2 + 2 + 1 + 1 = 10 a side; 2 · (4·3·3) for each of 50 inputs
  EXPECT_COST(cost("aten::convolution", args), 50 * 72, (50 + 72 + 400) * 2);
}

TEST(ConvolutionCost, GroupsMeetFewerChannels) {
  std::vector<ArgValue> args = convolution(none(), "False", "2");
  args[1] = tensor({2, 1, 3, 3});
  EXPECT_COST(cost("aten::convolution", args), 50 * 18, (50 + 18 + 50) * 2);
}

TEST(ConvolutionCost, OneNumberCountsForEverySide) {
  // apex: padding, then stride
  EXPECT_COST(cost("ConvBias_", {tensor({1, 2, 5, 5}), tensor({2, 2, 3, 3}), tensor({2}),
                                 number("1"), number("2")}),
              18 * 36 + 18, (50 + 36 + 18 + 2) * 2);
}

TEST(ConvolutionCost, GradientsAreTheOnesAskedFor) {
  const auto backward = [](const char* mask) {
    std::vector<ArgValue> args = convolution(none());
    args.insert(args.begin(), tensor({1, 2, 5, 5}));
    args[3] = number("[2]");
    args.push_back(number(mask));
    return cost("aten::convolution_backward", args);
  };
  // Each a convolution of its own; the gradient 50, the input 50, the weights 36
  EXPECT_COST(backward("[True, True, False]"), 2 * 1800, (50 + 86 + 86) * 2);
  EXPECT_COST(backward("[True, False, False]"), 1800, (50 + 86) * 2);
  EXPECT_COST(backward("[False, True, True]"), 1800 + 50, (50 + 86) * 2);
}

TEST(ConvolutionCost, AGradientIsWorkedOutFromTheForwardOp) {
  EXPECT_COST(gradient_cost("aten::convolution", convolution(none())), 3600, 222 * 2);
  EXPECT_COST(gradient_cost("aten::convolution", convolution(tensor({2}))), 3650, 222 * 2);
  EXPECT_FALSE(gradient_cost("aten::mm", {tensor({2, 3}), tensor({3, 4})}));
}

TEST(ConvolutionCost, OddArgumentsAreUnknown) {
  std::vector<ArgValue> args = convolution(none());
  args[3] = number("[0, 0]");
  EXPECT_FALSE(cost("aten::convolution", args));
  EXPECT_FALSE(cost("aten::convolution", convolution(none(), "False", "-1")));
  EXPECT_FALSE(cost("aten::convolution", convolution(none(), "False", "many")));
  args = convolution(none());
  args[4] = number("[-9, -9]");
  EXPECT_FALSE(cost("aten::convolution", args)) << "smaller than nothing";
}

}  // namespace
}  // namespace fathom
