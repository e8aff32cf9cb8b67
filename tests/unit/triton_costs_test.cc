#include "checks.h"
#include "unit/cost_calls.h"

namespace fathom {
namespace {

using test::cost;
using test::kBf16;
using test::kFp32;
using test::number;
using test::param;
using test::tensor;

// The ops that a kernel's name lists, as the report shows them.
std::string fused(const std::string& kernel) {
  const auto found = cost(kernel, {tensor({12}), tensor({12}), number("12")});
  return found ? param(*found, "fused_ops") : "no cost";
}

TEST(TritonCost, APointwiseKernelWritesItsFirstOperandAgain) {
  // mul 1 and silu 4 on 12 elements; both operands read, the first written
  const auto found =
      cost("triton_poi_fused_mul_silu_2", {tensor({3, 4}), tensor({12}), number("12")});
  EXPECT_COST(found, 60, 24 + 24 + 24);
  EXPECT_EQ(found->spec, "vector_bf16");
  EXPECT_EQ(param(*found, "xnumel"), "12");
}

TEST(TritonCost, AReductionHasTwoNumbers) {
  // 3 results of 4 elements: add and mean 1 each
  const auto found = cost("triton_red_fused_add_mean_1",
                          {tensor({3, 4}, kFp32), tensor({3}, kFp32), number("3"), number("4")});
  EXPECT_COST(found, 2 * 12, 48 + 12);
  EXPECT_EQ(param(*found, "rnumel"), "4");
  EXPECT_COST(cost("triton_per_fused_sum_0", {tensor({12}, kFp32), number("12")}), 12, 48);
}

TEST(TritonCost, NamesWithUnderscoresAreFound) {
  EXPECT_EQ(fused("triton_poi_fused__unsafe_view_mul_silu_7"),
            R"("aten._unsafe_view, aten.mul, aten.silu")");
  EXPECT_EQ(fused("triton_poi_fused__to_copy_add_0"), R"("aten._to_copy, aten.add")");
  EXPECT_EQ(fused("triton_poi_fused_native_layer_norm_0"), R"("aten.native_layer_norm")");
  EXPECT_EQ(fused("triton_poi_fused_add_native_layer_norm_backward_12"),
            R"("aten.add, aten.native_layer_norm_backward")");
  EXPECT_EQ(fused("triton_poi_fused_mul"), R"("aten.mul")");
}

TEST(TritonCost, UnknownNamesCountNothing) {
  EXPECT_EQ(fused("triton_poi_fused_frobnicate_0"), R"("aten.frobnicate")");
  EXPECT_COST(cost("triton_poi_fused_frobnicate_add_0", {tensor({12}), number("12")}), 12, 48);
  EXPECT_EQ(fused("triton_poi_fused_my_own_op_add_3"), R"("aten.my_own_op, aten.add")");
}

TEST(TritonCost, OddNames) {
  for (const char* name :
       {"triton_poi_fused_", "triton_poi_fused__", "triton_poi_fused___", "triton_", "triton_poi_0",
        "triton_poi_fused_0", "triton_poi_fused__0"}) {
    const auto found = cost(name, {tensor({12}), number("12")});
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->flops, 0) << name;
  }
  const std::string longest = "triton_poi_fused_" + std::string(5000, '_') + "add_0";
  EXPECT_TRUE(cost(longest, {tensor({12}), number("12")}));
}

TEST(TritonCost, WithoutNumbersOrTensorsItIsUnknown) {
  EXPECT_FALSE(cost("triton_poi_fused_add_0", {tensor({12})}));
  EXPECT_FALSE(cost("triton_poi_fused_add_0", {number("12")}));
  EXPECT_FALSE(cost("triton_poi_fused_add_0", {}));
  EXPECT_FALSE(cost("triton_poi_fused_add_0", {tensor({12}), number("-12")}));
}

}  // namespace
}  // namespace fathom
