#include "checks.h"
#include "unit/cost_calls.h"

namespace fathom {
namespace {

using test::Around;
using test::cost;
using test::kByte;
using test::kFp8;
using test::kInt32;
using test::none;
using test::number;
using test::param;
using test::tensor;

// 4 tokens of 6 choose 2 of 4 experts; 4(1 − (2/4)⁴) = 3.75 of them get one.
constexpr double kActive = 3.75;

TEST(MoeCost, ThreeMatricesWhereItIsGated) {
  // rows 8, 6 → 5: 2 · 8·6·5 · 3; weights 4·10·6 + 4·6·5 = 360 elements
  const auto found =
      cost("vllm::inplace_fused_experts", {tensor({4, 6}), tensor({4, 10, 6}), tensor({4, 6, 5}),
                                           tensor({4, 2}), tensor({4, 2}, kInt32)});
  EXPECT_COST(found, 2 * 8 * 30 * 3, (24 + kActive / 4 * 360 + 24) * 2);
  EXPECT_EQ(param(*found, "topk"), "2");
  EXPECT_EQ(found->assumption, "tokens choose experts evenly");
}

TEST(MoeCost, TwoWhereItIsNot) {
  EXPECT_COST(
      cost("vllm::inplace_fused_experts", {tensor({4, 6}), tensor({4, 5, 6}), tensor({4, 6, 5}),
                                           tensor({4, 2}), tensor({4, 2}, kInt32)}),
      2 * 8 * 30 * 2, (24 + kActive / 4 * 240 + 24) * 2);
}

TEST(MoeCost, PackedWeightsAreReadAsTheyLie) {
  // Two in a byte: 4·10·3 + 4·6·2 bytes stand for 6 and 4 (inner = 2 · 2)
  EXPECT_COST(cost("vllm::outplace_fused_experts",
                   {tensor({4, 6}), tensor({4, 8, 3}, kByte), tensor({4, 6, 2}, kByte),
                    tensor({4, 2}), tensor({4, 2}, kInt32)}),
              2 * 8 * 24 * 3, 48 + kActive / 4 * (96 + 48) + 48);
}

TEST(MoeCost, ANumberMayTellTheChosen) {
  std::vector<ArgValue> args = {tensor({4, 6}), tensor({4, 6}, kFp8), tensor({4, 10, 6}, kFp8),
                                tensor({4, 6, 5}, kFp8)};
  args.resize(9);
  args[8] = number("2");
  EXPECT_COST(cost("aiter::fmoe_g1u1", args), 2 * 8 * 30 * 3, 24 + kActive / 4 * 360 + 48);
  args[8] = number("5");
  EXPECT_FALSE(cost("aiter::fmoe_g1u1", args)) << "more than there are";
  args[8] = number("-2");
  EXPECT_FALSE(cost("aiter::fmoe_g1u1", args));
}

TEST(MoeCost, StagesByThemselves) {
  // Up: 4·6 in, 4·2·5 out. Down: 4·2·5 in, 4·6 out.
  std::vector<ArgValue> up = {tensor({4, 6}), tensor({4, 10, 6}), tensor({4, 6, 5}), none(), none(),
                              none(),         tensor({4, 2, 5}),  number("2")};
  EXPECT_COST(cost("aiter::ck_moe_stage1", up), 2 * 8 * 30 * 2, (24 + kActive / 4 * 240 + 40) * 2);
  std::vector<ArgValue> down = {
      tensor({4, 2, 5}), tensor({4, 10, 6}), tensor({4, 6, 5}), none(), none(), none(),
      tensor({4, 6}),    number("2")};
  EXPECT_COST(cost("aiter::ck_moe_stage2", down), 2 * 8 * 30, (40 + kActive / 4 * 120 + 24) * 2);
  // Without the other stage's weights
  std::vector<ArgValue> first = {
      tensor({4, 6}), tensor({4, 10, 6}), tensor({4, 2, 5}), none(), none(), none(), number("2")};
  EXPECT_COST(cost("aiter::moe_cktile2stages_gemm1_ck", first), 2 * 8 * 30 * 2,
              (24 + kActive / 4 * 240 + 40) * 2);
  std::vector<ArgValue> second = {
      tensor({4, 2, 5}), tensor({4, 6, 5}), tensor({4, 6}), none(), none(), none(), number("2")};
  EXPECT_COST(cost("aiter::moe_cktile2stages_gemm2_ck", second), 2 * 8 * 30,
              (40 + kActive / 4 * 120 + 24) * 2);
}

CalledOp buffer(const char* sizes) { return {"aten::empty", {{number(sizes), number("15")}}}; }

TEST(MoeLayerCost, BuffersBelowTellTheSizes) {
  // 4 tokens of 6, 4 experts; the buffers say 2 chosen, inner 5 (rows are padded to 16)
  Around around;
  for (const char* sizes : {"[4, 6]", "[99]", "[4, 2]", "[4, 2]", "[16, 5]", "[16, 6]"}) {
    around.below.push_back(buffer(sizes));
  }
  const auto found = cost("vllm::moe_forward", {tensor({4, 6}), tensor({4, 4}), none()}, around);
  EXPECT_COST(found, 2 * 8 * 30 * 3, (2 * 24 + 16 + kActive * 90) * 2);
  EXPECT_EQ(found->spec, "matrix_bf16");
  EXPECT_NE(found->assumption.find("buffers"), std::string_view::npos);
}

TEST(MoeLayerCost, KernelsTellTheWeights) {
  Around around;
  for (const char* sizes : {"[4, 2]", "[16, 5]", "[16, 6]"}) around.below.push_back(buffer(sizes));
  // Four bits and a scale of a byte for 32; the products run at the wider operand's rate
  around.kernels = {{"quantize", {}, {}}, {"bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16", {}, {}}};
  const auto found = cost("vllm::moe_forward", {tensor({4, 6}), tensor({4, 4}), none()}, around);
  EXPECT_COST(found, 2 * 8 * 30 * 3, (2 * 24 + 16) * 2 + kActive * 90 * (0.5 + 1.0 / 32));
  EXPECT_EQ(found->spec, "matrix_fp8");
}

TEST(MoeLayerCost, AnOpBelowWithTheWeightsTellsAll) {
  Around around;
  around.below.push_back({"vllm::inplace_fused_experts",
                          {{tensor({4, 6}), tensor({4, 10, 6}), tensor({4, 6, 5}), tensor({4, 2}),
                            tensor({4, 2}, kInt32)}}});
  EXPECT_COST(cost("vllm::moe_forward", {tensor({4, 6}), tensor({4, 4}), none()}, around),
              2 * 8 * 30 * 3, (24 + kActive / 4 * 360 + 24) * 2);
}

TEST(MoeLayerCost, WithoutEitherItIsUnknown) {
  EXPECT_FALSE(cost("vllm::moe_forward", {tensor({4, 6}), tensor({4, 4}), none()}));
  Around around;
  around.below.push_back(buffer("[4, 2]"));
  EXPECT_FALSE(cost("vllm::moe_forward", {tensor({4, 6}), tensor({4, 4}), none()}, around));
}

}  // namespace
}  // namespace fathom
