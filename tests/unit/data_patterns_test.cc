// Patterns of data that is copied, cast or filled, each with a near twin where it must not fire.
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

Workload cast_program(bool back, bool weights, const char* between = "aten::flip") {
  Workload w;
  for (int i = 0; i < 8; ++i) {
    if (weights) {
      w.op("aten::copy_", "[[4096,4096],[4096,4096],[]]", R"(["c10::BFloat16","float","Scalar"])",
           50);
      w.op("aten::mm", "[[128,4096],[4096,4096]]", kTwoBf16, 40);
    } else {
      w.op("aten::copy_", "[[64,1024,1024],[64,1024,1024],[]]",
           R"(["float","c10::BFloat16","Scalar"])", 100);
      w.op(between, kMatrix, kTwoBf16, 200);
      w.op("aten::copy_", "[[64,1024,1024],[64,1024,1024],[]]",
           back ? R"(["c10::BFloat16","float","Scalar"])" : R"(["float","c10::BFloat16","Scalar"])",
           100);
      w.op("aten::mm", kMatrix, kTwoBf16, 200);
    }
  }
  return w;
}

TEST(Patterns, CastsThatAreUndoneOrRepeated) {
  EXPECT_TRUE(finds(cast_program(true, false), FindingKind::kCasts));
  EXPECT_FALSE(finds(cast_program(false, false), FindingKind::kCasts)) << "one way only";
  EXPECT_FALSE(finds(cast_program(true, false, "aten::mm"), FindingKind::kCasts))
      << "a product between them, which the cast is for";
  EXPECT_FALSE(finds(cast_program(true, false, "aten::linalg_inv"), FindingKind::kCasts))
      << "an op that has no kernels in BF16";
  const auto findings = cast_program(false, true).find();
  const Finding* weights = first_finding(findings, FindingKind::kCasts);
  ASSERT_NE(weights, nullptr);
  EXPECT_EQ(weights->title, "The same weights are cast again and again");
  EXPECT_NEAR(weights->saving_at_most.micros(), 8 * 50, 10) << "but for a wait for the host";
  EXPECT_NEAR(weights->saving_at_least.micros(), 0.85 * 8 * 50, 10) << "no saving is one number";
}

TEST(Patterns, KeysRepeatedForEachQueryHead) {
  const auto decode = [](const char* strides) {
    Workload w;
    for (int i = 0; i < 8; ++i) {
      w.op("aten::copy_", "[[4,8,4,2048,64],[4,8,4,2048,64],[]]",
           R"(["c10::BFloat16","c10::BFloat16","Scalar"])", 60, "k", 0,
           fmt::format(R"("Input Strides":[[4194304,524288,131072,64,1],{},[]])", strides));
      w.op("aten::_scaled_dot_product_flash_attention",
           "[[4,32,2048,64],[4,32,2048,64],[4,32,2048,64],[],[],[],[]]",
           R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar","Scalar","Scalar",""])",
           200, "flash_fwd_kernel");
    }
    return w;
  };
  const auto findings = decode("[1048576,131072,0,64,1]").find();
  const Finding* f = first_finding(findings, FindingKind::kRepeatedKeys);
  ASSERT_NE(f, nullptr);
  EXPECT_NEAR(f->saving_at_most.micros(), 8 * 60, 10) << "but for a wait for the host";
  EXPECT_FALSE(finds(decode("[4194304,64,524288,2048,1]"), FindingKind::kRepeatedKeys))
      << "a transpose of as many heads";
}

TEST(Patterns, CopiesThatOnlyChangeTheLayout) {
  const auto copies = [](int count, const char* strides) {
    Workload w;
    for (int i = 0; i < 10; ++i) {
      w.op("aten::mm", kMatrix, kTwoBf16, 200);
      if (i >= count) continue;
      w.op("aten::copy_", "[[4096,4096],[4096,4096],[]]",
           R"(["c10::BFloat16","c10::BFloat16","Scalar"])", 80, "k", 0,
           fmt::format(R"("Input Strides":[[4096,1],{},[]])", strides));
    }
    return w;
  };
  EXPECT_TRUE(finds(copies(10, "[1,4096]"), FindingKind::kLayoutCopies));
  EXPECT_FALSE(finds(copies(1, "[1,4096]"), FindingKind::kLayoutCopies)) << "one at the input";
  EXPECT_FALSE(finds(copies(10, "[4096,1]"), FindingKind::kLayoutCopies)) << "the same layout";
}

TEST(Patterns, ACacheThatGrowsByConcatenation) {
  const auto decode = [](bool grows) {
    Workload w;
    for (int i = 0; i < 12; ++i) {
      const int length = grows ? 1000 + i : 1000;
      w.op("aten::cat", fmt::format("[[[8,32,{},128],[8,32,1,128]],[]]", length),
           R"(["TensorList","Scalar"])", 60);
      w.op("aten::mm", kMatrix, kTwoBf16, 200);
    }
    return w;
  };
  const auto findings = decode(true).find();
  const Finding* f = first_finding(findings, FindingKind::kGrowingCache);
  ASSERT_NE(f, nullptr);
  EXPECT_NEAR(f->saving_at_most.micros(), 12 * 60 * 0.999, 10);
  EXPECT_FALSE(finds(decode(false), FindingKind::kGrowingCache)) << "the same sizes each time";
}

