// Each pattern on a trace where it fires, and on a near twin where it must not.
#include <fmt/format.h>

#include "analyze/patterns/pattern_input.h"
#include "checks.h"
#include "unit/workload.h"

namespace fathom {
namespace {

using test::finds;
using test::first_finding;
using test::kMatrix;
using test::kTwoBf16;
using test::Workload;

constexpr const char* kTwoFloats = R"(["float","float"])";
constexpr const char* kBatchedBf16 = "[[64,2048,64],[64,64,2048]]";

TEST(Patterns, RolesAreByName) {
  EXPECT_TRUE(patterns::has_role(patterns::roles_of("aten::_softmax"), patterns::Role::kSoftmax));
  EXPECT_FALSE(
      patterns::has_role(patterns::roles_of("aten::_log_softmax"), patterns::Role::kSoftmax));
}

TEST(Patterns, Fp32ProductsOffTheMatrixUnits) {
  const auto products = [](const char* kernel, const char* types) {
    Workload w;
    for (int i = 0; i < 10; ++i) w.op("aten::mm", kMatrix, types, 3000, kernel);
    return w;
  };
  const auto findings = products("ampere_sgemm_128x64_nn", kTwoFloats).find();
  const Finding* f = first_finding(findings, FindingKind::kWideProducts);
  ASSERT_NE(f, nullptr);
  EXPECT_NE(f->change_code.find("set_float32_matmul_precision"), std::string::npos);
  // 2·4096³ at 409 TFLOP/s of TF32 take 336 µs, 560 at 60 %; at 798 of BF16 172 µs.
  EXPECT_NEAR(f->saving_at_least.micros(), 10 * (3000 - 560), 300) << "saving_range.cc";
  EXPECT_GE(f->saving_at_most.micros(), 10 * (3000 - 174)) << "and what goes with it";
  EXPECT_EQ(f->covered.size(), 10u);
  EXPECT_FALSE(finds(products("sm80_xmma_gemm_f32f32_tf32f32_f32_nn", kTwoFloats),
                     FindingKind::kWideProducts));
  EXPECT_FALSE(finds(products("ampere_sgemm_128x64_nn", kTwoBf16), FindingKind::kWideProducts));
}

TEST(Patterns, DoubleInANarrowerProgram) {
  const auto program = [](int products) {
    Workload w;
    for (int i = 0; i < products; ++i) w.op("aten::mm", kMatrix, kTwoFloats, 2000, "tf32");
    for (int i = 0; i < 4; ++i) {
      w.op("aten::mul", "[[4096,4096],[4096,4096]]", R"(["double","double"])", 200);
    }
    return w;
  };
  EXPECT_TRUE(finds(program(4), FindingKind::kDoublePrecision));
  EXPECT_FALSE(finds(program(0), FindingKind::kDoublePrecision)) << "a scientific program";
}

// A complex factor of double precision makes all results after it double.
TEST(Patterns, ComplexDoubleByPromotion) {
  const auto waves = [](const char* first) {
    Workload w;
    for (int i = 0; i < 4; ++i) {
      w.op("aten::mul", "[[8,1024,1024],[1024,1024]]", first, 60);
      w.op("aten::_fft_c2c", "[[8,1024,1024],[],[],[]]",
           R"(["c10::complex<double>","ScalarList","Scalar","Scalar"])", 400);
    }
    return w;
  };
  EXPECT_TRUE(finds(waves(R"(["c10::complex<float>","c10::complex<double>"])"),
                    FindingKind::kDoublePrecision));
  EXPECT_FALSE(finds(waves(R"(["c10::complex<double>","c10::complex<double>"])"),
                     FindingKind::kDoublePrecision))
      << "all is double: meant to be";
}

TEST(Patterns, AttentionsMathPath) {
  const auto attention = [](const char* path, const char* kernel) {
    Workload w;
    for (int i = 0; i < 6; ++i) {
      const int64_t at = w.host();
      constexpr const char* kHeads =
          R"("Input Dims":[[4,16,2048,64],[4,16,2048,64],[4,16,2048,64],[],[],[],[],[]],)"
          R"("Input type":["c10::BFloat16","c10::BFloat16","c10::BFloat16","","Scalar","Scalar","",""])";
      w.raw(test::cpu_op("aten::scaled_dot_product_attention", at - 2, 60, kHeads));
      w.raw(test::cpu_op(path, at - 1, 55, kHeads));
      for (int k = 0; k < 3; ++k) {
        w.op(k == 1 ? "aten::_softmax" : "aten::bmm",
             k == 1 ? "[[64,2048,2048],[],[]]" : kBatchedBf16,
             k == 1 ? R"(["c10::BFloat16","Scalar","Scalar"])" : kTwoBf16, 300, kernel);
      }
      w.host_pause(50);
    }
    return w;
  };
  EXPECT_TRUE(finds(attention("aten::_scaled_dot_product_attention_math", "gemm"),
                    FindingKind::kAttentionMath));
  EXPECT_FALSE(finds(attention("aten::_scaled_dot_product_flash_attention", "flash_fwd_kernel"),
                     FindingKind::kAttentionMath));
}

TEST(Patterns, AnOptimizerWrittenByHand) {
  const auto step = [](const char* second) {
    Workload w;
    for (int i = 0; i < 30; ++i) {
      w.op("aten::mul_", "[[4096],[]]", R"(["float","Scalar"])", 4);
      w.op(second, "[[4096],[4096],[4096],[]]", R"(["float","float","float","Scalar"])", 4);
    }
    return w;
  };
  EXPECT_TRUE(finds(step("aten::addcdiv_"), FindingKind::kLoopedOptimizer));
  EXPECT_FALSE(finds(step("aten::where"), FindingKind::kLoopedOptimizer));
}

TEST(Patterns, ALookupByAProduct) {
  const auto lookup = [](int classes, int written) {
    Workload w;
    for (int i = 0; i < 6; ++i) {
      w.op("aten::scatter_", fmt::format("[[4096,{}],[],[4096,1],[]]", written),
           R"(["c10::BFloat16","Scalar","long int","Scalar"])", 150);
      w.op("aten::mm", fmt::format("[[4096,{0}],[{0},1024]]", classes), kTwoBf16, 600);
    }
    return w;
  };
  EXPECT_TRUE(finds(lookup(32000, 32000), FindingKind::kOneHotProduct));
  EXPECT_FALSE(finds(lookup(8, 8), FindingKind::kOneHotProduct)) << "a router over 8 experts";
  EXPECT_FALSE(finds(lookup(32000, 4000), FindingKind::kOneHotProduct)) << "another matrix";
}

TEST(Patterns, AFullSortForAFew) {
  const auto sample = [](const char* next, int row) {
    Workload w;
    for (int i = 0; i < 8; ++i) {
      w.op("aten::sort", fmt::format("[[64,{}],[],[]]", row), R"(["float","Scalar","Scalar"])",
           900);
      w.raw(test::cpu_op(next, w.host(), 3));
      w.host_pause(5);
    }
    return w;
  };
  EXPECT_TRUE(finds(sample("aten::slice", 128256), FindingKind::kFullSort));
  EXPECT_FALSE(finds(sample("aten::add", 128256), FindingKind::kFullSort)) << "all of it is used";
  EXPECT_FALSE(finds(sample("aten::slice", 64), FindingKind::kFullSort)) << "few anyway";
}

// aten::quantile sorts all values and looks a few up.
TEST(Patterns, AnOpThatSortsToPickAFew) {
  const auto quantile = [](const char* index) {
    Workload w;
    for (int i = 0; i < 8; ++i) {
      w.raw(test::cpu_op("aten::quantile", w.host(), 40));
      w.host_pause(2);
      w.op("aten::sort", "[[8388608],[],[]]", R"(["float","Scalar","Scalar"])", 900);
      w.op("aten::gather", fmt::format("[[8388608],[],{},[]]", index),
           R"(["float","Scalar","long int","Scalar"])", 3);
      w.host_pause(30);
    }
    return w;
  };
  EXPECT_TRUE(finds(quantile("[1]"), FindingKind::kFullSort));
  EXPECT_FALSE(finds(quantile("[8388608]"), FindingKind::kFullSort)) << "all values are read";
}

TEST(Patterns, TablesMadeAgain) {
  const auto layers = [](bool same) {
    Workload w;
    for (int i = 0; i < 12; ++i) {
      w.op("aten::arange", "[[],[],[],[],[]]", R"(["Scalar","Scalar","","",""])", 5, "k", 0,
           fmt::format(R"("Concrete Inputs":["{}","6","","",""])", same ? 4096 : 4096 + i));
      w.op("aten::triu", same ? "[[4096,4096],[]]" : fmt::format("[[{0},{0}],[]]", 4096 + i),
           R"(["c10::BFloat16","Scalar"])", 30);
      w.op("aten::mm", kMatrix, kTwoBf16, 200);
    }
    return w;
  };
  EXPECT_TRUE(finds(layers(true), FindingKind::kRepeatedTables));
  EXPECT_FALSE(finds(layers(false), FindingKind::kRepeatedTables)) << "other arguments each time";
}

TEST(Patterns, DropoutWithoutGradients) {
  const auto run = [](bool trains) {
    Workload w;
    for (int i = 0; i < 8; ++i) {
      w.op("aten::mm", kMatrix, kTwoBf16, 200);
      w.op("aten::native_dropout", "[[4096,4096],[],[]]", R"(["c10::BFloat16","Scalar","Scalar"])",
           30);
    }
    if (trains) w.op("MmBackward0", kMatrix, kTwoBf16, 200);
    return w;
  };
  EXPECT_TRUE(finds(run(false), FindingKind::kTrainingMode));
  EXPECT_FALSE(finds(run(true), FindingKind::kTrainingMode));
}

TEST(Patterns, AnOptimizerInALoop) {
  const auto step = [](const char* range, const char* op) {
    Workload w;
    w.annotate(range, 3000);
    for (int i = 0; i < 40; ++i) {
      w.op("aten::addcmul_", "[[4096],[4096],[4096],[]]", R"(["float","float","float","Scalar"])",
           4);
      w.op(op, "[[4096],[4096],[4096],[]]", R"(["float","float","float","Scalar"])", 4);
    }
    return w;
  };
  EXPECT_TRUE(
      finds(step("Optimizer.step#Adam.step", "aten::addcdiv_"), FindingKind::kLoopedOptimizer));
  EXPECT_FALSE(finds(step("Optimizer.step#Adam.step", "aten::_foreach_addcdiv_"),
                     FindingKind::kLoopedOptimizer));
  EXPECT_FALSE(finds(step("forward", "aten::where"), FindingKind::kLoopedOptimizer));
}

TEST(Patterns, AFusedOptimizerWithAGroupForEachParameter) {
  const auto step = [](int updates, const char* lists) {
    Workload w;
    w.annotate("Optimizer.step#AdamW.step", 3000);
    for (int i = 0; i < updates; ++i)
      w.op("aten::_fused_adamw_", lists, R"(["TensorList","TensorList"])", 6);
    for (int i = 0; i < 4; ++i) w.op("aten::mm", kMatrix, kTwoBf16, 200);
    return finds(w, FindingKind::kLoopedOptimizer);
  };
  EXPECT_TRUE(step(40, "[[[512]],[[512]]]"));
  EXPECT_FALSE(step(4, "[[[512]],[[512]]]")) << "a few groups";
  EXPECT_FALSE(step(40, "[[[512],[512],[512],[512]],[[512],[512],[512],[512]]]")) << "large groups";
}

TEST(Patterns, ProductsOfOneShapeInALoop) {
  const auto loop = [](const char* dims, bool norm) {
    Workload w;
    for (int i = 0; i < 64; ++i) {
      w.op("aten::mm", dims, kTwoBf16, 8);
      if (norm) {
        w.op("aten::native_layer_norm", "[[16,1024],[],[1024],[1024],[]]",
             R"(["c10::BFloat16","","c10::BFloat16","c10::BFloat16","Scalar"])", 5);
      }
    }
    return w;
  };
  EXPECT_TRUE(finds(loop("[[16,1024],[1024,256]]", false), FindingKind::kLoopedProducts));
  EXPECT_FALSE(finds(loop("[[16,1024],[1024,1024]]", false), FindingKind::kLoopedProducts))
      << "each may read the one before";
  EXPECT_FALSE(finds(loop("[[16,1024],[1024,256]]", true), FindingKind::kLoopedProducts))
      << "layers";
}

// Two products a round, up and down: a stack of layers, unless each reads one of many matrices.
TEST(Patterns, ProductsOfSlicesInALoop) {
  const auto rounds = [](const char* before) {
    Workload w;
    for (int i = 0; i < 40; ++i) {
      for (const char* dims : {"[[32,1024],[1024,16]]", "[[32,16],[16,1024]]"}) {
        w.raw(test::cpu_op(before, w.host(), 2,
                           R"("Input Dims":[[20,1024,16],[],[]],"Input type":["float","",""])"));
        w.host_pause(4).op("aten::mm", dims, kTwoBf16, 8);
      }
    }
    return w.find();
  };
  const auto slices = rounds("aten::select");
  const Finding* f = first_finding(slices, FindingKind::kLoopedProducts);
  ASSERT_NE(f, nullptr);
  EXPECT_GE(f->priority, Priority::kMedium) << "layers in one tensor look the same";
  EXPECT_EQ(first_finding(rounds("aten::view"), FindingKind::kLoopedProducts), nullptr);
}

TEST(Patterns, SizesThatDoNotAlign) {
  const auto products = [](int columns, int time, const char* kernel = "k") {
    Workload w;
    for (int i = 0; i < 8; ++i) {
      w.op("aten::mm", kMatrix, kTwoBf16, 220);
      w.op("aten::mm", fmt::format("[[4096,4096],[4096,{}]]", columns), kTwoBf16, time, kernel);
    }
    return w;
  };
  EXPECT_TRUE(finds(products(4095, 700), FindingKind::kOddSizes));
  EXPECT_FALSE(finds(products(4096, 700), FindingKind::kOddSizes)) << "slow for another reason";
  EXPECT_TRUE(finds(products(4104, 700, "cutlass_gemm_tn_align1"), FindingKind::kOddSizes));
  EXPECT_FALSE(finds(products(4104, 700, "cutlass_gemm_tn_align16"), FindingKind::kOddSizes));
  EXPECT_FALSE(finds(products(4095, 230), FindingKind::kOddSizes)) << "as fast as the others";
  EXPECT_FALSE(finds(products(7, 60), FindingKind::kOddSizes)) << "skinny";
}

std::string kernel_with_grid(int64_t start, int64_t duration, int64_t correlation, int blocks) {
  return test::event_text("kernel", "k", start, duration,
                          fmt::format(R"("correlation":{},"stream":7,"device":0,"grid":[{},1,1],)"
                                      R"("block":[256,1,1])",
                                      correlation, blocks),
                          "0", "7");
}

std::vector<Finding> with_grids(const char* op, const char* args, int blocks, int duration) {
  std::vector<std::string> events;
  for (int i = 0; i < 10; ++i) {
    const int64_t at = 20 * i;
    events.push_back(test::cpu_op(op, at, 10, args));
    events.push_back(test::launch_call(at + 2, 4, i + 1));
    events.push_back(kernel_with_grid(300 + i * duration, duration, i + 1, blocks));
  }
  const Trace trace = test::open_events(events);
  const Scope scope;
  const SheetInput input(trace.store, trace.tree, scope);
  const MeasuredOps ops(input, find_launchers(input));
  return find_all(Assessment(input, ops, Platforms::built_in().find("H200").value()));
}

TEST(Patterns, LongKernelsWithFewBlocks) {
  constexpr const char* kRows = R"("Input Dims":[[4,1000000]],"Input type":["float"])";
  EXPECT_NE(first_finding(with_grids("aten::cumsum", kRows, 4, 400), FindingKind::kFewBlocks),
            nullptr);
  EXPECT_EQ(first_finding(with_grids("aten::cumsum", kRows, 528, 400), FindingKind::kFewBlocks),
            nullptr);
  EXPECT_EQ(first_finding(with_grids("aten::cumsum", kRows, 4, 6), FindingKind::kFewBlocks),
            nullptr)
      << "tiny kernels";
}

TEST(Patterns, AdditionsToTheSameRows) {
  constexpr const char* kScatter = R"("Input Dims":[[1024,1024],[],[65536],[65536,1024],[]],)"
                                   R"("Input type":["float","Scalar","long int","float","Scalar"])";
  EXPECT_NE(first_finding(with_grids("aten::index_add_", kScatter, 4096, 5000),
                          FindingKind::kContendedAtomics),
            nullptr);
  EXPECT_EQ(first_finding(with_grids("aten::index_add_", kScatter, 4096, 150),
                          FindingKind::kContendedAtomics),
            nullptr)
      << "near the bandwidth";
  EXPECT_EQ(first_finding(with_grids("aten::index_add_", kScatter, 4, 5000),
                          FindingKind::kContendedAtomics),
            nullptr)
      << "few blocks";
}

TEST(Patterns, OpsSideBySideAreNotUrgent) {
  const auto run = [](const char* second, const char* types) {
    Workload w;
    for (int i = 0; i < 10; ++i) {
      w.op("aten::sin", test::kImage, test::kOneBf16, 100);
      w.op("aten::cos", test::kImage, test::kOneBf16, 100);
      w.op("aten::mul", second, types, 100);
      w.op("aten::mm", kMatrix, kTwoBf16, 100);
    }
    return w.find();
  };
  const auto apart = run(test::kImage, test::kOneBf16);
  const Finding* f = first_finding(apart, FindingKind::kFusibleChain);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->confidence, Confidence::kLow);
  EXPECT_GE(f->priority, Priority::kMedium);
  const auto formula = run("[[64,1024,1024],[64,1024,1024]]", kTwoBf16);
  f = first_finding(formula, FindingKind::kFusibleChain);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->confidence, Confidence::kMedium);
}

