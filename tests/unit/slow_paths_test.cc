// Ops on a slower path than the program needs, and near-twins.
#include <fmt/format.h>

#include "checks.h"
#include "unit/workload.h"

namespace fathom {
namespace {

using test::finds;
using test::first_finding;
using test::kMatrix;
using test::kTwoBf16;
using test::Workload;

constexpr const char* kFourBf16 =
    R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16"])";

TEST(SlowPaths, AMaskThatCouldBeCausal) {
  const auto attention = [](const char* mask) {
    Workload w;
    const std::string heads = "[4,16,2048,64]";
    const std::string dims = fmt::format("[{0},{0},{0},{1}]", heads, mask);
    for (int i = 0; i < 4; ++i)
      w.op("aten::_scaled_dot_product_efficient_attention", dims, kFourBf16, 2000, "fmha_cutlassF");
    return w;
  };
  const auto findings = attention("[2048,2048]").find();
  const Finding* f = first_finding(findings, FindingKind::kFullMask);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->saving_at_least.count, 0) << "nobody knows what is in the mask";
  EXPECT_NE(f->change_code.find("is_causal"), std::string::npos);
  EXPECT_TRUE(finds(attention("[1,1,2048,2048]"), FindingKind::kFullMask));
  EXPECT_FALSE(finds(attention("[4,1,2048,2048]"), FindingKind::kFullMask)) << "of each sequence";
  EXPECT_FALSE(finds(attention("[1,16,2048,2048]"), FindingKind::kFullMask)) << "of each head";
  EXPECT_FALSE(finds(attention("[1,2048]"), FindingKind::kFullMask)) << "of padding";
  EXPECT_FALSE(finds(attention("[]"), FindingKind::kFullMask));
}

TEST(SlowPaths, OperandsThatAreWidened) {
  const auto products = [](const char* cast_from) {
    Workload w;
    const std::string types = fmt::format(R"(["float","{}"])", cast_from);
    for (int i = 0; i < 6; ++i) {
      for (int k = 0; k < 2; ++k) w.op("aten::copy_", kMatrix, types, 60);
      w.op("aten::mm", kMatrix, R"(["float","float"])", 800, "sm90_xmma_gemm_f32f32_tf32f32");
    }
    return w;
  };
  const auto findings = products("c10::BFloat16").find();
  const Finding* f = first_finding(findings, FindingKind::kWideProducts);
  ASSERT_NE(f, nullptr);
  EXPECT_NE(f->change_code.find("remove the casts"), std::string::npos);
  EXPECT_EQ(f->covered.size(), 18u) << "with the casts";
  EXPECT_FALSE(finds(products("double"), FindingKind::kWideProducts));
  EXPECT_FALSE(finds(products("float"), FindingKind::kWideProducts)) << "no casts";
}

TEST(SlowPaths, AdditionsInAFixedOrder) {
  const auto added = [](const char* outer, const char* kernel) {
    Workload w;
    constexpr const char* kArgs = "[[100000,64],[1000000],[1000000,64],[]]";
    constexpr const char* kTypes = R"(["float","long int","float","Scalar"])";
    for (int i = 0; i < 6; ++i) {
      w.raw(test::cpu_op(outer, w.host() - 1, 12));
      w.op("aten::_index_put_impl_", kArgs, kTypes, 400, kernel);
      w.host_pause(20);
    }
    return w;
  };
  const char* sorted = "void indexing_backward_kernel<float, 4>";
  const auto findings = added("aten::index_add_", sorted).find();
  const Finding* f = first_finding(findings, FindingKind::kSortedAdditions);
  ASSERT_NE(f, nullptr);
  EXPECT_NE(f->change_code.find("use_deterministic_algorithms"), std::string::npos);
  const auto by_index = added("aten::index_put_", sorted).find();
  const Finding* put = first_finding(by_index, FindingKind::kSortedAdditions);
  ASSERT_NE(put, nullptr);
  EXPECT_NE(put->change_code.find("index_add_"), std::string::npos);
  EXPECT_FALSE(
      finds(added("aten::index_add_", "indexFuncLargeIndex"), FindingKind::kSortedAdditions));
}

TEST(SlowPaths, PaddingBeforeConvolutions) {
  const auto padded = [](const char* op, const char* reader, const char* value = "0.") {
    Workload w;
    for (int i = 0; i < 6; ++i) {
      w.raw(test::cpu_op(
          op, w.host() - 1, 22,
          fmt::format(
              R"("Input Dims":[[16,64,256,256],[],[]],"Concrete Inputs":["","[1,1,1,1]","{}"])",
              value)));
      w.op("aten::fill_", "[[16,64,258,258],[]]", R"(["c10::BFloat16","Scalar"])", 60);
      w.op("aten::copy_", "[[16,64,256,256],[16,64,256,256]]", kTwoBf16, 90, "k", 0,
           R"("Input Strides":[[4260096,66564,258,1],[4194304,65536,256,1]])");
      w.host_pause(5);
      w.op(reader, "[[16,64,258,258],[64,64,3,3]]", kTwoBf16, 300);
    }
    return w;
  };
  const auto findings = padded("aten::constant_pad_nd", "aten::cudnn_convolution").find();
  EXPECT_NE(first_finding(findings, FindingKind::kPaddingCopies), nullptr);
  EXPECT_EQ(first_finding(findings, FindingKind::kLayoutCopies), nullptr) << "told once";
  EXPECT_FALSE(finds(padded("aten::constant_pad_nd", "aten::mm"), FindingKind::kPaddingCopies));
  EXPECT_FALSE(finds(padded("aten::constant_pad_nd", "aten::cudnn_convolution", "-1."),
                     FindingKind::kPaddingCopies))
      << "a border of another value";
  EXPECT_FALSE(
      finds(padded("aten::my_op", "aten::cudnn_convolution"), FindingKind::kPaddingCopies));
}

TEST(SlowPaths, BatchNormThatComputesStatisticsWhileServing) {
  const auto served = [](const char* training, bool backward) {
    Workload w;
    const std::string values = fmt::format(R"("Concrete Inputs":["","","","","","{}"])", training);
    for (int i = 0; i < 6; ++i) {
      w.op("aten::batch_norm", "[[64,256,56,56],[256],[256],[256],[256],[]]",
           R"(["c10::BFloat16","float","float","float","float","Scalar"])", 220, "bn", 0, values);
    }
    if (backward) w.op("aten::native_batch_norm_backward", "[[64,256,56,56]]", kTwoBf16, 10);
    return w;
  };
  EXPECT_TRUE(finds(served("True", false), FindingKind::kTrainingMode));
  EXPECT_FALSE(finds(served("False", false), FindingKind::kTrainingMode)) << "model.eval()";
  EXPECT_FALSE(finds(served("True", true), FindingKind::kTrainingMode)) << "training";
}

TEST(SlowPaths, ASequenceThatIsComputedAgainForEachToken) {
  const auto decoded = [](int grow_queries, int grow_keys) {
    Workload w;
    for (int round = 0; round < 6; ++round) {
      const int queries = 64 + round * grow_queries, keys = 64 + round * grow_keys;
      const std::string q = fmt::format("[8,16,{},64]", queries);
      const std::string k = fmt::format("[8,16,{},64]", keys);
      for (int layer = 0; layer < 2; ++layer) {
        w.op("aten::_scaled_dot_product_flash_attention", fmt::format("[{},{},{}]", q, k, k),
             R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16"])", 200, "flash_fwd_kernel");
        w.op("aten::mm", fmt::format("[[{},1024],[1024,1024]]", 8 * queries), kTwoBf16, 100);
      }
    }
    return w;
  };
  const auto findings = decoded(1, 1).find();
  const Finding* f = first_finding(findings, FindingKind::kRecompute);
  ASSERT_NE(f, nullptr);
  EXPECT_NE(f->change_code.find("use_cache"), std::string::npos);
  EXPECT_GT(f->covered.size(), 20u) << "products too";
  EXPECT_FALSE(finds(decoded(0, 1), FindingKind::kRecompute)) << "a cache grows";
  EXPECT_FALSE(finds(decoded(0, 0), FindingKind::kRecompute)) << "training";
}

TEST(SlowPaths, GradientsOfLayersAreNoLoopOverExperts) {
  const auto products = [](const char* around) {
    Workload w;
    for (int i = 0; i < 12; ++i) {
      w.raw(test::cpu_op(around, w.host() - 1, 12));
      w.op("aten::mm", fmt::format("[[{},256],[256,256]]", 16 + 8 * i), kTwoBf16, 5);
      w.host_pause(10);
    }
    return w;
  };
  EXPECT_TRUE(finds(products("aten::linear"), FindingKind::kTinyProducts));
  EXPECT_FALSE(finds(products("autograd::engine::evaluate_function: MmBackward0"),
                     FindingKind::kTinyProducts));
}

TEST(SlowPaths, LookupsInSeveralTablesAreNoChain) {
  const auto looked_up = [](const char* op) {
    Workload w;
    for (int i = 0; i < 40; ++i)
      w.op(op, "[[2048,16],[],[2048]]", R"(["float","Scalar","long int"])", 30);
    return w;
  };
  EXPECT_FALSE(finds(looked_up("aten::index_select"), FindingKind::kFusibleChain));
  EXPECT_TRUE(finds(looked_up("aten::tanh"), FindingKind::kFusibleChain));
}

}  // namespace
}  // namespace fathom
