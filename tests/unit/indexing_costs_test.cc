#include "checks.h"
#include "unit/cost_calls.h"

namespace fathom {
namespace {

using test::Around;
using test::cost;
using test::element;
using test::kBf16;
using test::kFp32;
using test::kInt64;
using test::none;
using test::number;
using test::param;
using test::tensor;
using test::tensor_list;

TEST(GatherCost, ARowOrAnElementForEachIndex) {
  // 5 rows of 4 read and written, 5 indices
  EXPECT_COST(cost("aten::index_select", {tensor({9, 4}), number("0"), tensor({5}, kInt64)}), 0,
              2 * 20 * 2 + 40);
  EXPECT_COST(cost("aten::index_select", {tensor({9, 4}), number("-1"), tensor({2}, kInt64)}), 0,
              2 * 18 * 2 + 16);
  EXPECT_COST(cost("aten::embedding", {tensor({99, 4}), tensor({2, 3}, kInt64)}), 0,
              2 * 24 * 2 + 48);
  EXPECT_COST(cost("aten::gather", {tensor({9, 4}), number("1"), tensor({9, 2}, kInt64)}), 0,
              2 * 18 * 2 + 144);
  EXPECT_COST(cost("aten::embedding", {tensor({99, 4}), element(kInt64)}), 0, 2 * 4 * 2 + 8);
}

TEST(GatherCost, OddArguments) {
  EXPECT_FALSE(cost("aten::index_select", {tensor({9, 4}), number("7"), tensor({5}, kInt64)}));
  EXPECT_FALSE(cost("aten::index_select", {tensor({9, 4}), none(), tensor({5}, kInt64)}));
  EXPECT_FALSE(cost("aten::index_select", {tensor({0, 4}), number("0"), tensor({5}, kInt64)}));
  EXPECT_COST(cost("aten::embedding", {tensor({0, 4}), tensor({3}, kInt64)}), 0, 24);
}

TEST(ScatterCost, PlacesAreWrittenAndReadWhereTheyAreAddedTo) {
  // source 8, places 8, indices 2
  EXPECT_COST(
      cost("aten::index_copy_", {tensor({9, 4}), number("0"), tensor({2}, kInt64), tensor({2, 4})}),
      0, 16 + 16 + 16);
  EXPECT_COST(
      cost("aten::index_add_", {tensor({9, 4}), number("0"), tensor({2}, kInt64), tensor({2, 4})}),
      8, 16 + 32 + 16);
  // A result of its own is a copy first.
  EXPECT_COST(
      cost("aten::index_add", {tensor({9, 4}), number("0"), tensor({2}, kInt64), tensor({2, 4})}),
      8, 16 + 32 + 16 + 2 * 36 * 2);
}

TEST(ScatterCost, AnEmbeddingsGradientIsATable) {
  // gradients of 3 tokens of width 4 added into 10 rows of zeros
  EXPECT_COST(cost("aten::embedding_dense_backward",
                   {tensor({3, 4}, kFp32), tensor({3}, kInt64), number("10"), number("-1")}),
              12, 48 + 2 * 48 + 24 + 160);
  EXPECT_FALSE(
      cost("aten::embedding_dense_backward", {tensor({3, 4}, kFp32), tensor({3}, kInt64), none()}));
}

TEST(ConcatenateCost, TheKernelTellsTheElementsSize) {
  Around around{
      {{"void at::native::CatArrayBatchedCopy<at::native::OpaqueType<2u>, 4>()", {}, {}}}, {}, {}};
  EXPECT_COST(cost("aten::cat", {tensor_list({{3, 4}, {2, 4}}), number("0")}, around), 0,
              2 * 20 * 2);
  around.kernels[0].name = "CatArrayBatchedCopy<OpaqueType<4>>";
  EXPECT_COST(cost("aten::cat", {tensor_list({{3, 4}, {2, 4}})}, around), 0, 2 * 20 * 4);
  for (const char* name : {"CatArrayBatchedCopy<float>", "OpaqueType<", "OpaqueType<99>",
                           "OpaqueType<-1>", "OpaqueType<99999999999999999999>", ""}) {
    around.kernels[0].name = name;
    EXPECT_FALSE(cost("aten::cat", {tensor_list({{3, 4}, {2, 4}})}, around)) << name;
  }
  EXPECT_FALSE(cost("aten::cat", {tensor_list({})}, around));
}

TEST(MultiTensorCost, TheGridTellsTheElements) {
  // 320 blocks, the most of a launch, of 65536 elements; Adam reads 4, writes 3
  Around around{{{"void multi_tensor_apply_kernel<TensorListMetadata<4>, float>", Dim3{320, 1, 1},
                  Dim3{512, 1, 1}}},
                {},
                {}};
  const double elements = 320 * 65536;
  EXPECT_COST(cost("aten::_fused_adamw_", {}, around), 15 * elements, 7 * 4 * elements);
  around.kernels[0].name = "multi_tensor_apply_kernel<c10::BFloat16>";
  EXPECT_COST(cost("aten::_foreach_add_", {}, around), elements, 3 * 2 * elements);
  around.kernels[0].grid = {};
  EXPECT_FALSE(cost("aten::_foreach_add_", {}, around));
  EXPECT_FALSE(cost("aten::_foreach_add_", {}));
}

TEST(MultiTensorCost, BlocksOfASmallLaunchMayBeSingleNumbers) {
  Around around{{{"void multi_tensor_apply_kernel<TensorListMetadata<1>, float>", Dim3{39, 1, 1},
                  Dim3{512, 1, 1}}},
                {},
                {}};
  EXPECT_FALSE(cost("aten::_foreach_add_", {}, around));
  // Sizes that the trace shows count, whatever the grid: 39 steps of one element each.
  const auto steps =
      cost("aten::_foreach_add_", {tensor_list(std::vector<std::vector<int64_t>>(39))}, around);
  EXPECT_COST(steps, 39, 3 * 4 * 39);
  EXPECT_COST(cost("aten::_foreach_add_", {tensor_list({{3, 4}, {5}})}, around), 17, 3 * 4 * 17);
}

TEST(IndexCost, TheSpreadSourceTellsTheResults) {
  // x[i] of 9 × 4 with 5 indices: the source is spread to 5 × 4
  Around around;
  around.below.push_back({"aten::to", {{tensor({5}, kInt64)}}});
  around.below.push_back(
      {"aten::as_strided", {{tensor({9, 4}), number("[5, 4]"), number("[0, 1]"), none()}}});
  const auto found = cost("aten::index", {tensor({9, 4}), none()}, around);
  EXPECT_COST(found, 0, 2 * 20 * 2 + 5 * 8);
  EXPECT_EQ(param(*found, "num_output_elems"), "20");
  around.below[1].args.inputs[0] = tensor({5});
  EXPECT_FALSE(cost("aten::index", {tensor({9, 4}), none()}, around)) << "of another tensor";
}

TEST(IndexCost, ElseTheLaunchDoes) {
  // 2 blocks of 128 threads with 4 elements each, an index for each
  Around around{{{"void at::native::index_elementwise_kernel<128, 4, x>(int)", Dim3{2, 1, 1},
                  Dim3{128, 1, 1}}},
                {},
                {}};
  const auto found = cost("aten::index", {tensor({9, 4}), none()}, around);
  EXPECT_COST(found, 0, (1024 + 36) * 2 + 1024 * 8);  // the source has 36 elements to read
  EXPECT_EQ(param(*found, "num_output_elems_at_most"), "1024");
  for (const char* name : {"index_elementwise_kernel<>", "index_elementwise_kernel",
                           "elementwise<x, 4>", "elementwise<0, 0>", "elementwise<-1>"}) {
    around.kernels[0].name = name;
    EXPECT_FALSE(cost("aten::index", {tensor({9, 4}), none()}, around)) << name;
  }
}

TEST(SyntheticCost, AKernelOfAnOpMayHaveARow) {
  // A pass of the sort: keys and values, 8 bytes each, read and written
  EXPECT_COST(cost("aten::embedding_dense_backward->void cub::DeviceRadixSortOnesweepKernel<x> "
                   "(Synthetic Op)",
                   {tensor({3, 4}, kFp32), tensor({3}, kInt64)}),
              0, 2 * 2 * 24);
  EXPECT_FALSE(cost("aten::embedding_dense_backward->Memset (Device) (Synthetic Op)",
                    {tensor({3, 4}, kFp32), tensor({3}, kInt64)}));
  EXPECT_FALSE(cost("aten::mm->gemm (Synthetic Op)", {tensor({2, 3}), tensor({3, 4})}))
      << "an op's row is not one of its kernels";
  EXPECT_FALSE(cost(" (Synthetic Op)", {}));
}

TEST(TransferCost, WhatIsReadAndWritten) {
  const auto reduced =
      cost("_C_custom_ar::all_reduce", {number("94"), tensor({3, 4}), tensor({3, 4})});
  EXPECT_COST(reduced, 0, 48);
  EXPECT_EQ(reduced->spec, "link");
  EXPECT_EQ(param(*reduced, "message_bytes"), "24");
  EXPECT_COST(cost("aiter::all_gather_reg", {number("94"), tensor({3, 4}), tensor({6, 4})}), 0,
              24 + 48);
  EXPECT_COST(cost("sglang::reg_all_gather_into_tensor", {tensor({6, 4}), tensor({3, 4})}), 0,
              24 + 48);
  EXPECT_FALSE(cost("_C_custom_ar::all_reduce", {number("94"), none(), none()}));
}

}  // namespace
}  // namespace fathom