// Below a gradient's node only a forward pass that runs again records the graph.
TEST(Patterns, ForwardWorkInsideOfGradients) {
  const auto train = [](const char* args) {
    std::vector<std::string> events;
    for (int i = 0; i < 10; ++i) {
      const int64_t at = 1000 * i;
      events.push_back(test::cpu_op("autograd::engine::evaluate_function: MmBackward0", at, 500,
                                    R"("Sequence number":7,"Fwd thread id":1)"));
      events.push_back(test::cpu_op("aten::linear", at + 10, 50, args));
      events.push_back(test::launch_call(at + 20, 5, i + 1));
      events.push_back(test::kernel("gemm", at + 30, 300, i + 1));
    }
    const Trace trace = test::open_events(events);
    const Scope scope;
    const SheetInput input(trace.store, trace.tree, scope);
    const MeasuredOps ops(input, find_launchers(input));
    return find_all(Assessment(input, ops, nullptr));
  };
  const auto again = train(R"("Sequence number":9,"Fwd thread id":0)");
  const Finding* f = first_finding(again, FindingKind::kRecompute);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->time.micros(), 3000);
  EXPECT_EQ(first_finding(train(""), FindingKind::kRecompute), nullptr) << "the gradient itself";
}

}  // namespace
}  // namespace fathom
