#include "checks.h"
#include "unit/cost_calls.h"

namespace fathom {
namespace {

using test::cost;
using test::element;
using test::kBf16;
using test::kBool;
using test::kByte;
using test::kFp32;
using test::kFp8;
using test::kInt32;
using test::kInt64;
using test::none;
using test::number;
using test::param;
using test::tensor;

TEST(ElementwiseCost, OneOperationForEachResult) {
  EXPECT_COST(cost("aten::relu", {tensor({3, 4})}), 12, 48);
  EXPECT_COST(cost("aten::add", {tensor({3, 4}), tensor({3, 4}), number("1")}), 12, 72);
  const auto softmax =
      cost("aten::_softmax", {tensor({3, 4}, kFp32), number("-1"), number("False")});
  EXPECT_COST(softmax, 60, 96);
  EXPECT_EQ(softmax->spec, "vector_fp32");
}

TEST(ElementwiseCost, OperandsAreStretchedOverEachOther) {
  // 3 × 1 and 4 give 3 × 4
  EXPECT_COST(cost("aten::mul", {tensor({3, 1}), tensor({4})}), 12, (3 + 4 + 12) * 2);
  EXPECT_FALSE(cost("aten::mul", {tensor({3}), tensor({4})}));
}

TEST(ElementwiseCost, WhatIsRepeatedIsReadOnce) {
  EXPECT_COST(cost("aten::mul", {tensor({3, 4}), tensor({3, 4}, kBf16, {0, 1})}), 12,
              (12 + 4 + 12) * 2);
  EXPECT_COST(cost("aten::clone", {tensor({3, 4}, kBf16, {0, 0})}), 0, (1 + 12) * 2);
}

TEST(ElementwiseCost, TheWiderTypeIsWritten) {
  EXPECT_COST(cost("aten::add", {tensor({4}), tensor({4}, kFp32)}), 4, 8 + 16 + 16);
  // A float before any integer, however wide
  EXPECT_COST(cost("aten::add", {tensor({4}), tensor({4}, kInt64)}), 4, 8 + 32 + 8);
  // A tensor without dimensions takes the others' type.
  EXPECT_COST(cost("aten::mul", {tensor({4}), element("double")}), 4, 8 + 8 + 8);
  EXPECT_COST(cost("aten::eq", {tensor({4}, kFp32), number("0")}), 4, 16 + 4);
}

TEST(ElementwiseCost, InPlaceTheFirstOperandIsWritten) {
  EXPECT_COST(cost("aten::add_", {tensor({3, 4}), tensor({4}, kFp32)}), 12, 24 + 16 + 24);
  EXPECT_COST(cost("aten::zero_", {tensor({3, 4})}), 0, 24);
}

TEST(ElementwiseCost, ATensorWithoutDimensionsIsOneElement) {
  EXPECT_COST(cost("aten::fill_", {element(kFp32), number("0")}), 0, 4);
  EXPECT_COST(cost("aten::copy_", {element(kFp32), element(kBf16)}), 1, 6);
  EXPECT_COST(cost("aten::_local_scalar_dense", {element(kInt64)}), 0, 16);
  EXPECT_COST(cost("aten::add", {element(kFp32), element(kFp32)}), 1, 12);
  // A number is none, even where an old trace calls its type "Int".
  ArgValue integer = number("3");
  integer.type = "Int";
  EXPECT_COST(cost("aten::add", {tensor({4}), integer}), 4, 16);
}

TEST(ElementwiseCost, EmptyTensorsCostNothing) {
  EXPECT_COST(cost("aten::add_", {tensor({0}), tensor({0}), number("1")}), 0, 0);
  EXPECT_COST(cost("aten::add", {tensor({0, 4}), tensor({1, 4}), number("1")}), 0, 8);
}

TEST(ElementwiseCost, CopiesReadTheirSecondOperand) {
  EXPECT_COST(cost("aten::copy_", {tensor({3, 4}), tensor({3, 4}, kFp32, {0, 1}), none()}), 12,
              16 + 24);
  EXPECT_COST(cost("aten::_to_copy", {tensor({3, 4}), number("6")}), 0, 24 + 48);
}

TEST(ElementwiseCost, SizesAndPaddingAreArguments) {
  EXPECT_COST(cost("aten::upsample_nearest2d", {tensor({1, 2, 3, 3}), number("[6, 6]")}), 72,
              (18 + 72) * 2);
  // one before and two behind in the last dimension: 3 × 7
  EXPECT_COST(cost("aten::constant_pad_nd", {tensor({3, 4}), number("[1, 2]"), number("0")}), 0,
              (12 + 21) * 2);
  EXPECT_FALSE(cost("aten::constant_pad_nd", {tensor({3, 4}), number("[-9, 0]"), number("0")}));
  EXPECT_FALSE(cost("aten::constant_pad_nd",
                    {tensor({3, 4}), number("[9223372036854775807, 9]"), number("0")}));
  EXPECT_FALSE(cost("aten::upsample_nearest2d", {tensor({3}), number("[6, 6]")}));
}

TEST(ElementwiseCost, OpsThatFewProgramsUse) {
  EXPECT_COST(cost("aten::upsample_bicubic2d", {tensor({1, 2, 3, 3}), number("[6, 6]")}), 32 * 72,
              (18 + 72) * 2);
  EXPECT_COST(cost("aten::reflection_pad2d", {tensor({1, 2, 3, 3}), number("[1, 1, 1, 1]")}), 0,
              (18 + 50) * 2);
  EXPECT_COST(cost("aten::cummax", {tensor({3, 4}), number("0")}), 12, 24 + 24 + 96);
  EXPECT_COST(cost("aten::logaddexp", {tensor({3, 4}), tensor({3, 4})}), 12, 72);
  EXPECT_COST(cost("aten::signbit", {tensor({3, 4}, kFp32)}), 12, 48 + 12);
  EXPECT_COST(cost("aten::_prelu_kernel", {tensor({3, 4}), tensor({4})}), 12, 24 + 8 + 24);
  // Of a table and values, an index for each value.
  EXPECT_COST(cost("aten::searchsorted", {tensor({100}, kFp32), tensor({3, 4}, kFp32)}), 12,
              400 + 48 + 96);
  EXPECT_COST(cost("aten::bucketize", {tensor({3, 4}, kFp32), tensor({100}, kFp32)}), 12,
              400 + 48 + 96);
}

TEST(ElementwiseCost, SortAndDropoutWriteMore) {
  EXPECT_COST(cost("aten::sort", {tensor({3, 4}), number("-1"), number("False")}), 120,
              24 + 12 * (2 + 8));
  EXPECT_COST(cost("aten::native_dropout", {tensor({3, 4}), number("0.1"), number("True")}), 24,
              24 + 12 * 3);
}

TEST(ElementwiseCost, QuantizedResultsAreNarrow) {
  // a byte, and a float for each 4 elements
  EXPECT_COST(cost("vllm::triton_per_token_group_quant_fp8", {tensor({3, 8}), number("4")}), 48,
              48 + 24 + 24);
  // half a byte, and a byte for each 32
  EXPECT_COST(cost("sglang_profiler::quant_dynamic_mxfp4_quant", {tensor({2, 32})}), 128,
              128 + 32 + 2);
  EXPECT_COST(
      cost("_C::static_scaled_fp8_quant", {tensor({3, 4}, kFp8), tensor({3, 4}), element(kFp32)}),
      12, 24 + 12);
}

TEST(ElementwiseCost, AShortConvolutionHasSomeTaps) {
  // 1 × 3 × 5, 4 taps: 2 · 4 for each; weight 12 and bias 3 are read
  EXPECT_COST(
      cost("DaoAILab::_causal_conv1d_fwd_cpp",
           {tensor({1, 3, 5}), tensor({3, 4}), tensor({3}), none(), none(), tensor({1, 3, 5})}),
      15 * 8, (15 + 15 + 12 + 3) * 2);
}

TEST(ElementwiseCost, OperandsThatDoNotShapeTheResult) {
  // Angles are floats, one for all of a batch's heads; the result is as the input
  EXPECT_COST(cost("FusedRoPEFunc", {tensor({5, 2, 3, 4}), tensor({5, 1, 1, 4}, kFp32)}), 360,
              2 * 120 * 2 + 20 * 4);
}

TEST(StreamsCost, WhatIsReadAndWhatIsWritten) {
  // x of 12 and y of 6 rotated; positions read
  EXPECT_COST(cost("aiter::rope_cached_positions_2c_fwd_impl",
                   {tensor({3, 4}), tensor({3, 2}), tensor({3, 4}), tensor({3, 2}), none(), none(),
                    tensor({3}, kInt64)}),
              3 * 18, 2 * 18 * 2 + 24);
  EXPECT_COST(cost("aiter::moe_sum", {tensor({3, 2, 4}), tensor({3, 4})}), 24, (24 + 12) * 2);
}

TEST(StreamsCost, APartOfEachHeadMayBeTouched) {
  // head size 8, of which 4 are rotated
  const auto rotary = [](int64_t width) {
    return cost("_C::rotary_embedding", {tensor({3}, kInt64), tensor({3, 16}), tensor({3, 8}),
                                         number("8"), tensor({99, width}), number("True")});
  };
  EXPECT_COST(rotary(8), 3 * 72, 2 * 72 * 2);
  EXPECT_COST(rotary(4), 3 * 36, 2 * 36 * 2);
}

TEST(StreamsCost, RowsAreStoredAsTheirTableIs) {
  // 3 rows of keys and values, two bytes in, one out; 3 places
  EXPECT_COST(cost("_C_cache_ops::reshape_and_cache_flash",
                   {tensor({3, 2, 4}), tensor({3, 2, 4}), tensor({99, 16, 2, 4}, kByte),
                    tensor({99, 16, 2, 4}, kByte), tensor({3}, kInt64)}),
              0, 2 * 24 * 2 + 2 * 24 + 24);
}

TEST(StreamsCost, OperationsMayDependOnASize) {
  // mhc_post: 2·(streams + 1) for each of 3·2·4 results
  EXPECT_COST(cost("aiter::mhc_post", {tensor({3, 2, 4}), tensor({3, 4}), tensor({3, 2, 4}),
                                       tensor({3, 2, 1}, kFp32), tensor({3, 2, 2}, kFp32)}),
              24 * 6, (24 + 12 + 24) * 2 + (6 + 12) * 4);
  // a projection to 8: 2·8 for each of 24 elements, and a square and a sum
  const auto projected = cost(
      "aiter::mhc_pre_gemm_sqrsum",
      {tensor({1, 3, 8}, kFp32), tensor({1, 3}, kFp32), tensor({3, 2, 4}), tensor({8, 8}, kFp32)});
  EXPECT_COST(projected, 24 * 18, 48 + (24 + 3 + 64) * 4);
  EXPECT_EQ(projected->spec, "matrix_bf16");
}

TEST(ReduceCost, ResultsAreWhatIsLeft) {
  EXPECT_COST(cost("aten::sum", {tensor({3, 4}), number("[-1]"), number("False")}), 12, 24 + 3 * 2);
  EXPECT_COST(cost("aten::sum", {tensor({3, 4}), number("0")}), 12, 24 + 4 * 2);
  EXPECT_COST(cost("aten::sum", {tensor({3, 4})}), 12, 24 + 2);
  EXPECT_COST(cost("aten::mean", {tensor({3, 4}), number("[]")}), 12, 24 + 2);
  EXPECT_COST(cost("aten::argmax", {tensor({3, 4}), number("1")}), 12, 24 + 3 * 8);
  EXPECT_COST(cost("aten::any", {tensor({3, 4}, kFp32)}), 12, 48 + 1);
  // A number that is no dimension is something else: here the result's type.
  EXPECT_COST(cost("aten::sum", {tensor({3, 4}), number("6")}), 12, 24 + 2);
  EXPECT_COST(cost("aten::sum", {tensor({3, 4}), number("[0]"), number("False"), number("6")}), 12,
              24 + 4 * 4);
}

TEST(ReduceCost, SomeGiveTwoResults) {
  // Deviation and mean of each column.
  EXPECT_COST(cost("aten::std_mean", {tensor({3, 4}, kFp32), number("[0]")}), 36, 48 + 4 * (4 + 4));
  EXPECT_COST(cost("aten::kthvalue", {tensor({3, 4}, kFp32), number("2"), number("1")}), 12,
              48 + 3 * (4 + 8));
}

TEST(ReduceCost, TopkKeepsSeveral) {
  // 2 of each row, with their places: 3·2 · (2 + 8)
  const auto found = cost("aten::topk", {tensor({3, 4}), number("2"), number("-1")});
  EXPECT_COST(found, 12, 24 + 60);
  EXPECT_EQ(param(*found, "num_output_elems"), "6");
  EXPECT_EQ(param(*found, "reduce_type"), "\"topk\"");
  EXPECT_FALSE(cost("aten::topk", {tensor({3, 4}), number("-2"), number("-1")}));
  EXPECT_FALSE(cost("aten::topk", {tensor({3, 4}), none(), number("-1")}));
}

TEST(ReduceCost, OverTheLastDimension) {
  // 3 rows of 4 logits, targets read, losses are floats
  EXPECT_COST(cost("CrossEntropyFunction", {tensor({3, 1, 4}), tensor({3, 1}, kInt64)}), 60,
              24 + 24 + 12);
}

TEST(PoolingCost, EachResultMeetsItsWindow) {
  // 4 × 4 in windows of 2: 2 × 2, with places of 8 bytes
  EXPECT_COST(cost("aten::max_pool2d_with_indices",
                   {tensor({1, 3, 4, 4}), number("[2, 2]"), number("[]"), number("[0, 0]")}),
              12 * 4, 48 * 2 + 12 * (2 + 8));
  // one step, one at the edges: (4 + 2 − 3)/1 + 1 = 4
  EXPECT_COST(cost("aten::avg_pool2d",
                   {tensor({1, 3, 4, 4}), number("[3, 3]"), number("[1, 1]"), number("[1, 1]")}),
              48 * 9, 96 * 2);
  EXPECT_COST(cost("aten::avg_pool2d", {tensor({1, 3, 4, 4}), number("[3]"), number("[1, 1]")}),
              24 * 3, (48 + 24) * 2);
}

TEST(PoolingCost, OddWindowsAreUnknown) {
  const auto pool = [](const char* window, const char* stride) {
    return cost("aten::avg_pool2d", {tensor({1, 3, 4, 4}), number(window), number(stride)});
  };
  EXPECT_FALSE(pool("[9, 9]", "[1, 1]"));
  EXPECT_FALSE(pool("[2, 2]", "[0, 0]"));
  EXPECT_FALSE(pool("[-2, -2]", "[1, 1]"));
  EXPECT_FALSE(pool("[1, 1, 1, 1, 1]", "[1]"));
  EXPECT_FALSE(pool("", "[1, 1]"));
}

}  // namespace
}  // namespace fathom