TEST(Patterns, EqualPartsAreNoCache) {
  Workload w;
  for (int i = 0; i < 12; ++i) {
    w.op("aten::cat", fmt::format("[[[8,32,{},64],[8,32,{},64]],[]]", 1000 + i, 1000 + i),
         R"(["TensorList","Scalar"])", 60);
    w.op("aten::mm", kMatrix, kTwoBf16, 200);
  }
  EXPECT_FALSE(finds(w, FindingKind::kGrowingCache));
}

TEST(Patterns, FillsThatAreOverwritten) {
  const auto fills = [](const char* dims) {
    Workload w;
    for (int i = 0; i < 8; ++i) {
      w.op("aten::zero_", "[[64,1024,1024]]", R"(["float"])", 60);
      w.op("aten::copy_", dims, R"(["float","float","Scalar"])", 130);
    }
    return w;
  };
  EXPECT_TRUE(finds(fills("[[64,1024,1024],[64,1024,1024],[]]"), FindingKind::kOverwrittenFills));
  EXPECT_FALSE(finds(fills("[[32,1024,1024],[32,1024,1024],[]]"), FindingKind::kOverwrittenFills))
      << "a part of it only";
}

std::vector<Finding> with_copies(const char* name, int64_t stream, bool overlaps) {
  std::vector<std::string> events;
  for (int i = 0; i < 8; ++i) {
    const int64_t at = 1000 * i;
    events.push_back(test::cpu_op("aten::copy_", at, 10));
    events.push_back(test::launch_call(at + 2, 4, 2 * i + 1, "1", "cudaMemcpyAsync"));
    events.push_back(
        test::event_text("gpu_memcpy", name, at + 20 + (overlaps ? 480 : 0), 400,
                         fmt::format(R"("correlation":{},"stream":{},"device":0,"bytes":4000000)",
                                     2 * i + 1, stream),
                         "0", std::to_string(stream)));
    events.push_back(test::cpu_op("aten::mm", at + 20, 10));
    events.push_back(test::launch_call(at + 22, 4, 2 * i + 2));
    events.push_back(test::kernel("gemm", at + 450, 500, 2 * i + 2));
  }
  const Trace trace = test::open_events(events);
  const Scope scope;
  const SheetInput input(trace.store, trace.tree, scope);
  const MeasuredOps ops(input, find_launchers(input));
  return find_all(Assessment(input, ops, Platforms::built_in().find("H200").value()));
}

TEST(Patterns, CopiesFromPageableMemory) {
  const auto findings = with_copies("Memcpy HtoD (Pageable -> Device)", 7, false);
  const Finding* f = first_finding(findings, FindingKind::kPageableCopies);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->saving_at_most.micros(), 8 * 400);
  EXPECT_NE(f->change_code.find("keep it on the GPU"), std::string::npos) << "the same bytes";
  for (const char* other : {"Memcpy HtoD (Pinned -> Device)", "Memcpy DtoD (Device -> Device)"}) {
    EXPECT_EQ(first_finding(with_copies(other, 7, false), FindingKind::kPageableCopies), nullptr);
  }
}

TEST(Patterns, CopiesInTurnsWithComputation) {
  const char* kPinned = "Memcpy HtoD (Pinned -> Device)";
  EXPECT_NE(first_finding(with_copies(kPinned, 9, false), FindingKind::kCopiesInTurns), nullptr);
  EXPECT_EQ(first_finding(with_copies(kPinned, 9, true), FindingKind::kCopiesInTurns), nullptr)
      << "beside the products";
  EXPECT_EQ(first_finding(with_copies(kPinned, 7, false), FindingKind::kCopiesInTurns), nullptr)
      << "on one stream";
}

// Pinned memory is no advice for copies that never see the host.
TEST(Patterns, AdviceForCopiesDependsOnTheirKind) {
  const auto advice = [](const char* name) {
    const auto findings = with_copies(name, 7, false);
    const Finding* f = first_finding(findings, FindingKind::kExposedCopies);
    return f != nullptr ? f->change_code : std::string();
  };
  EXPECT_EQ(advice("Memcpy HtoD (Pageable -> Device)"), "") << "told by its cause";
  EXPECT_NE(advice("Memcpy HtoD (Pinned -> Device)").find("pinned already"), std::string::npos);
  const std::string inside = advice("Memcpy DtoD (Device -> Device)");
  EXPECT_FALSE(inside.empty());
  EXPECT_EQ(inside.find("inned"), std::string::npos) << inside;
}

// A transposing kernel has the layout in its name, and shows the opposite of it.
TEST(Patterns, ATransposingKernelIsNoChannelsLast) {
  Workload w;
  for (int i = 0; i < 10; ++i) {
    w.op(
        "aten::cudnn_convolution", "[[32,64,56,56],[64,64,3,3],[],[],[],[],[],[],[]]",
        R"(["c10::Half","c10::Half","ScalarList","ScalarList","ScalarList","Scalar","Scalar","Scalar","Scalar"])",
        300, "void cudnn::ops::nchwToNhwcKernel<__half>");
  }
  const auto findings = w.find();
  const Finding* f = first_finding(findings, FindingKind::kImageLayout);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->change_code.find("already uses channels_last"), std::string::npos) << f->change_code;
}

}  // namespace
}  // namespace fathom
