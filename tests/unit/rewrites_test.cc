// The same result by less work, and near-twins.
#include <fmt/format.h>

#include "checks.h"
#include "unit/workload.h"

namespace fathom {
namespace {

using test::finds;
using test::first_finding;
using test::kTwoBf16;
using test::Workload;

constexpr const char* kGemm = "nvjet_hsh_256x128";

// Rounds of two products, with ops between them.
Workload products(const char* first, const char* second, const char* between = "",
                  const char* name = "aten::bmm") {
  Workload w;
  for (int i = 0; i < 4; ++i) {
    w.op(name, first, kTwoBf16, 400, kGemm);
    if (*between != '\0')
      w.op(between, "[[32,4096,4096],[]]", R"(["c10::BFloat16","Scalar"])", 300);
    w.op(name, second, kTwoBf16, 400, kGemm);
    w.op("aten::gelu", "[[8,1024]]", R"(["c10::BFloat16"])", 5);
  }
  return w;
}

TEST(Rewrites, ProductsInTheLongerOrder) {
  const auto findings =
      products("[[32,4096,64],[32,64,4096]]", "[[32,4096,4096],[32,4096,64]]").find();
  const Finding* f = first_finding(findings, FindingKind::kProductOrder);
  ASSERT_NE(f, nullptr);
  EXPECT_NE(f->change_code.find("parentheses"), std::string::npos);
  EXPECT_EQ(f->covered.size(), 8u);
  const auto order = FindingKind::kProductOrder;
  const char *scores = "[[32,4096,64],[32,64,4096]]", *values = "[[32,4096,4096],[32,4096,64]]";
  EXPECT_TRUE(finds(products(scores, values, "aten::div"), order)) << "a number leaves it free";
  EXPECT_FALSE(finds(products(scores, values, "aten::_softmax"), order)) << "attention";
  EXPECT_FALSE(finds(products("[[32,64,4096],[32,4096,64]]", "[[32,4096,64],[32,64,64]]"), order))
      << "the shorter order";
  // Queries and keys of one input: the second does not read the first one's result.
  EXPECT_FALSE(finds(
      products("[[16384,2048],[2048,2048]]", "[[16384,2048],[2048,256]]", "", "aten::mm"), order));
  // A low rank: the order is the short one.
  EXPECT_FALSE(
      finds(products("[[16384,2048],[2048,16]]", "[[16384,16],[16,2048]]", "", "aten::mm"), order));
}

TEST(Rewrites, ALinearLayerOnGatheredRows) {
  const auto edges = [](const char* between, const char* source) {
    Workload w;
    for (int i = 0; i < 4; ++i) {
      w.op("aten::index", fmt::format("[{},[]]", source), R"(["c10::BFloat16","TensorList"])", 200);
      w.op(between, "[[65536,20,128],[65536,20,128]]", kTwoBf16, 250);
      w.op("aten::mm", "[[1310720,128],[128,128]]", kTwoBf16, 400, kGemm);
      w.op("aten::relu", "[[1310720,128]]", R"(["c10::BFloat16"])", 200);
    }
    return w;
  };
  const auto findings = edges("aten::sub", "[65536,128]").find();
  const Finding* f = first_finding(findings, FindingKind::kProductOrder);
  ASSERT_NE(f, nullptr);
  EXPECT_NE(f->change_code.find("gather"), std::string::npos);
  EXPECT_FALSE(finds(edges("aten::relu", "[65536,128]"), FindingKind::kProductOrder))
      << "it does not commute";
  EXPECT_FALSE(finds(edges("aten::sub", "[1000000,128]"), FindingKind::kProductOrder))
      << "as many rows as before";
}

TEST(Rewrites, TensorsThatAreRepeatedInMemory) {
  const auto repeated = [](const char* strides, const char* reader) {
    Workload w;
    const std::string recorded = fmt::format(R"("Input Strides":[[4194304,4096,1],{}])", strides);
    for (int i = 0; i < 4; ++i) {
      w.op("aten::copy_", "[[16,1024,4096],[16,1024,4096]]", kTwoBf16, 90, "k", 0, recorded);
      w.op(reader, "[[16,1024,4096],[16,1024,4096]]", kTwoBf16, 120);
      w.op("aten::mm", "[[16384,4096],[4096,4096]]", kTwoBf16, 900, kGemm);
    }
    return w;
  };
  const auto findings = repeated("[0,4096,1]", "aten::add").find();
  const Finding* f = first_finding(findings, FindingKind::kLayoutCopies);
  ASSERT_NE(f, nullptr);
  EXPECT_NE(f->title.find("broadcast"), std::string::npos);
  EXPECT_NE(f->change_code.find("expand"), std::string::npos);
  const auto copies = FindingKind::kLayoutCopies;
  EXPECT_FALSE(finds(repeated("[4194304,4096,1]", "aten::add"), copies)) << "each element once";
  EXPECT_FALSE(finds(repeated("[0,4096,1]", "aten::add_"), copies)) << "it is written to";
}

TEST(Rewrites, MessagesOfEdges) {
  const auto layers = [](const char* between) {
    Workload w;
    for (int i = 0; i < 4; ++i) {
      w.op("aten::index_select", "[[100000,256],[],[2000000]]", R"(["float","Scalar","long int"])",
           800);
      if (*between != '\0')
        w.op(between, "[[2000000,256],[256,256]]", R"(["float","float"])", 700, kGemm);
      w.op("aten::index_add_", "[[100000,256],[],[2000000],[2000000,256],[]]",
           R"(["float","Scalar","long int","float","Scalar"])", 1500);
    }
    return w;
  };
  const auto findings = layers("").find();
  const Finding* f = first_finding(findings, FindingKind::kFusibleChain);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->subject, "index_select → index_add_");
  EXPECT_NE(f->change_code.find("sparse"), std::string::npos);
  EXPECT_EQ(first_finding(layers("aten::mm").find(), FindingKind::kFusibleChain), nullptr)
      << "experts compute between";
}

TEST(Rewrites, GradientsThatAreZeroed) {
  const auto trained = [](const char* range, bool adds) {
    Workload w;
    const std::string weight = "[[8192,8192]]", half = R"(["c10::BFloat16"])";
    for (int i = 0; i < 4; ++i) {
      w.raw(test::annotation(range, w.host() - 1, 12));
      w.op("aten::zero_", weight, half, 30);
      w.host_pause(5);
      w.op("aten::mm", "[[128,8192],[8192,8192]]", kTwoBf16, 200, kGemm);
      if (adds) {
        w.raw(test::cpu_op("torch::autograd::AccumulateGrad", w.host() - 1, 12));
        w.op("aten::add_", "[[8192,8192],[8192,8192],[]]",
             R"(["c10::BFloat16","c10::BFloat16","Scalar"])", 90);
        w.host_pause(5);
      }
      w.op("MmBackward0", "[[128,8192],[8192,8192]]", kTwoBf16, 200, kGemm);
    }
    return w;
  };
  const char* zero = "Optimizer.zero_grad#SGD.zero_grad";
  const auto findings = trained(zero, true).find();
  const Finding* f = first_finding(findings, FindingKind::kOverwrittenFills);
  ASSERT_NE(f, nullptr);
  EXPECT_NE(f->change_code.find("set_to_none"), std::string::npos);
  EXPECT_FALSE(finds(trained("clear_metrics", true), FindingKind::kOverwrittenFills))
      << "other zeros";
  EXPECT_FALSE(finds(trained(zero, false), FindingKind::kOverwrittenFills)) << "nothing is added";
}

}  // namespace
}  // namespace fathom
